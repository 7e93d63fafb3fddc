"""The contract of an algorithm, for the tests of a plug-in: see `yield_checks`."""

from cepbench.verification.checks import Check, yield_checks

__all__ = ["Check", "yield_checks"]
