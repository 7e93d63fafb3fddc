"""The selector of `cogra[windows=auto]`: by window or by panes, whichever costs less for the first events."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from cepbench.algorithms.base import KeyedBatch, Operator, StateSize
from cepbench.algorithms.cogra.capabilities import not_linear
from cepbench.algorithms.cogra.panes import pane_maps_of
from cepbench.algorithms.rows import KeyedRows
from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import Schema
from cepbench.queries.compile import CompiledQuery, Part, Workload

PER_EVENT = 3
"""Cost of an event by panes in addition to its rows, in cell updates (measured: `benchmarks/panes.py`)."""
PER_PRODUCT = 6
"""Cost of a product of two cells, in cell updates."""
PER_CALL = 5000
"""Cost by panes of a key with events in a batch, in cell updates of 3 ns: panes have an executor per key. About 15
microseconds, estimated and not fitted."""


class ChosenByCost(Operator):
    """Chooses one of two operators at the first events, by the rate of a key."""

    def __init__(self, workload: Workload, each: Callable[[], Operator], panes: Callable[[], Operator]) -> None:
        self.workload = workload
        self.each, self.panes = each, panes
        self.chosen: Operator | None = None
        self.by_panes = False

    def process(self, batch: KeyedBatch) -> KeyedRows:
        if self.chosen is None:
            if len(batch.keys) == 0:
                return {}
            self.by_panes = sum(panes_gain(query, batch) for query in self.workload) > PER_CALL * len(batch.keys)
            self.chosen = self.panes() if self.by_panes else self.each()
        return self.chosen.process(batch)

    def finish(self) -> KeyedRows:
        return {} if self.chosen is None else self.chosen.finish()

    def state(self) -> StateSize:
        return StateSize() if self.chosen is None else self.chosen.state()

    def details(self) -> Mapping[str, float]:
        """`by_panes`: number of operators that chose panes."""
        return {"by_panes": float(self.by_panes), **(self.chosen.details() if self.chosen else {})}

    def load(self) -> None:
        """Runs both on one event, since a warm-up on few events chooses only one of them."""
        for made in (self.each(), self.panes()):
            made.load()
            made.process(KeyedBatch.of_one_key(_any_event(self.workload.schema)))
            made.finish()

    def idle(self) -> Operator:
        return self.each().idle() if self.chosen is None else self.chosen.idle()


def _any_event(schema: Schema) -> EventBatch:
    columns = {attribute.name: np.zeros(1, DTYPES[attribute.kind]) for attribute in schema.attributes}
    return EventBatch(schema, np.zeros(1, np.int64), np.zeros(1, np.int32), columns, np.zeros(1, np.int64))


def panes_gain(query: CompiledQuery, batch: KeyedBatch) -> float:
    """Updates of cells that panes save a query with the events of a batch; 0 where they do not evaluate it.

    An event costs an update per window that holds it, or one per entry (`kernels.pane_tables`) and its share of
    the products that its pane takes. A slide has a pane, or two if windows also end inside of it.
    """
    window = query.window
    if window is None or window.counts_events:
        return 0.0
    pane = window.slide if window.within % window.slide == 0 else window.slide / 2
    parts = [part for part in query.parts if not_linear(part.automaton, query.query.semantics) is None]
    return sum(_gain(part, window.within / window.slide, pane, batch) for part in parts)


def _gain(part: Part, windows: float, pane: float, batch: KeyedBatch) -> float:
    tables = part.tables
    maps, _ = pane_maps_of(part)
    entries, columns = maps.enters.shape
    products = 2 * entries * columns**2 + columns * int(maps.end.sum())
    found = int(np.count_nonzero((np.diff(tables.binding_ptr) > 0)[batch.events.type]))
    shared = max(_per_unit(found, batch) * pane, 1e-9)
    saved: float = windows - entries - PER_EVENT - PER_PRODUCT * products / shared
    return found * saved


def _per_unit(events: int, batch: KeyedBatch) -> float:
    """So many events per unit of time and key."""
    time = batch.events.time
    span = int(time.max()) - int(time.min())
    return max(events - 1, 0) / max(span, 1) / len(batch.keys)
