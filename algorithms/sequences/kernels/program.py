"""What the kernels of A-Seq and Sharon count: sequences as chains of segments (dissertation 22.2 and 22.3).

A *segment* is a pattern that is counted on its own: a whole sequence, a shared pattern, or what lies between shared
patterns. Its places are numbered from 1. Slot s stands for the live START events of one time stamp; the counters of
place j, one per slot, hold the sequences from those START events to place j. A *link* says that a sequence continues
with a segment: each slot then keeps snapshots of what the sequence had counted before, per window. Sequences whose
chains begin with the same segments share the link, for they have counted the same.

Two kinds of segments need no START events. Where windows do not overlap, none expires inside a window, so one slot
serves all of them, if no link leads to the segment; with COUNT(*) alone its counters are *plain*: entries i to i + l of
one array, the first of them always 1. And a segment that only continues one sequence carries on what that has counted
before: it has a slot per window, and its place 1 stands for what came before, so that its own begin with place 2. It is
plain, and its place 1 adds the last counter before it, if all before it is.

Tables are arrays of records (`queries.records`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

BY_START, ONE, BY_WINDOW = 0, 1, 2
"""Codes of `slots`: a slot per time stamp of START events, one slot for all of them, or a slot per window."""
NOT_BOUND, BY_COUNT = -2, -1
"""Codes in `Program.code`: a place that a channel leaves out, and one where an event weighs 1."""


class PerFamily(NamedTuple):
    """A number for each family of channels; those of the ring begin with COUNT(*)."""

    ring: int
    real: int
    least: int


class SegmentRecord:
    """A segment.

    - `length`: its places; `rows`: those whose counters are kept, from the first.
    - `slots`: what has a slot; `slot_bytes`: what one takes, its snapshots in all windows included.
    - `first`: whether it begins a sequence, so that results are kept: those of the window in row w of K, from
      `result + w * width` on.
    - `width`: its channels; `code`: where its codes begin in `Program.code`, those of place j at
      `code + (j - 1) * (width.ring + width.real + width.least)`.
    - `link` to `link_end`: the links that lead to it.
    """

    length: int
    rows: int
    slots: int
    first: int
    width: PerFamily
    code: int
    result: PerFamily
    link: int
    link_end: int
    slot_bytes: int


class SequenceRecord:
    """A sequence of `query` that begins with `segment`.

    `channel` is where the segment's channels begin in `Chains.channel`, `last` the last link or -1, and `plain` the
    entry of what the segment has counted, if it is plain, or else -1.
    """

    query: int
    segment: int
    channel: int
    last: int
    plain: int


class LinkRecord:
    """`sequence` continues with `segment` after the link `before`, or after its first segment if that is -1.

    So do all sequences whose chains have been the same up to there. The other fields are those of a sequence.
    """

    query: int
    segment: int
    channel: int
    before: int
    plain: int
    sequence: int


class QueryRecord:
    """The channels of a query, and its sequences: `sequence` to `sequence_end`.

    `like` is the first query whose sequences have the same chains, hence the same rows: itself, if none comes before.
    """

    width: PerFamily
    sequence: int
    sequence_end: int
    like: int


class PlainRecord:
    """A symbol adds the plain counter at `source` to that at `entry`. Unsigned, so that no index may be negative."""

    entry: np.uint64
    source: np.uint64


class TargetRecord:
    """A symbol updates a segment: level 2 j adds to place j, level 2 j + 1 clears place j."""

    level: int
    segment: int


class Chains(NamedTuple):
    """Segments, and sequences of queries as chains of them: `segment[G]`, `link[U]`, `sequence[S]`, `query[Q]`.

    Sequences are in order of their query, links in order of their segment. `order[Q]` lists queries so that those with
    the same rows follow one another, the first of them first. `channel` holds, for each link and sequence,
    for each channel of the query the segment's, or -1; the families follow one another.
    """

    segment: Records
    link: Records
    sequence: Records
    query: Records
    order: Ints
    channel: Ints


class Program(NamedTuple):
    """What is counted; never written. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - `binding`: symbols by event type; `local`: predicates per symbol.
    - `ring`, `real`, `least`: what a symbol gathers, by number: row `ring_column` of `ints`, and so on; for floats of
      `reals`.
    - `plain`: the plain counters that a symbol adds to (`PlainRecord`), later places of a sequence first; `clear`:
      those that it clears.
    - `target`: what else a symbol updates (`TargetRecord`), from high levels to low ones.
    - `begin`: segments with slots that begin with a symbol.
    - `code`: for each place of a segment and each of its channels, which number of those that its symbol gathers the
      channel adds up there, or `BY_COUNT` or `NOT_BOUND`.
    - `unit`: 1 at plain counters that stand for place 0.
    - `total[1]`: where the second cell begins in `Values` (`PerFamily`).
    """

    binding_ptr: Ints
    binding: Ints
    local: Predicates
    ring_ptr: Ints
    ring: Ints
    real_ptr: Ints
    real: Ints
    least_ptr: Ints
    least: Ints
    ring_column: Ints
    real_column: Ints
    least_column: Ints
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
    total: Records
