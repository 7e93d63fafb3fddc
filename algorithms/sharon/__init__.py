"""Sharon: shared online event sequence aggregation (dissertation Part III)."""
