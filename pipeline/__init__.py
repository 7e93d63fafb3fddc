"""Streams on Spark: making, storing and splitting them, and runs of algorithms on them."""
