"""Partitioning of CET graphs (dissertation Chapters 6 and 7)."""

from cepbench.algorithms.construction.cet.partitioning.partition import (
    METHODS,
    by_time,
    load,
    one_graphlet,
    one_per_atom,
    partition,
    prescribed,
)
from cepbench.algorithms.construction.cet.partitioning.plan import PartitionPlan

__all__ = ["METHODS", "PartitionPlan", "by_time", "load", "one_graphlet", "one_per_atom", "partition", "prescribed"]
