"""COGRA: coarse-grained event trend aggregation (dissertation Chapters 14-18)."""

from cepbench.algorithms.trends.cogra.algorithm import Cogra

__all__ = ["Cogra"]
