"""Apache Flink CEP as a two-step baseline: Flink constructs every match, and a second operator aggregates them."""
