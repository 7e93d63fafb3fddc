"""Apache Flink CEP as a two-step baseline: Flink constructs every match, and a second operator aggregates them."""

from cepbench.algorithms.external.flink.algorithm import Flink

__all__ = ["Flink"]
