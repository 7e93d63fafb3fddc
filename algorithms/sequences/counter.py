"""Counts the sequences of queries that share their window: the state of A-Seq and Sharon on one sub-stream."""

from __future__ import annotations

from collections.abc import Sequence as Sequences

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.rows import AggregateRows, Rows, join
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.event_sequence import Sequence
from cepbench.algorithms.sequences.kernels.stream import NONE, count_sequences
from cepbench.algorithms.sequences.kernels.tables import (
    COMBINATIONS,
    HEAD,
    HIGH,
    LOW,
    QUERY_LEAST,
    QUERY_REAL,
    QUERY_RING,
    TAIL,
    UPDATES,
    Program,
    SequenceRows,
)
from cepbench.algorithms.sequences.program import make_counting
from cepbench.algorithms.sequences.segments import cut
from cepbench.algorithms.sequences.state import enlarged, new_state, state_size
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.compile import int_column

Ints = NDArray[np.int64]

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
        self.modular = modular = members[0].query.arithmetic == "modular"
        self.window = sliding(window)
        self.cells = new_state(self.counting, window.overlap, modular)
        self.rows = _new_rows(self.counting.program, modular)

    def process(self, events: EventBatch) -> Rows:
        """Rows of the windows that these events and their `until` closed."""
        ints, reals = self._columns(events)
        return self._count(readonly(events.time), readonly(events.type), ints, reals, events.until or 0)

    def finish(self) -> Rows:
        """Rows of the windows that are still open."""
        columns = self.counting.columns
        ints, reals = np.empty((len(columns.ints), 0), np.int64), np.empty((len(columns.reals), 0))
        time, kind = np.empty(0, np.int64), np.empty(0, np.int32)
        return self._count(readonly(time), readonly(kind), readonly(ints), readonly(reals), 2 * FOREVER - 1)

    def state(self) -> StateSize:
        """Counters of live START events, results of open windows, snapshots; the most since this was asked for."""
        program, cells = self.counting.program, self.cells
        windows = max(int(cells.clock[HIGH] - cells.clock[LOW]) + 1, 0)
        now = state_size(program, windows, cells.place[:, TAIL] - cells.place[:, HEAD])
        most = state_size(program, int(cells.peak[1]), cells.peak[2:])
        cells.peak[:] = 0
        return most if most.bytes > now.bytes else now

    def details(self) -> dict[str, float]:
        """Counter updates and count combinations so far."""
        tally = self.cells.tally
        return {"updates": float(tally[UPDATES]), "combinations": float(tally[COMBINATIONS])}

    def _count(self, time: Ints, kind: NDArray[np.int32], ints: Ints, reals: NDArray[np.float64], until: int) -> Rows:
        """Feeds a batch to the kernel, and calls it again where it stopped because rows or slots ran out."""
        program = self.counting.program
        parts: list[Rows] = []
        done = 0
        while done <= len(time):
            done, size, segment = count_sequences(
                done, time, kind, ints, reals, until, self.window, program, self.cells, self.modular, self.rows
            )
            if size:
                parts.append(_rows_by_query(self.rows, size, program))
            if segment != NONE:
                self.cells = enlarged(self.cells, self.counting)
        return join(parts)

    def _columns(self, events: EventBatch) -> tuple[Ints, NDArray[np.float64]]:
        """The kernel columns of a batch."""
        columns = self.counting.columns
        ints = np.empty((len(columns.ints), len(events)), np.int64)
        reals = np.empty((len(columns.reals), len(events)), np.float64)
        for row, column in enumerate(columns.ints):
            ints[row] = int_column(events, column)
        for row, column in enumerate(columns.reals):
            reals[row] = events.columns[column.attribute]
        return readonly(ints), readonly(reals)


def _new_rows(program: Program, modular: bool) -> SequenceRows:
    room = max(ROOM, len(program.query))
    ring, real, least = (int(program.query[:, c].max(initial=0)) for c in (QUERY_RING, QUERY_REAL, QUERY_LEAST))
    return SequenceRows(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, ring), np.uint64 if modular else np.float64),
        np.empty((room, ring), np.bool_),
        np.empty((room, real), np.float64),
        np.empty((room, least), np.int64),
    )


def _rows_by_query(rows: SequenceRows, size: int, program: Program) -> Rows:
    """Copies of the first rows, by the number of their query.

    Sorted at once and then cut: with many queries, numpy calls for each took more than their counting.
    """
    order = np.argsort(rows.query[:size], kind="stable")
    query, window = rows.query[order], rows.window[order]
    ring, real, least = rows.ring[order], rows.real[order], rows.least[order]
    bits = np.uint64(1) << np.arange(ring.shape[1], dtype=np.uint64)
    own = np.arange(ring.shape[1]) < program.query[query, QUERY_RING][:, np.newaxis]
    over = ((rows.over[order] & own) * bits).sum(axis=1, dtype=np.uint64)
    first = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])).tolist()
    widths = program.query[query[first]][:, [QUERY_RING, QUERY_REAL, QUERY_LEAST]].tolist()
    found: Rows = {}
    for q, a, b, (rings, reals, leasts) in zip(query[first].tolist(), first, [*first[1:], size], widths, strict=True):
        found[q] = AggregateRows(window[a:b], ring[a:b, :rings], over[a:b], real[a:b, :reals], least[a:b, :leasts])
    return found
