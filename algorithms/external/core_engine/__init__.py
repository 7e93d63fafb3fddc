"""The engine of CORE's authors, in a separate process (docs/algorithms/core.md, The engine of CORE)."""
