"""Queries on streams that do not end: Spark's Structured Streaming numbers the batches, files hold the state."""
