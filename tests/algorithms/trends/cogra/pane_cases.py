"""Random queries and long streams for COGRA by panes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema

SCHEMA = Schema(("A", "B", "C", "D"), (Attribute("x", Kind.INT), Attribute("y", Kind.FLOAT)))
PATTERNS = (
    "A+", "A", "SEQ(A, B)", "SEQ(A+, B)", "(SEQ(A+, B))+", "SEQ(A+, B?, C+)", "SEQ(A, A+, B)", "SEQ(A+, B*, A)",
    "SEQ(A, B) OR C+", "(SEQ(A, B) OR C)+", "SEQ(A, B, C, D)", "(SEQ(A?, (SEQ(B, C))+, D))+", "SEQ(A{2,}, B)",
)  # fmt: skip
NEGATED = (
    "SEQ(A+, NOT C, B)", "(SEQ(A+, NOT C, B))+", "SEQ(NOT C, A+, B)", "SEQ(A+, B, NOT C)", "SEQ(A+, NOT D, B, NOT D)",
    "SEQ(NOT C, A, NOT D, B+, NOT C)", "SEQ(A+, NOT C, B?, NOT D, A)", "SEQ(NOT D, A, B) OR SEQ(C, NOT D, B)",
    "SEQ(A+, NOT B, A)",
)  # fmt: skip
RETURNS = (
    "COUNT(*)", "COUNT(*), COUNT(A)", "SUM(A.x), AVG(A.x)", "SUM(A.y), AVG(A.y)", "MIN(A.x), MAX(A.y)",
    "COUNT(*), COUNT(A), SUM(A.x), AVG(A.y), MIN(A.y), MAX(A.x)",
)  # fmt: skip
LOCAL = ("", "WHERE A.x > 2", "WHERE A.x != 0 AND A.y < 0.8")


@dataclass(frozen=True)
class PaneCase:
    """A query on a stream, in pieces: events from a place on to the next, and what a piece says in `watermark`."""

    query: str
    events: EventBatch
    pieces: tuple[EventBatch, ...]


def pane_case(seed: int, patterns: Sequence[str] = PATTERNS) -> PaneCase:
    """The case of a seed: windows of every kind, with gaps and pieces of panes, and times that repeat or jump."""
    random = Random(seed)
    slide = random.choice((1, 2, 3, 5, 10, 40))
    within = random.choice((slide, 2 * slide, 3 * slide + 1, 7 * slide, 30 * slide - 1, max(1, slide // 2), 60 * slide))
    window = random.choice((f"WITHIN {within} s SLIDE {slide} s",) * 9 + ("",))
    query = f"RETURN {random.choice(RETURNS)} PATTERN {random.choice(patterns)} {random.choice(LOCAL)} {window}"
    events = _stream(random, random.choice((0, 5, 60, 300, 300)))
    return PaneCase(query, events, _pieces(random, events))


def _stream(random: Random, size: int) -> EventBatch:
    """Events with many or few equal times; sometimes there is a long gap between two."""
    generator = np.random.default_rng(random.randrange(2**32))
    step = generator.choice([0, 1, 2, 200], size, p=random.choice(([0.6, 0.3, 0.09, 0.01], [0.05, 0.9, 0.04, 0.01])))
    kinds = random.choice((2, 4))
    most = random.choice((5, 5, 5, 2**40))
    return EventBatch(
        SCHEMA,
        np.cumsum(step).astype(np.int64),
        generator.integers(0, kinds, size).astype(np.int32),
        {"x": generator.integers(-most, most, size), "y": generator.random(size)},
        np.arange(size, dtype=np.int64),
    )


def _pieces(random: Random, events: EventBatch) -> tuple[EventBatch, ...]:
    size = len(events)
    share = random.choice((0.0, 0.02, 0.3, 1.0))
    cuts = [0, *(i for i in range(1, size) if random.random() < share), size]
    pieces = []
    for start, stop in pairwise(cuts):
        later = int(events.time[stop]) if stop < size else int(events.time[-1]) + 7 if size else 7
        earliest = int(events.time[stop - 1]) if stop else 0
        pieces.append(events.slice(start, stop, random.choice((None, later, (earliest + later) // 2))))
    return tuple(pieces)
