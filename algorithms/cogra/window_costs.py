"""The selector of `cogra[windows=auto]`: each window, or panes, whichever costs less by the first batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cogra.kernels.pane_tables import pane_tables_of
from cepbench.algorithms.cogra.kernels.voidable_tables import voidable_tables_of
from cepbench.algorithms.rows import QueryRows
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part

PER_EVENT = 3
"""What an event costs by panes beside its rows, in updates of a cell (measured: `benchmarks/panes.py`)."""
PER_PRODUCT = 6
"""What a product of two cells costs, in updates of a cell."""


class ChosenByCost(Evaluator):
    """Becomes one of two evaluators with the first events of its sub-stream, by which their rate is estimated."""

    def __init__(
        self,
        query: CompiledQuery,
        part: Part,
        window: Window,
        each: Callable[[], Evaluator],
        panes: Callable[[], Evaluator],
    ) -> None:
        self.window = window
        self.each, self.panes = each, panes
        tables = part.tables
        self.bound = np.diff(tables.binding_ptr) > 0
        maps = voidable_tables_of(tables, len(part.negations)).panes if part.negations else pane_tables_of(tables)
        self.entries, columns = maps.enters.shape
        self.products = 2 * self.entries * columns**2 + columns * int(maps.end.sum())
        self.chosen: Evaluator | None = None
        self.by_panes = False

    def process(self, events: EventBatch) -> QueryRows | None:
        if self.chosen is None:
            if len(events) == 0:
                return None
            self.by_panes = self.panes_pay(_per_unit(events, self.bound))
            self.chosen = self.panes() if self.by_panes else self.each()
        return self.chosen.process(events)

    def finish(self) -> QueryRows | None:
        return None if self.chosen is None else self.chosen.finish()

    def state(self) -> StateSize:
        return StateSize() if self.chosen is None else self.chosen.state()

    def details(self) -> Mapping[str, float]:
        """`by_panes`: how many evaluators chose panes."""
        return {"by_panes": float(self.by_panes), **(self.chosen.details() if self.chosen else {})}

    def panes_pay(self, rate: float) -> bool:
        """Whether panes cost less for so many events of the pattern's types per unit of time.

        An event costs an update per window that holds it, or one per entry (`kernels.pane_tables`) and its share of
        the products that its pane takes. A slide has a pane, or two if windows also end inside of it.
        """
        window = self.window
        pane = window.slide if window.within % window.slide == 0 else window.slide / 2
        shared = max(rate * pane, 1e-9)
        least = self.entries + PER_EVENT + PER_PRODUCT * self.products / shared
        return bool(window.within > least * window.slide)


def _per_unit(events: EventBatch, bound: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """Events of the types that are `bound` per unit of time."""
    found = int(np.count_nonzero(bound[events.type]))
    return max(found - 1, 0) / max(int(events.time[-1] - events.time[0]), 1)
