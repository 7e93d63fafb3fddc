"""The choice of queries that share a burst (Section 4.3)."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.trends.hamlet.kernels.benefit import choose, defer_join, defer_split
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord, ClassRecord
from cepbench.algorithms.trends.hamlet.sharing import COSTS
from cepbench.queries.records import Records, records_of

Burst = tuple[Records, Any]


def burst(size: int = 100, mixed: int = 0, in_window: float = 500.0, snapshots: int = 0, **changes: Any) -> Burst:
    """Four classes of ten queries each, all alike in a burst of 100 events."""
    classes = np.zeros(4, records_of(ClassRecord))
    for name, values in ({"contexts": 10.0, "reads": 20.0, "matched": size} | changes).items():
        classes[name] = values
    classes["settled"][0] = True  # the reference
    bursts = np.zeros(1, records_of(BurstRecord))
    for name, value in {"size": size, "mixed": mixed, "in_window": in_window, "snapshots": snapshots}.items():
        bursts[name] = value
    return classes, bursts[0]


def chosen(case: Burst, paper: bool = False) -> tuple[list[bool], float, float]:
    shared, alone = choose(*case, COSTS[0], paper)
    return case[0]["chosen"].tolist(), shared, alone


@pytest.mark.parametrize("paper", [False, True])
def test_queries_without_snapshots_share(paper: bool) -> None:
    """Theorem 4.1."""
    sharing, shared, alone = chosen(burst(), paper)
    assert sharing == [True] * 4
    assert shared < alone


@pytest.mark.parametrize("paper", [False, True])
def test_queries_that_introduce_many_snapshots_do_not_share(paper: bool) -> None:
    """Theorem 4.2, Example 9: one is beneficial to share although it introduces a snapshot, another one is not."""
    case = burst(differs=(0, 1, 0, 90), alone=(0, 1, 0, 90), mixed=91)
    sharing, shared, alone = chosen(case, paper)
    assert sharing == [True, True, True, False]
    assert shared < alone


@pytest.mark.parametrize("paper", [False, True])
def test_a_single_event_is_not_worth_a_snapshot(paper: bool) -> None:
    case = burst(size=1, in_window=1.0)
    sharing, shared, alone = chosen(case, paper)
    assert sharing == [False] * 4
    assert shared >= alone


def test_queries_of_one_class_share_at_least() -> None:
    """Each event is a snapshot for whoever shares with others; among themselves the queries of a class still do."""
    case = burst(separate=(False, True, True, True))
    assert chosen(case)[0] == [True, False, False, False]


def test_somebody_shares_if_it_costs_less_than_nothing_shared() -> None:
    for differs, size, snapshots in product((0, 3, 40), (2, 20, 200), (0, 50)):
        few = min(differs, size)
        case = burst(size=size, differs=(0, few, 0, few), mixed=few, snapshots=snapshots)
        sharing, shared, alone = chosen(case)
        assert any(sharing) is (shared < alone)


def test_queries_leave_shared_graphlets_once_they_paid_what_a_split_takes() -> None:
    """Short bursts cost more if they are shared, and the events before have to be taken along."""
    costs, loss, deferred = COSTS[1]._replace(split=50.0), 0.0, 0
    while True:
        classes, decided = burst(size=1, visits=True, active=10.0, leaving=(0.0, 500.0, 500.0, 0.0))
        decided["shared"], decided["alone"] = choose(classes, decided, costs, False)
        assert not classes["chosen"].any()
        before, loss = loss, defer_split(classes, decided, costs, loss)
        if not classes["chosen"].any():
            break
        assert classes["chosen"].tolist() == [False, True, True, False]
        assert before < loss < 50_000
        deferred += 1
    assert deferred > 0
    assert loss == 0


def test_bursts_that_gain_by_sharing_pay_back() -> None:
    classes, decided = burst(visits=True, active=10.0, leaving=500.0)
    decided["shared"], decided["alone"] = choose(classes, decided, COSTS[1], False)
    assert classes["chosen"].all()
    gain = decided["alone"] - decided["shared"]
    assert defer_split(classes, decided, COSTS[1], gain + 7.0) == pytest.approx(7.0)
    assert defer_split(classes, decided, COSTS[1], gain / 2) == 0


def test_queries_join_once_they_missed_what_a_later_split_takes() -> None:
    """A single burst that gains among many that lose would make all of them share, and then leave."""
    costs, missed, deferred = COSTS[1]._replace(split=200.0), 0.0, 0
    while True:
        classes, decided = burst(visits=True, active=10.0, leaving=(0.0, 0.0, 500.0, 500.0))
        decided["before"] = 500
        decided["shared"], decided["alone"] = choose(classes, decided, costs, False)
        assert classes["chosen"].all()
        before, missed = missed, defer_join(classes, decided, costs, missed)
        if classes["chosen"].all():
            break
        assert classes["chosen"].tolist() == [False, False, True, True]
        assert before < missed < 2 * 10 * 450 * 200
        deferred += 1
    assert deferred > 0
    assert missed == 0


def test_queries_wait_to_join_while_others_leave() -> None:
    classes, decided = burst(visits=True, active=10.0, leaving=(0.0, 0.0, 500.0, 500.0))
    decided["before"] = 500
    decided["shared"], decided["alone"] = choose(classes, decided, COSTS[1], False)
    classes["chosen"][3] = False
    assert defer_join(classes, decided, COSTS[1]._replace(split=200.0), 0.0) > 0
    assert classes["chosen"].tolist() == [False, False, True, False]


def test_bursts_that_lose_by_sharing_are_deducted_from_the_missed_gain() -> None:
    classes, decided = burst(size=1, visits=True, active=10.0)
    decided["shared"], decided["alone"] = choose(classes, decided, COSTS[1], False)
    loss = decided["shared"] - decided["alone"]
    assert not classes["chosen"].any()
    assert defer_join(classes, decided, COSTS[1], loss + 7.0) == pytest.approx(7.0)
    assert defer_join(classes, decided, COSTS[1], loss / 2) == 0


def test_queries_without_events_of_their_own_join_at_once() -> None:
    classes, decided = burst(visits=True, active=10.0)
    decided["shared"], decided["alone"] = choose(classes, decided, COSTS[1], False)
    assert defer_join(classes, decided, COSTS[1], 0.0) == 0
    assert classes["chosen"].all()
