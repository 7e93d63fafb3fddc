"""Hamlet on random workloads: with random decisions from outside, and in every mode."""

from __future__ import annotations

from random import Random

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.hamlet.algorithm import GRANULARITIES, Hamlet
from cepbench.algorithms.trends.hamlet.plan import HamletPlan
from cepbench.algorithms.trends.hamlet.sharing import Sharing
from cepbench.algorithms.trends.online.granularity import COARSEST
from tests.algorithms.trends.sets import hamlet


class Coins:
    """Splits and merges at random, each unit by itself; some bursts by all, some by none."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def __call__(self, units: int) -> list[bool]:
        share = self.random.choice((0.0, 0.5, 0.5, 0.9, 1.0))
        return [self.random.random() < share for _ in range(units)]


SPECIFICATIONS = (
    "hamlet",
    "hamlet[sharing=static]",
    "hamlet[sharing=never]",
    "hamlet[benefit=paper]",
    "hamlet[choice=burst]",
    "hamlet[granularity=graphlet]",
    "hamlet[sharing=static, granularity=graphlet]",
    "hamlet[benefit=paper, granularity=graphlet]",
    "hamlet[benefit=paper, choice=burst, granularity=graphlet]",
    "hamlet[granularity=event]",
    "hamlet[sharing=static, granularity=event]",
    "hamlet[sharing=never, granularity=event]",
)


def all_decisions(seed: int) -> list[Algorithm]:
    """Hamlet with random decisions, and in every mode."""
    return [*(Forced(seed, granularity) for granularity in GRANULARITIES), Apart(), *map(make, SPECIFICATIONS)]


def apart(units: int) -> list[bool]:
    """Decides that no unit shares a burst."""
    return [False] * units


class Apart(Hamlet):
    """Hamlet's sharable sets, none of whose bursts is shared."""

    def operator(self, plan: Plan) -> Operator:
        assert isinstance(plan, HamletPlan)
        return hamlet(plan, Sharing(decide=apart)).operator


class Forced(Hamlet):
    """Hamlet with random decisions."""

    def __init__(self, seed: int, granularity: str = COARSEST) -> None:
        super().__init__(granularity=granularity)
        self.seed = seed

    def operator(self, plan: Plan) -> Operator:
        assert isinstance(plan, HamletPlan)
        return hamlet(plan, Sharing(decide=Coins(self.seed))).operator
