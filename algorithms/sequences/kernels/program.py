"""Tables of A-Seq and Sharon kernels: sequences as chains of segments (dissertation 22.2 and 22.3).

A *segment* is a pattern that is counted separately: a whole sequence, a shared pattern, or the places between shared
patterns. Its places are numbered from 1. A slot represents the live START events of one time stamp; the counters of
place j, one per slot, count the sequences from those START events to place j. A *link* means that a sequence continues
with a segment: each slot then has snapshots of the sequence's counts before the segment, per window. Sequences whose
chains begin with the same segments share the link, since they have the same counts.

Two kinds of segments need no START events. If windows do not overlap, no START event expires inside a window, so one
slot serves all of them, unless a link leads to the segment. With COUNT(*) alone, its counters are *plain*: entries i to
i + l of one array, the first of which is always 1. And a segment that continues only one sequence continues its counts:
it has a slot per window, its place 1 represents the counts before the segment, and its own places begin with 2. It is
plain if all segments before it are; then its place 1 adds the last counter before it.

Tables are arrays of records (`queries.records`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.queries.records import Records

BY_START, SINGLE, BY_WINDOW = 0, 1, 2
"""Codes of `slots`: a slot per time stamp of START events, a single slot for all of them, or a slot per window."""
NOT_BOUND, BY_COUNT = -2, -1
"""Codes in `Program.code`: a place that a channel does not count, and a place where an event has weight 1."""
RING, REAL, LEAST = 0, 1, 2
"""Kinds of channels (`queries.aggregates`)."""


class ChannelRecord:
    """A channel of a segment or a query: its kind, and the word of a channel without sequences."""

    kind: int
    empty: int


class TotalRecord:
    """A column that is summed over the events of a symbol, or whose minimum is kept: kind, column and empty word."""

    kind: int
    column: int
    empty: int


class SegmentRecord:
    """A segment.

    - `length`: number of places; `rows`: number of places with counters, from the first on.
    - `slots`: what has a slot; `slot_bytes`: bytes of a slot, including its snapshots in all windows.
    - `first`: whether it begins a sequence, so that results are stored: those of the window in row w of K from
      `result + w * width` on.
    - `width`: number of channels; `channel`: offset of the first of them in `Chains.channel`; `code`: offset of their
      codes in `Program.code`; those of place j are at `code + (j - 1) * width`.
    - `link` to `link_end`: the links that lead to it.
    """

    length: int
    rows: int
    slots: int
    first: int
    width: int
    channel: int
    code: int
    result: int
    link: int
    link_end: int
    slot_bytes: int


class SequenceRecord:
    """A sequence of `query` that begins with `segment`.

    `source`: offset of the segment's channels in `Chains.source`; `last`: the last link, or -1; `plain`: the entry of
    the segment's count if it is plain, otherwise -1.
    """

    query: int
    segment: int
    source: int
    last: int
    plain: int


class LinkRecord:
    """`sequence` continues with `segment` after the link `before`, or after its first segment if that is -1.

    The same holds for all sequences with the same chain up to there. The other fields are those of a sequence.
    """

    query: int
    segment: int
    source: int
    before: int
    plain: int
    sequence: int


class QueryRecord:
    """The channels of a query, from `channel` on in `Chains.channel`, and its sequences: `sequence` to `sequence_end`.

    `like`: the first query whose sequences have the same chains, hence the same rows; itself if none is earlier.
    """

    width: int
    channel: int
    sequence: int
    sequence_end: int
    like: int


class PlainRecord:
    """A symbol adds the plain counter at `source` to that at `entry`. Unsigned, so that no index can be negative."""

    entry: np.uint64
    source: np.uint64


class TargetRecord:
    """A symbol updates a segment: level 2 j adds to place j, level 2 j + 1 clears place j."""

    level: int
    segment: int


class Chains(NamedTuple):
    """Segments, and sequences of queries as chains of them: `segment[G]`, `link[U]`, `sequence[S]`, `query[Q]`.

    Sequences are ordered by query, links by segment. `order[Q]` lists queries so that those with the same rows are
    consecutive, starting with the first of them. `channel` lists the channels of segments and queries
    (`ChannelRecord`), COUNT(*) first. `source` lists, for each link and sequence and each channel of the query, the
    segment's channel or -1.
    """

    segment: Records
    link: Records
    sequence: Records
    query: Records
    order: Ints
    channel: Records
    source: Ints


class Program(NamedTuple):
    """The tables; read only. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - `binding`: symbols by event type; `local`: predicates per symbol.
    - `total`: the totals that some symbol needs (`TotalRecord`); `gathered`: those of a symbol, by number.
    - `plain`: the plain counters to which a symbol adds (`PlainRecord`), later places of a sequence first; `clear`:
      those that it clears.
    - `target`: other updates of a symbol (`TargetRecord`), from high levels to low ones.
    - `begin`: segments with slots that begin with a symbol.
    - `code`: for each place and channel of a segment, the number of its symbol's total which the channel sums there, or
      `BY_COUNT` or `NOT_BOUND`.
    - `unit`: 1 at plain counters of place 0.
    - `answer`: offset of the cell in `Values` in which the answer of a query is computed; `totals`: offset of the
      totals of the first symbol, which others follow.
    """

    binding_ptr: Ints
    binding: Ints
    local: Ints
    total: Records
    gathered_ptr: Ints
    gathered: Ints
    plain_ptr: Ints
    plain: Records
    clear_ptr: Ints
    clear: NDArray[np.uint64]
    target_ptr: Ints
    target: Records
    begin_ptr: Ints
    begin: Ints
    chains: Chains
    code: Ints
    unit: NDArray[Any]
    answer: int
    totals: int
