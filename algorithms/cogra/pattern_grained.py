"""The evaluator that keeps the events which wait for a successor (dissertation Section 16.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.granularity import SEMANTICS
from cepbench.algorithms.cogra.kernels.waiting import (
    NOBODY,
    SIZE,
    KeyWaiting,
    Waiting,
    WaitingRecord,
    close_waiting,
    extend_keys,
)
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import empty_cells
from cepbench.algorithms.kernels.growth import with_more_places
from cepbench.algorithms.kernels.windows import CONTIGUOUS, OpenWindows, make_slots
from cepbench.algorithms.running.window_cells import WindowLanes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.records import records_of

FIRST_EVENTS = 64


class PatternGrained(WindowLanes):
    """Skip-till-next-match and contiguous semantics with predicates on adjacent events.

    O(n u k) time and O(u k) space for u waiting events and k windows per event. Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`). The events of all keys are lists in one arena, since u differs between
    keys and over time: a key has room for the events that it keeps, and one that is idle for none.
    """

    over, close = staticmethod(extend_keys), staticmethod(close_waiting)
    arena: Waiting
    lanes: KeyWaiting

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics = SEMANTICS[query.query.semantics]
        nothing, all_ends = np.zeros(len(part.tables.start), np.bool_), part.tables.end
        slots = make_slots(part.tables, len(part.negations), nothing, all_ends, semantics == CONTIGUOUS)
        super().__init__(
            query,
            part,
            window,
            slots,
            semantics,
            _no_events,
            _new_waiting(query, window.overlap, FIRST_EVENTS + len(part.tables.start)),
            window_cells=1 + len(slots.late),
            kept_cells=window.overlap,
            kept_bytes=8 * (2 + len(query.ints) + len(query.reals)),
        )

    def grow(self, key: int) -> None:
        """Twice the events."""
        self.arena = with_more_places(self.arena, ("event",))

    @property
    def kept(self) -> Ints:
        """Waiting events."""
        return self.lanes.list[:, SIZE]


def _no_events(windows: OpenWindows) -> KeyWaiting:
    return KeyWaiting(np.array([NOBODY, NOBODY, 0]), windows)


def _new_waiting(query: CompiledQuery, span: int, events: int) -> Waiting:
    return Waiting(
        event=np.zeros(events, records_of(WaitingRecord)),
        free=np.arange(events, dtype=np.int64),
        left=np.array([events], np.int64),
        ints=np.zeros((len(query.ints), events), np.int64),
        reals=np.zeros((len(query.reals), events), np.float64),
        cells=empty_cells(events * span, query.layout, query.arithmetic),
    )
