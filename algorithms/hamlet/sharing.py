"""How it is decided which bursts are shared, by a mode and its costs or from outside; and the trace of decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.hamlet.kernels.benefit import BenefitCosts, ClassRecord
from cepbench.algorithms.hamlet.kernels.bursts import MOST
from cepbench.algorithms.hamlet.kernels.program import Groups
from cepbench.algorithms.hamlet.kernels.stream import COLUMNS, CREATED, EVENTS, NON_SHARED, QUERIES, SHARED, Decisions
from cepbench.algorithms.kernels.arrays import Flags
from cepbench.queries.records import Records, records_of

COSTS = BenefitCosts(
    read=0.07, event=0.75, shared_event=1.25, graphlet=11.0, alone=1.0, snapshot=9.0, product=0.2
)  # fmt: skip
"""Fitted by `benchmarks/hamlet.py costs` to the times of sharing everything and nothing."""

NUMBERS = ("traced_bursts", "traced_shared", "traced_snapshots", "predicted_shared", "predicted_alone")
"""Numbers by size: bursts, those that some queries shared, snapshots at event level, and both predicted costs."""
_SIZES = MOST.bit_length()

Decide = Callable[[int], Sequence[bool]]
"""Returns for each of so many units of a burst's group, in order, whether it shares the burst."""


@dataclass(frozen=True)
class Sharing:
    """How bursts are decided: a mode, the costs of a benefit, or decisions from outside.

    `traced` is the number of decisions that each sharable set keeps, the newest; with 0 none is traced.
    """

    mode: str = "dynamic"
    paper: bool = False
    costs: BenefitCosts = COSTS
    decide: Decide | None = None
    traced: int = 0

    def decisions(self, bursts: Records, scans: Records, matches: Flags, groups: Groups) -> Decisions:
        """What kernels read to decide these bursts, and where they write the trace."""
        given = np.zeros((0 if self.decide is None else len(bursts), len(groups.unit)), np.bool_)
        if self.decide is not None:
            for n in np.flatnonzero(bursts["group"] >= 0):
                group = groups.group[bursts["group"][n]]
                own = slice(int(group["unit"]), int(group["unit_end"]))
                given[n, own] = self.decide(own.stop - own.start)
        dynamic = self.mode == "dynamic" and self.decide is None
        classes = np.zeros(len(groups.alike), records_of(ClassRecord))
        trace = np.zeros((len(bursts) if self.traced else 0, COLUMNS), np.float64)
        return Decisions(bursts, scans, matches, dynamic, self.paper, self.costs, given, classes, trace)


class DecisionTrace:
    """Keeps the newest `most` decisions, and a sum for each power of two: space does not grow with the stream."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.newest = np.zeros((0, COLUMNS), np.float64)
        self.sums = np.zeros((_SIZES, len(NUMBERS)), np.float64)

    def add(self, decisions: NDArray[np.float64]) -> None:
        """Adds `decisions[n, COLUMNS]`, as `kernels.stream` names their columns."""
        self.newest = np.concatenate([self.newest, decisions[-self.most :]])[-self.most :].copy()
        size = np.frexp(decisions[:, EVENTS])[1] - 1
        numbers = np.ones((len(decisions), len(NUMBERS)))
        numbers[:, 1] = decisions[:, QUERIES] > 0
        numbers[:, 2:] = decisions[:, [CREATED, SHARED, NON_SHARED]]
        np.add.at(self.sums, size, numbers)

    def details(self) -> Mapping[str, float]:
        """`traced_bursts_64` and so on: sums over bursts of 64 to 127 events; none for sizes that did not occur."""
        return {
            f"{name}_{2**size}": float(self.sums[size, n])
            for size in np.flatnonzero(self.sums[:, 0]).tolist()
            for n, name in enumerate(NUMBERS)
        }
