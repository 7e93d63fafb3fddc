"""DuckDB: a query as one SQL statement (docs/algorithms/duckdb.md)."""
