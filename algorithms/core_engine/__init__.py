"""The engine of CORE's authors, as a process of its own (docs/algorithms/core.md, The engine of CORE)."""
