"""The choice of queries that share a burst (Section 4.3)."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.hamlet.kernels.benefit import ClassRecord, KnownBurst, choose
from cepbench.algorithms.hamlet.sharing import COSTS
from cepbench.queries.records import Records, records_of

Burst = tuple[Records, KnownBurst]


def burst(size: int = 100, mixed: int = 0, in_window: float = 500.0, snapshots: int = 0, **changes: Any) -> Burst:
    """Four classes of ten queries each, all alike in a burst of 100 events."""
    classes = np.zeros(4, records_of(ClassRecord))
    for name, values in ({"contexts": 10.0, "reads": 20.0, "matched": size} | changes).items():
        classes[name] = values
    return classes, KnownBurst(size, 0, mixed, 0, in_window, snapshots)


def chosen(known: Burst, paper: bool = False) -> tuple[list[bool], float, float]:
    plan, nothing = choose(*known, COSTS, paper)
    return known[0]["chosen"].tolist(), plan, nothing


@pytest.mark.parametrize("paper", [False, True])
def test_queries_without_snapshots_share(paper: bool) -> None:
    """Theorem 4.1."""
    found, plan, nothing = chosen(burst(), paper)
    assert found == [True] * 4
    assert plan < nothing


@pytest.mark.parametrize("paper", [False, True])
def test_queries_that_introduce_many_snapshots_do_not_share(paper: bool) -> None:
    """Theorem 4.2, Example 9: one is beneficial to share although it introduces a snapshot, another one is not."""
    known = burst(differs=(0, 1, 0, 90), alone=(0, 1, 0, 90), mixed=91)
    found, plan, nothing = chosen(known, paper)
    assert found == [True, True, True, False]
    assert plan < nothing


@pytest.mark.parametrize("paper", [False, True])
def test_a_single_event_is_not_worth_a_snapshot(paper: bool) -> None:
    known = burst(size=1, in_window=1.0)
    found, plan, nothing = chosen(known, paper)
    assert found == [False] * 4
    assert plan == nothing


def test_queries_of_one_class_share_at_least() -> None:
    """Each event is a snapshot for whoever shares with others; among themselves the queries of a class still do."""
    known = burst(separate=(False, True, True, True))
    assert chosen(known)[0] == [True, False, False, False]


def test_the_plan_is_no_worse_than_sharing_all_or_nothing() -> None:
    for differs, size, snapshots in product((0, 3, 40), (2, 20, 200), (0, 50)):
        few = min(differs, size)
        known = burst(size=size, differs=(0, few, 0, few), mixed=few, snapshots=snapshots)
        _, plan, nothing = chosen(known)
        assert plan <= nothing
