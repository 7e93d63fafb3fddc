"""The Gloria optimizer (Sections 4-6)."""
