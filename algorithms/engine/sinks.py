"""Sinks of matches (`kernels.sinks`), and the rows that they yield."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.sinks import Digested, OutputRecord, Written
from cepbench.algorithms.engine.kernels.trend_hash import mix_positions, powers
from cepbench.algorithms.rows import MatchDigests, MatchRows
from cepbench.queries.records import records_of

WRITTEN_MATCHES = 65_536
"""Number of matches that are written before they become rows."""

WRITTEN_EVENTS = 1_048_576
"""Number of their events, without those of the longest match."""

MatchSink = Written | Digested


def match_sink(place: Ints, *, summarised: bool, longest: int = 0) -> MatchSink:
    """A sink of matches of the events at positions `place` of the input; digested ones may be concatenated from parts
    of up to `longest` events.
    """
    output = np.zeros(1, records_of(OutputRecord))
    if not summarised:
        return Written(
            place, np.zeros(WRITTEN_MATCHES, np.int64), np.empty(WRITTEN_EVENTS + len(place), np.int64), output
        )
    term, power = np.empty(len(place), np.uint64), np.empty(longest + 1 if longest else 0, np.uint64)
    mix_positions(place, term)
    powers(power)
    return Digested(term, power, output)


def collected(k: int, sink: MatchSink, traverse: Callable[[MatchSink], bool]) -> list[MatchRows | MatchDigests]:
    """All matches of window k. `traverse` returns False when the sink is full, and is called again."""
    parts: list[MatchRows | MatchDigests] = []
    ended = False
    while not ended:
        ended = traverse(sink)
        matches, digest = sink.output["matches"][0], sink.output["digest"].copy()
        if matches and isinstance(sink, Digested):
            parts.append(MatchDigests(np.array([k], np.int64), np.array([matches], np.uint64), digest))
        elif matches and isinstance(sink, Written):
            offsets = sink.offsets[: matches + 1].copy()
            parts.append(MatchRows(np.full(matches, k, np.int64), offsets, sink.positions[: offsets[-1]].copy()))
        sink.output[:] = 0
    return parts
