"""Lanes of evaluators that keep aggregates in cells of the open windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.online.kernels.lifecycle import OpenWindows, Slots, Windowed, new_state
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class WindowLanes(CellLanes):
    """Aggregates in cells of open windows, which stand for `slots`; `own` makes a lane of its `windows`."""

    def __init__(
        self,
        query: CompiledQuery,
        part: Part,
        window: Window,
        slots: Slots,
        semantics: int,
        own: Callable[[OpenWindows], Any],
        sizes: Sizes,
    ) -> None:
        windows = new_state(window.overlap, slots, query.layout, query.arithmetic, sizes.clock())
        super().__init__(query, window, Windowed(part.tables, slots, semantics, sliding(window)), own(windows), sizes)
        self.negations = negations_of(part.negations, window, query.columns)

    @property
    def clocks(self) -> Ints:
        clocks: Ints = self.lanes.windows.clock
        return clocks
