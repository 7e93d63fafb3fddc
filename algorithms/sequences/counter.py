"""Counts the sequences of queries that share their window: the state of A-Seq and Sharon on one sub-stream."""

from __future__ import annotations

from collections.abc import Sequence as Sequences

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.rows import AggregateRows, Rows, join
from cepbench.algorithms.running.batches import kernel_events, no_events, sliding
from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.channels import FAMILIES, Member
from cepbench.algorithms.sequences.event_sequence import Sequence
from cepbench.algorithms.sequences.kernels.counters import SequenceRows
from cepbench.algorithms.sequences.kernels.program import Chains
from cepbench.algorithms.sequences.kernels.stream import NONE, count_sequences
from cepbench.algorithms.sequences.program import make_counting
from cepbench.algorithms.sequences.segments import cut
from cepbench.algorithms.sequences.state import enlarged, largest_size, new_state
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import FOREVER, Window

ROOM = 1024
"""Rows of closed windows that a kernel may write before they are taken."""


class SequenceCounter:
    """Counters of sequences in windows of time, fed in batches.

    Sequences are in order of their `query`, an index into `members`, by which rows are returned.
    """

    def __init__(
        self,
        schema: Schema,
        members: Sequences[Member],
        sequences: Sequences[Sequence],
        shared: Sequences[Candidate],
        window: Window,
    ) -> None:
        self.sequences = tuple(sequences)
        self.counting = make_counting(schema, members, self.sequences, cut(self.sequences, shared), window.overlap)
        self.modular = members[0].query.arithmetic == "modular"
        self.window = sliding(window)
        self.cells = new_state(self.counting, window.overlap)
        self.rows = new_rows(self.counting.program.chains, self.modular)

    def process(self, events: EventBatch) -> Rows:
        """Rows of the windows that these events and their `until` closed."""
        return self._count(kernel_events(self.counting.columns, events), events.until or 0)

    def finish(self) -> Rows:
        """Rows of the windows that are still open."""
        columns = self.counting.columns
        return self._count(no_events(len(columns.ints), len(columns.reals)), 2 * FOREVER - 1)

    def state(self) -> StateSize:
        """Counters of live START events, results of open windows, snapshots; the most since this was asked for."""
        return largest_size(self.cells, self.counting.program)

    def details(self) -> dict[str, float]:
        """Counter updates and count combinations so far."""
        clock = self.cells.slots.clock[0]
        return {name: float(clock[name]) for name in ("updates", "combinations")}

    def _count(self, events: KernelEvents, until: int) -> Rows:
        """Feeds a batch to the kernel, and calls it again where it stopped because rows or slots ran out."""
        program = self.counting.program
        parts: list[Rows] = []
        done = 0
        while done <= len(events.time):
            done, size, segment = count_sequences(
                done, until, events, self.window, program, self.cells, self.modular, self.rows
            )
            if size:
                parts.append({**rows_by_query(self.rows, size, program.chains)})
            if segment != NONE:
                self.cells = enlarged(self.cells, self.counting)
        return join(parts)


def new_rows(chains: Chains, modular: bool, least: int = ROOM) -> SequenceRows:
    """Room for so many rows, and for one of each query."""
    room = max(least, len(chains.query))
    ring, real, minima = (int(chains.query["width"][family].max(initial=0)) for family in FAMILIES)
    return SequenceRows(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, ring), np.uint64 if modular else np.float64),
        np.empty((room, ring), np.bool_),
        np.empty((room, real), np.float64),
        np.empty((room, minima), np.int64),
    )


def rows_by_query(rows: SequenceRows, size: int, chains: Chains) -> dict[int, AggregateRows]:
    """Copies of the first rows, by the number of their query.

    Sorted at once and then cut: with many queries, numpy calls for each took more than their counting.
    """
    order = np.argsort(rows.query[:size], kind="stable")
    query, window = rows.query[order], rows.window[order]
    ring, real, least = rows.ring[order], rows.real[order], rows.least[order]
    bits = np.uint64(1) << np.arange(ring.shape[1], dtype=np.uint64)
    own = np.arange(ring.shape[1]) < chains.query["width"]["ring"][query][:, np.newaxis]
    over = ((rows.over[order] & own) * bits).sum(axis=1, dtype=np.uint64)
    first = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])).tolist()
    numbers, ends = query[first].tolist(), [*first[1:], size]
    found: dict[int, AggregateRows] = {}
    if (chains.query["width"] == chains.query["width"][0]).all():  # no need to cut each
        for q, a, b in zip(numbers, first, ends, strict=True):
            found[q] = AggregateRows(window[a:b], ring[a:b], over[a:b], real[a:b], least[a:b])
        return found
    widths = chains.query["width"][numbers].tolist()
    for q, a, b, (rings, reals, leasts) in zip(numbers, first, ends, widths, strict=True):
        found[q] = AggregateRows(window[a:b], ring[a:b, :rings], over[a:b], real[a:b, :reals], least[a:b, :leasts])
    return found
