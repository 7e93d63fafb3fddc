"""Evaluation of an expression, for one query and window (Hamlet's Section 3.3, Gloria's Section 3.2)."""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import Cells, counts_only
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.snapshots.kernels.cells import Index, Weighing
from cepbench.algorithms.snapshots.kernels.counts import evaluate_counts
from cepbench.algorithms.snapshots.kernels.products import add_product


@inner
def evaluate(
    to: Cells, i: int, cells: Cells, coefficient: Index, value: Index, count: Index, weights: Weighing, p: int,
    modular: bool,
) -> None:  # fmt: skip
    """Adds to cell i the value of an expression: `count` coefficients times the values of their snapshots. O(s).

    For position p, or what else has that number in `weights`. Rows of values may be stale where a coefficient is
    empty: those of snapshots that the query does not share.
    """
    if counts_only(to):
        evaluate_counts(to, i, cells, coefficient, value, count, modular)
        return
    for n in range(count):
        add_product(to, i, cells, int(coefficient) + n, int(value) + n, weights, p, modular)
