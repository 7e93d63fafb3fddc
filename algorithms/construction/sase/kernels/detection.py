"""Detects matches within their span: the stacks hold the events of the last span, and a search starts at each event
that can be the last one of a match (Wu et al., SIGMOD 2006, windows pushed down; Zhang et al., SIGMOD 2014, Kleene
operands).

The automaton of an AND has one state per set of operands; here the search binds the operands in any order
(`construction.OperandSearch`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.sase.kernels.construction import OperandSearch, ProgressRecord, Search, extend
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.sinks import Digested, Written, by_type, emit, has_room, variant_of
from cepbench.algorithms.engine.kernels.stacks import Stacks, drop_first, push_events
from cepbench.algorithms.engine.kernels.ticks import ticks
from cepbench.algorithms.engine.kernels.trend_hash import mixed
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables


class SpanRecord:
    """Parameters and counts of a detection.

    - `reach`: the span, in time or, if it `counts`, in events; `pointers`: the kind of pointers of the stacks.
    - `lowest`: the first event within reach of the latest; `seen`: events so far.
    - `search_ticks`, `all_ticks`: of searching, and in total.
    - `most_bytes`, `most_events`, `most_pointers`: the largest state; an event takes `event_bytes`.
    """

    reach: int
    counts: bool
    pointers: int
    event_bytes: int
    lowest: int
    seen: int
    search_ticks: int
    all_ticks: int
    most_bytes: int
    most_events: int
    most_pointers: int


class SpanDigestRecord:
    """Number and hashes of the matches of spans that begin at point `begin`."""

    begin: int
    matches: int
    digest: np.uint64


class WrittenSpans(NamedTuple):
    """Writes matches, and the first and last event of each to `ends[M, 2]`."""

    rows: Written
    ends: Ints


class DigestedSpans(NamedTuple):
    """Digests the matches of the open span, and keeps those of `size[0]` others: `spans[R]` (`SpanDigestRecord`)."""

    digested: Digested
    spans: Records
    size: Ints


SpanSink = WrittenSpans | DigestedSpans

SINK = -1
"""In place of a full table: the matches in the sink must be taken first."""


@kernel
def detect(
    begin: int,
    events: KernelEvents,
    places: Ints,
    span: Records,
    tables: Tables,
    stacks: Stacks,
    search: Search | OperandSearch,
    sink: SpanSink,
) -> tuple[int, int]:
    """Detects the matches that events `begin..` complete. Returns the next event, and the full table of the stacks,
    SINK or 0.

    Events out of reach are dropped when they are at least half of all; matches in the sink that refer to them must be
    taken before. `places[n]`: positions of the events in the input. O(1) per partial match of a SEQ, O(m) of an AND,
    plus O(l) for conditions and for each match of l events.
    """
    counts, progress, parameters, point = stacks.counters[0], search.progress[0], span[0], search.point
    started = ticks()
    i = begin
    while True:
        while progress.root < counts.events:
            v = progress.root
            earliest = point[v] - parameters.reach
            while point[parameters.lowest] < earliest:
                parameters.lowest += 1
            _note(v, parameters, stacks)
            if tables.end[stacks.position[v]]:
                begun = ticks()
                ended = open_span(sink) and extend(max(earliest, 0), parameters.lowest, tables, stacks, search, sink)
                parameters.search_ticks += ticks() - begun
                if not ended:
                    parameters.all_ticks += ticks() - started
                    return i, SINK
                close_span(sink, earliest)
            progress.root = v + 1
        first, pushed, full, stop = counts.events, i, 0, len(events.time)
        if i < stop:
            pushed, full = push_events(i, stop, events, places, tables, parameters.pointers, 0, stacks)
        if pushed == i:
            if stop > 0:
                latest = i if i < stop else i - 1
                now = parameters.seen + latest if parameters.counts else events.time[latest]
                while parameters.lowest < counts.events and point[parameters.lowest] < now - parameters.reach:
                    parameters.lowest += 1
            if i < stop and 2 * parameters.lowest >= counts.events > 0:
                if not refers_to_events(sink):
                    _drop(parameters, stacks, point, progress, sink)
                    continue
                full = SINK
            parameters.all_ticks += ticks() - started
            return i, full
        for v in range(first, counts.events):
            while places[i] != stacks.place[v]:
                i += 1
            point[v] = parameters.seen + i if parameters.counts else stacks.time[v]
            enter(sink, v, stacks.place[v])
        i = pushed


@inlined
def _note(v: int, span: SpanRecord, stacks: Stacks) -> None:
    """Records the state when event v has arrived if it is the largest so far."""
    events = v + 1 - span.lowest
    pointers = stacks.pointer_ptr[v + 1] - stacks.pointer_ptr[span.lowest]
    size = events * span.event_bytes + 16 * pointers
    if size > span.most_bytes:
        span.most_bytes, span.most_events, span.most_pointers = size, events, pointers


@inlined
def _drop(span: SpanRecord, stacks: Stacks, point: Ints, progress: ProgressRecord, sink: SpanSink) -> None:
    """Drops the events before the lowest; no search is under way."""
    gone, size = span.lowest, stacks.counters[0].events
    for v in range(gone, size):
        point[v - gone] = point[v]
        enter(sink, v - gone, stacks.place[v])
    drop_first(gone, stacks)
    span.lowest = 0
    progress.root -= gone


@by_type
def refers_to_events(sink: SpanSink) -> bool:
    """Whether the output has numbers of events in the stacks."""
    raise NotImplementedError


@by_type
def enter(sink: SpanSink, v: int, place: int) -> None:
    """Prepares the sink for event v of the stacks."""
    raise NotImplementedError


@by_type
def open_span(sink: SpanSink) -> bool:
    """Whether the sink has room for the matches of another span."""
    raise NotImplementedError


@by_type
def close_span(sink: SpanSink, begin: int) -> None:
    """Ends the matches of the open span, which begins at point `begin`."""
    raise NotImplementedError


@variant_of(has_room, WrittenSpans)
def _has_rows(sink: WrittenSpans, length: int) -> bool:
    return has_room(sink.rows, length)


@variant_of(emit, WrittenSpans)
def _write(sink: WrittenSpans, path: Ints, begin: int, end: int) -> None:
    match = sink.rows.output[0].matches
    sink.ends[match, 0], sink.ends[match, 1] = path[begin], path[end - 1]
    emit(sink.rows, path, begin, end)


@variant_of(refers_to_events, WrittenSpans)
def _has_ends(sink: WrittenSpans) -> bool:
    return sink.rows.output[0].matches > 0


@variant_of(enter, WrittenSpans)
def _enter_nothing(sink: WrittenSpans, v: int, place: int) -> None:
    pass


@variant_of(open_span, WrittenSpans)
def _open_rows(sink: WrittenSpans) -> bool:
    return True


@variant_of(close_span, WrittenSpans)
def _close_rows(sink: WrittenSpans, begin: int) -> None:
    pass


@variant_of(has_room, DigestedSpans)
def _has_sum(sink: DigestedSpans, length: int) -> bool:
    return True


@variant_of(emit, DigestedSpans)
def _digest(sink: DigestedSpans, path: Ints, begin: int, end: int) -> None:
    emit(sink.digested, path, begin, end)


@variant_of(refers_to_events, DigestedSpans)
def _has_none(sink: DigestedSpans) -> bool:
    return False


@variant_of(enter, DigestedSpans)
def _enter_term(sink: DigestedSpans, v: int, place: int) -> None:
    sink.digested.term[v] = mixed(place)


@variant_of(open_span, DigestedSpans)
def _has_span(sink: DigestedSpans) -> bool:
    return sink.size[0] < len(sink.spans)


@variant_of(close_span, DigestedSpans)
def _close_digest(sink: DigestedSpans, begin: int) -> None:
    """Spans with the same begin are one."""
    output = sink.digested.output[0]
    if output.matches == 0:
        return
    at = sink.size[0] - 1
    if at < 0 or sink.spans[at].begin != begin:
        at += 1
        sink.size[0] = at + 1
        fresh = sink.spans[at]
        fresh.begin, fresh.matches, fresh.digest = begin, 0, np.uint64(0)
    span = sink.spans[at]
    span.matches += output.matches
    span.digest += output.digest
    output.matches, output.digest = 0, np.uint64(0)
