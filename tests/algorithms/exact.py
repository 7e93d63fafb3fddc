"""Aggregates of event sequences in exact integers, for more of them than the oracle can enumerate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

COUNT_LIMIT, SUM_LIMIT = 2**64, 2**63


@dataclass(frozen=True)
class Counted:
    """The aggregates of the sequences up to a place; all but `count` are over the events bound to the type `of`."""

    count: int = 0
    bound: int = 0
    total: int = 0
    magnitude: int = 0
    least: int | None = None

    def __add__(self, addend: Counted) -> Counted:
        return Counted(
            self.count + addend.count,
            self.bound + addend.bound,
            self.total + addend.total,
            self.magnitude + addend.magnitude,
            min((value for value in (self.least, addend.least) if value is not None), default=None),
        )

    def extended(self, value: int | None) -> Counted:
        """The aggregates with one more event; `value` is None if the type of the event is not aggregated."""
        if value is None or not self.count:
            return self
        more = Counted(0, self.count, self.count * value, self.count * abs(value), value)
        return self + more


@dataclass(frozen=True)
class Pattern:
    """SEQ over one-letter types; `negated[j]` may not come between places j and j + 1, which are counted from 1."""

    places: str
    of: str
    negated: Mapping[int, str] = field(default_factory=dict)
    within: int | None = None
    slide: int | None = None

    def text(self, name: str) -> str:
        """The query that returns all aggregates."""
        parts = [f"{f'NOT {self.negated[j]}, ' if j in self.negated else ''}{p}" for j, p in enumerate(self.places)]
        items = f"COUNT(*), COUNT({self.of}), SUM({self.of}.x), AVG({self.of}.x), MIN({self.of}.x)"
        window = "" if self.within is None else f"WITHIN {self.within} s SLIDE {self.slide} s"
        return f"{name}: RETURN {items} PATTERN SEQ({', '.join(parts)}) {window}"

    def rows(self, name: str, events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The answer as modular arithmetic shows it."""
        windows: list[tuple[int, int | None, Counted]] = [(0, None, self.counted(events))]
        if self.within is not None and self.slide is not None:
            starts = range(0, events[-1]["time"] + 1, self.slide)
            inside = {k: [e for e in events if k <= e["time"] < k + self.within] for k in starts}
            windows = [(k, k + self.within, self.counted(inside[k])) for k in starts]
        return [self._row(name, start, end, counted) for start, end, counted in windows if counted.count]

    def counted(self, events: Sequence[Mapping[str, Any]]) -> Counted:
        """The aggregates over all events, which are in time order."""
        reached = [Counted(1)] + [Counted()] * len(self.places)
        for _, stamp in groupby(events, itemgetter("time")):
            simultaneous = list(stamp)
            after = [
                Counted() if any(event["type"] == self.negated.get(j) for event in simultaneous) else counted
                for j, counted in enumerate(reached)
            ]
            for event in simultaneous:
                for j, place in enumerate(self.places, start=1):
                    if event["type"] == place:
                        after[j] += reached[j - 1].extended(event["x"] if place == self.of else None)
            reached = after
        return reached[-1]

    def _row(self, name: str, start: int, end: int | None, counted: Counted) -> dict[str, Any]:
        counts = [value if value < COUNT_LIMIT else None for value in (counted.count, counted.bound)]
        total = counted.total if counted.magnitude < SUM_LIMIT else None
        average = None if total is None or counts[1] is None else total / counted.bound
        values = (*counts, total, average)
        items = ("COUNT(*)", f"COUNT({self.of})", f"SUM({self.of}.x)", f"AVG({self.of}.x)")
        row: dict[str, Any] = {"query": name, "window_start": start, "window_end": end}
        return (
            row
            | dict(zip(items, values, strict=True))
            | {f"MIN({self.of}.x)": counted.least}
            | {"overflow": None in values}
        )
