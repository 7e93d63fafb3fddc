"""SPASS: shared construction of event sequences, then aggregation."""
