"""SPASS: shared construction of event sequences, then aggregation."""

from cepbench.algorithms.sequences.spass.algorithm import Spass

__all__ = ["Spass"]
