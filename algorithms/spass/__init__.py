"""SPASS: shared construction of event sequences, then aggregation."""

from algorithms.spass.algorithm import Spass

__all__ = ["Spass"]
