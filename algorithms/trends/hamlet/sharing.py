"""The decisions which bursts are shared: by a mode and its costs, or from outside; and their trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags
from cepbench.algorithms.trends.hamlet.kernels.benefit import BenefitCosts
from cepbench.algorithms.trends.hamlet.kernels.bursts import MOST_EVENTS, BurstRecord
from cepbench.algorithms.trends.hamlet.kernels.program import TemplateTables
from cepbench.algorithms.trends.hamlet.kernels.stream import Decisions
from cepbench.queries.records import Records, records_of

COSTS = (
    BenefitCosts(read=0.09, event=0.7, shared_event=0.7, graphlet=10.0, alone=1.2, snapshot=5.2, product=0.2),
    BenefitCosts(
        read=0.7, event=24.0, shared_event=28.0, graphlet=164.0, alone=23.0, snapshot=80.0, product=0.4,
        select=0.07, test=1.15, coefficient=0.03, run=0.009, split=4.0,
    ),
)  # fmt: skip
"""For events that extend sums, and for events that are visited. Fitted by `benchmarks/hamlet.py costs event_costs` and
`predicate_costs` to the times of sharing everything and nothing; `split` is measured by `split_cost`.
"""

NUMBERS = ("traced_bursts", "traced_shared", "traced_snapshots", "predicted_shared", "predicted_alone")
"""Numbers by size: bursts, those that some queries shared, snapshots at event level, and both predicted costs."""
_SIZES = MOST_EVENTS.bit_length()

Decide = Callable[[int], Sequence[bool]]
"""Returns for each of so many units of a burst's group, in order, whether it shares the burst."""


@dataclass(frozen=True)
class Sharing:
    """The way in which bursts are decided: a mode, the costs of a benefit, or decisions from outside.

    `whole`: a burst is shared by all queries that can share it, or by none. `traced` is the number of decisions that
    each sharable set keeps, the newest; with 0 none is traced.
    """

    mode: str = "dynamic"
    paper: bool = False
    whole: bool = False
    costs: tuple[BenefitCosts, BenefitCosts] = COSTS
    decide: Decide | None = None
    traced: int = 0

    def decisions(self, bursts: Records, classes: Records, matches: Flags, template: TemplateTables) -> Decisions:
        """The decisions on these bursts, as kernels read them."""
        if self.whole:
            classes["settled"] = True  # `benefit.choose` tries no plan without one of them
        forced = np.zeros((0 if self.decide is None else len(bursts), len(template.unit)), np.bool_)
        if self.decide is not None:
            for n in np.flatnonzero(bursts["group"] >= 0):
                group = template.group[bursts["group"][n]]
                units = slice(int(group["unit"]), int(group["unit_end"]))
                forced[n, units] = self.decide(units.stop - units.start)
        dynamic = self.mode == "dynamic" and self.decide is None
        weighs = self.decide is not None or self.traced > 0
        return Decisions(bursts, classes, matches, dynamic, self.paper, self.costs, forced, weighs)


class RandomDecisions:
    """Shares each burst by all units or by none, with a probability that the seed draws, too; with seed 0, none."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.probability = self.random.random() if seed else 0.0

    def __call__(self, units: int) -> Sequence[bool]:
        """The decision on the next burst, for each unit."""
        return [self.random.random() < self.probability] * units


class DecisionTrace:
    """Keeps the newest `limit` decisions, and a sum for each power of two: space does not grow with the stream."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.newest = np.zeros(0, records_of(BurstRecord))
        self.sums = np.zeros((_SIZES, len(NUMBERS)), np.float64)

    def add(self, bursts: Records) -> None:
        """Adds bursts of sharable types that were decided."""
        self.newest = np.concatenate([self.newest, bursts[-self.limit :]])[-self.limit :].copy()
        totals = [bursts[name] for name in ("created", "shared", "alone")]
        numbers = np.stack([np.ones(len(bursts)), bursts["queries"] > 0, *totals], axis=1)
        np.add.at(self.sums, np.frexp(bursts["size"])[1] - 1, numbers)

    def details(self) -> Mapping[str, float]:
        """`traced_bursts_64` and so on: sums over bursts of 64 to 127 events; none for sizes that did not occur."""
        return {
            f"{name}_{2**size}": float(self.sums[size, n])
            for size in np.flatnonzero(self.sums[:, 0]).tolist()
            for n, name in enumerate(NUMBERS)
        }
