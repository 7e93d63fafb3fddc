"""Lanes of evaluators that keep aggregates in cells of the open windows, and what their state is made of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.kernels.peak import new_clock
from cepbench.algorithms.kernels.windows import OpenWindows, Slots, Windowed, new_state
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.peak import largest_of_all
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class WindowLanes(CellLanes):
    """Aggregates in cells of open windows, which stand for `slots`, and things that are kept beside them.

    The state is `window_cells` per open window, and per kept thing `kept_cells` and `kept_bytes`. A thing with bytes of
    its own is an event. `own` makes a lane of its `windows`.
    """

    def __init__(
        self,
        query: CompiledQuery,
        part: Part,
        window: Window,
        slots: Slots,
        semantics: int,
        own: Callable[[OpenWindows], Any],
        arena: Any = (),
        *,
        window_cells: int,
        kept_cells: int,
        kept_bytes: int = 0,
    ) -> None:
        self.window_cells, self.kept_cells, self.kept_bytes = window_cells, kept_cells, kept_bytes
        self.cell_bytes = cell_bytes(part.tables)
        clock = new_clock(window_cells * self.cell_bytes, kept_cells * self.cell_bytes + kept_bytes)
        windows = new_state(window.overlap, slots, query.layout, query.arithmetic, clock)
        super().__init__(query, window, Windowed(part.tables, slots, semantics, sliding(window)), own(windows), arena)
        self.negations = negations_of(query, part, window)

    @property
    @abstractmethod
    def kept(self) -> Ints:
        """How many things each key keeps now."""

    def live(self) -> StateSize:
        """Cells of open windows and of kept things, and events; the largest state since the last call."""
        windows, kept = largest_of_all(self.kept, self.lanes.windows.clock)
        cells = windows * self.window_cells + kept * self.kept_cells
        size = cells * self.cell_bytes + kept * self.kept_bytes
        return StateSize(size, {"aggregates": cells, "events": kept if self.kept_bytes else 0})
