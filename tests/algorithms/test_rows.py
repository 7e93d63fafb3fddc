"""Rows of executors."""

import numpy as np
import pytest

from cepbench.algorithms.rows import AggregateRows


@pytest.mark.parametrize(
    ("arithmetic", "ring", "overflow"),
    [("modular", [2, 2**64 - 1, 5], [0, 0, 1]), ("float", [2.0, 2.0**64, 2.0**64], [0, 0, 0])],
)
def test_exact_counts_become_rows(arithmetic: str, ring: list[float], overflow: list[int]) -> None:
    rows = AggregateRows.of_counts({4: 2**64 - 1, 0: 2, 3: 0, 7: 2**64 + 5}, arithmetic)
    assert rows is not None
    assert rows.window.tolist() == [0, 4, 7]
    assert rows.ring[:, 0].tolist() == ring
    assert rows.overflow.tolist() == overflow
    assert (rows.real.shape, rows.least.shape) == ((3, 0), (3, 0))


def test_counts_beyond_floats_are_infinite() -> None:
    rows = AggregateRows.of_counts({0: 2**5000, 1: 2**1022}, "float")
    assert rows is not None
    assert rows.ring[:, 0].tolist() == [np.inf, 2.0**1022]
    assert rows.overflow.tolist() == [1, 0]


@pytest.mark.parametrize("counts", [{}, {3: 0}])
def test_no_trend_has_no_row(counts: dict[int, int]) -> None:
    assert AggregateRows.of_counts(counts, "modular") is None
