"""How it is decided which bursts are shared: by a mode and its costs, or from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.hamlet.kernels.benefit import BenefitCosts, ClassRecord
from cepbench.algorithms.hamlet.kernels.stream import COLUMNS, DYNAMIC, GIVEN, STATIC, Decisions
from cepbench.algorithms.kernels.arrays import Flags
from cepbench.queries.records import Records, records_of

MODES = {"dynamic": DYNAMIC, "static": STATIC}
COSTS = BenefitCosts(
    read=0.07, event=0.75, shared_event=1.25, graphlet=11.0, alone=1.0, snapshot=9.0, product=0.2
)  # fmt: skip
"""Fitted by `benchmarks/hamlet.py costs` to the times of sharing everything and nothing."""

Decide = Callable[[int], Sequence[bool]]
"""Returns for each of so many units of a burst's group, in order, whether it shares the burst."""


@dataclass(frozen=True)
class Sharing:
    """How bursts are decided: a mode, the costs of a benefit, or decisions from outside.

    `traced` is the number of decisions that each sharable set keeps, the newest; with 0 none is traced.
    """

    mode: str = "dynamic"
    paper: bool = False
    decide: Decide | None = None
    traced: int = 0

    def decisions(self, units: int, classes: int) -> Decisions:
        """What kernels read, before the first batch."""
        return Decisions(
            mode=MODES[self.mode] if self.decide is None else GIVEN,
            paper=self.paper,
            costs=COSTS,
            given=np.zeros((0, units), np.bool_),
            classes=np.zeros(classes, records_of(ClassRecord)),
            matches=np.zeros((0, classes), np.bool_),
            trace=np.zeros((0, COLUMNS), np.float64),
        )


def decided(decide: Decide, bursts: Records, units: Sequence[slice]) -> Flags:
    """The decisions of a function about some bursts, as `Decisions.given`; each group has a slice of the units."""
    given = np.zeros((len(bursts), max((u.stop for u in units), default=0)), np.bool_)
    for n, burst in enumerate(bursts):
        if burst["group"] >= 0:
            own = units[int(burst["group"])]
            given[n, own] = decide(own.stop - own.start)
    return given
