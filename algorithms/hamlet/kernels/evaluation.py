"""Evaluation of a graphlet's expressions, for one query and window (Section 3.3)."""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import Cells, counts_only
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.snapshots.kernels.cells import Index, Weighing
from cepbench.algorithms.snapshots.kernels.counts import evaluate_counts
from cepbench.algorithms.snapshots.kernels.products import add_product
from cepbench.queries.records import Records


@inner
def evaluate(
    to: Cells, i: int, row: Index, value: int, first: int, stop: Index, g: int, cells: Cells, snapshot: Records,
    weights: Weighing, p: int, modular: bool,
) -> None:  # fmt: skip
    """Adds to cell i the value of an expression over the snapshots `first` to `stop` of group g, for position p.

    Its coefficients are in row `row` of `GraphletStore.cells`, the snapshots' values in row `value`. O(s).
    """
    most = len(snapshot)
    if counts_only(to):
        evaluate_counts(to, i, cells, row * most + first, value * most + first, stop - first, modular)
        return
    for s in range(first, stop):
        if snapshot[s].group == g:
            add_product(to, i, cells, int(row) * most + s, value * most + s, weights, p, modular)
