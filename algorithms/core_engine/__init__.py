"""The engine of CORE's authors, in a separate process (docs/algorithms.md, The engine of CORE)."""
