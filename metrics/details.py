"""Numbers that optimizers and executors report about their work, by name (`Plan.details`, `Executor.details`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

Number = TypeVar("Number")

PEAK = ("_peak", "_max")
"""Suffixes of numbers whose maximum counts."""
MEAN, COUNT = "_mean", "_count"
"""A number `x_mean` is the mean over `x_count` items, which is its weight. All others are added up."""

DETAILS = "details."
"""The prefix of metrics that are details."""


def detailed(details: Mapping[str, Number]) -> dict[str, Number]:
    """Details as metrics."""
    return {DETAILS + name: number for name, number in details.items()}


def by_name(runs: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """The numbers of several runs by name, in the order of the runs; 0 where a run has none."""
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: [run.get(name, 0.0) for run in runs] for name in names}


def merged(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The combined details of several plans or executors."""
    whole: dict[str, float] = {}
    for part in parts:
        for name, number in part.items():
            total = whole.get(name, 0.0)
            if name.endswith(PEAK):
                whole[name] = max(total, float(number))
            else:
                whole[name] = total + float(number) * _weight(name, part)
    return {name: number / weight if (weight := _weight(name, whole)) else number for name, number in whole.items()}


def _weight(name: str, details: Mapping[str, float]) -> float:
    """The weight of a mean; 1 for other numbers."""
    return float(details.get(name.removesuffix(MEAN) + COUNT, 1.0)) if name.endswith(MEAN) else 1.0
