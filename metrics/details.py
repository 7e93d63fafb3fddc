"""Numbers that optimisers and executors tell of their work, by name (`Plan.details`, `Executor.details`)."""

from collections.abc import Iterable, Mapping

PEAK = "_peak"
"""Ends the names of numbers of which the largest counts; all others are added up."""


def merged(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The details of several plans or executors as one."""
    whole: dict[str, float] = {}
    for part in parts:
        for name, number in part.items():
            known = whole.get(name, 0.0)
            whole[name] = max(known, float(number)) if name.endswith(PEAK) else known + float(number)
    return whole
