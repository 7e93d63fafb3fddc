"""The choice of `cogra[windows=auto]`: by window or by panes, whichever costs less for the first events."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.base import KeyedBatch
from cepbench.algorithms.cogra.capabilities import not_linear
from cepbench.algorithms.cogra.kernels.pane_tables import pane_tables_of
from cepbench.queries.compile import CompiledQuery, Part, Workload

PER_EVENT = 3
"""Cost of an event by panes in addition to its rows, in cell updates (measured: `benchmarks/panes.py`)."""
PER_PRODUCT = 6
"""Cost of a product of two cells, in cell updates."""
PER_CALL = 5000
"""Cost by panes of a key with events in a batch, in cell updates of 3 ns: panes have an executor per key. About 15
microseconds, estimated and not fitted."""


def prefers_panes(workload: Workload, batch: KeyedBatch) -> bool:
    """Whether panes save more on the first events than a call per key costs."""
    return sum(panes_gain(query, batch) for query in workload) > PER_CALL * len(batch.keys)


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
    maps = pane_tables_of(tables).maps
    entries, columns = len(maps.stopped), len(maps.after)
    products = 2 * entries * columns**2 + columns * maps.starts * maps.ends
    found = int(np.count_nonzero((np.diff(tables.binding_ptr) > 0)[batch.events.type]))
    shared = max(_per_unit(found, batch) * pane, 1e-9)
    saved: float = windows - entries - PER_EVENT - PER_PRODUCT * products / shared
    return found * saved


def _per_unit(events: int, batch: KeyedBatch) -> float:
    """So many events per unit of time and key."""
    time = batch.events.time
    span = int(time.max()) - int(time.min())
    return max(events - 1, 0) / max(span, 1) / len(batch.keys)
