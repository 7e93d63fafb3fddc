"""What evaluators share that keep aggregates in cells of the open windows, and what their state is made of."""

from __future__ import annotations

from abc import abstractmethod

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.kernels.clock import NOW
from cepbench.algorithms.kernels.peak import largest, new_clock
from cepbench.algorithms.kernels.windows import Slots, new_state
from cepbench.algorithms.running.batch_kernel import KernelEvaluator
from cepbench.algorithms.running.negation import largest_state
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class CellEvaluator(KernelEvaluator):
    """Aggregates in `cells` of open windows, which stand for `slots`, and things that are kept beside them.

    The state is `window_cells` per open window, and per kept thing `kept_cells` and `kept_bytes`. A thing with bytes of
    its own is an event.
    """

    def __init__(
        self,
        query: CompiledQuery,
        part: Part,
        window: Window,
        slots: Slots,
        *,
        window_cells: int,
        kept_cells: int,
        kept_bytes: int = 0,
    ) -> None:
        super().__init__(query, part, window)
        self.slots = slots
        self.window_cells, self.kept_cells, self.kept_bytes = window_cells, kept_cells, kept_bytes
        self.cell_bytes = cell_bytes(part.tables)
        clock = new_clock(window_cells * self.cell_bytes, kept_cells * self.cell_bytes + kept_bytes)
        self.cells = new_state(window.overlap, slots, query.layout, query.arithmetic, clock)

    @property
    @abstractmethod
    def kept(self) -> int:
        """How many things are kept now."""

    @property
    def now(self) -> int:
        return int(self.cells.clock[NOW])

    def state(self) -> StateSize:
        """Cells of open windows and of kept things, and events; the largest state since the last call."""
        windows, kept = largest(self.kept, self.cells.clock)
        cells = windows * self.window_cells + kept * self.kept_cells
        size = cells * self.cell_bytes + kept * self.kept_bytes
        positive = StateSize(size, {"aggregates": cells, "events": kept if self.kept_bytes else 0})
        return positive + largest_state(self.negations)
