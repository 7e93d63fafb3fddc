"""Queries on live streams, on Spark's Structured Streaming."""
