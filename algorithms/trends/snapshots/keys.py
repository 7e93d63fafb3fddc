"""Operators of plans with sharable sets: an executor per key, or all keys together where nothing is shared."""

from __future__ import annotations

from functools import partial

from cepbench.algorithms.base import KeyedBatch, Operator, Plan
from cepbench.algorithms.engine.chosen import ChosenByCost
from cepbench.algorithms.engine.lanes import lanes_of
from cepbench.algorithms.trends.online.trends import trend_lanes

PER_KEY = 50_000
"""Events times queries of a key in a batch with which sharing makes up for the fixed cost of an executor for the key
(measured: `benchmarks/hamlet.py keys`)."""


def operator_of_sets(plan: Plan, by_key: Operator, granularity: str, *, shares: bool, weighs_keys: bool) -> Operator:
    """The operator of a plan that `shares` or not; if it `weighs_keys`, the first events decide whether it does.

    `by_key` carries the plan out with an executor per key. It is the only choice for queries without lanes.
    """
    lanes = lanes_of(plan, partial(trend_lanes, granularity=granularity))
    if lanes is None or (shares and not weighs_keys):
        return by_key
    if not shares:
        return lanes
    prefers_lanes = partial(few_events, len(plan.workload))
    return ChosenByCost(plan.workload.schema, by_key, lanes, prefers_lanes, "without_sharing")


def few_events(queries: int, batch: KeyedBatch) -> bool:
    """Whether the first events have several keys, and too few of each for sharing to pay off."""
    keys = len(batch.keys)
    return keys > 1 and len(batch.events) * queries < PER_KEY * keys
