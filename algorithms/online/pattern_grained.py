"""The evaluator that keeps what waits for a successor (dissertation Section 16.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import cell_bytes, empty_cells
from cepbench.algorithms.online.granularity import SEMANTICS, has_adjacent_predicates
from cepbench.algorithms.online.kernels.lifecycle import CONTIGUOUS, make_slots, slot_count
from cepbench.algorithms.online.kernels.reach.waiting import (
    NOBODY,
    SIZE,
    KeyWaiting,
    Waiting,
    WaitingRecord,
    extend_keys,
)
from cepbench.algorithms.online.window_cells import PlaceLanes
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.records import records_of

FIRST_EVENTS = 64


class PatternGrained(PlaceLanes):
    """Skip-till-next-match and contiguous semantics with predicates on adjacent events, and negation without them under
    all semantics.

    O(n u k) time and O(u k) space for u waiting events and k windows per event. Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`). Without such predicates cells sum what waits: O(n l k) time and O(l k)
    space for a pattern of length l. The events of all keys are lists in one arena, since u differs between
    keys and over time: a key has room for the events that it keeps, and one that is idle for none.
    """

    over = staticmethod(extend_keys)
    arena: Waiting
    lanes: KeyWaiting

    by_place = ("event",)

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics = SEMANTICS[query.query.semantics]
        self.keeps = has_adjacent_predicates(part.automaton)
        summed = np.full(len(part.tables.start), not self.keeps)
        slots = make_slots(part.tables, len(part.negations), summed, part.tables.end, semantics == CONTIGUOUS)
        sizes = Sizes(cell_bytes(part.tables), 1 + slot_count(slots))
        if self.keeps:
            kept_bytes = 8 * (2 + len(query.ints) + len(query.reals))
            sizes = Sizes(cell_bytes(part.tables), 1 + len(slots.late), window.overlap, kept_bytes)
        own = partial(KeyWaiting, np.array([NOBODY, NOBODY, 0]))
        super().__init__(query, part, window, slots, semantics, own, sizes)
        self.arena = self.new_arena(FIRST_EVENTS + len(part.tables.start))

    def new_arena(self, places: int) -> Waiting:
        return Waiting(
            event=np.zeros(places, records_of(WaitingRecord)),
            free=np.arange(places, dtype=np.int64),
            left=np.array([places], np.int64),
            ints=np.zeros((len(self.query.ints), places), np.int64),
            reals=np.zeros((len(self.query.reals), places), np.float64),
            cells=empty_cells(places * self.timed.overlap, self.query.layout, self.query.arithmetic),
        )

    @property
    def kept(self) -> Ints:
        """Waiting events, or cells that wait."""
        return self.lanes.list[:, SIZE] if self.keeps else super().kept

    def work(self, lanes: KeyWaiting) -> Mapping[str, float]:
        """No edges where no event is kept."""
        return {} if self.keeps else {"edges": 0.0}
