"""The choice of queries that share a burst (Section 4.3)."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.hamlet.kernels.benefit import KnownBurst, choose
from cepbench.algorithms.hamlet.sharing import COSTS


def burst(**changes: Any) -> KnownBurst:
    """Four classes of ten queries each, all alike in a burst of 100 events."""
    known: dict[str, Any] = {
        "size": 100, "reference": 0, "contexts": np.full(4, 10.0), "reads": np.full(4, 20.0),
        "matched": np.full(4, 100), "differs": np.zeros(4, np.int64), "alone": np.zeros(4, np.int64), "mixed": 0,
        "separate": np.zeros(4, np.bool_), "before": 0, "in_window": 500.0, "snapshots": 0,
        "visits": np.zeros(4, np.bool_),
    }  # fmt: skip
    return KnownBurst(**{**known, **changes})


def chosen(known: KnownBurst, paper: bool = False) -> tuple[list[bool], float, float]:
    flags = np.zeros((2, len(known.contexts)), np.bool_)
    plan, nothing = choose(known, COSTS, paper, flags[0], flags[1])
    return flags[0].tolist(), plan, nothing


@pytest.mark.parametrize("paper", [False, True])
def test_queries_without_snapshots_share(paper: bool) -> None:
    """Theorem 4.1."""
    found, plan, nothing = chosen(burst(), paper)
    assert found == [True] * 4
    assert plan < nothing


@pytest.mark.parametrize("paper", [False, True])
def test_queries_that_introduce_many_snapshots_do_not_share(paper: bool) -> None:
    """Theorem 4.2, Example 9: one is beneficial to share although it introduces a snapshot, another one is not."""
    known = burst(differs=np.array([0, 1, 0, 90]), alone=np.array([0, 1, 0, 90]), mixed=91)
    found, plan, nothing = chosen(known, paper)
    assert found == [True, True, True, False]
    assert plan < nothing


@pytest.mark.parametrize("paper", [False, True])
def test_a_single_event_is_not_worth_a_snapshot(paper: bool) -> None:
    known = burst(size=1, matched=np.full(4, 1), in_window=1.0)
    found, plan, nothing = chosen(known, paper)
    assert found == [False] * 4
    assert plan == nothing


def test_queries_of_one_class_share_at_least() -> None:
    """Each event is a snapshot for whoever shares with others; among themselves the queries of a class still do."""
    known = burst(separate=np.array([False, True, True, True]))
    assert chosen(known)[0] == [True, False, False, False]


def test_the_plan_is_no_worse_than_sharing_all_or_nothing() -> None:
    for differs, size, snapshots in product((0, 3, 40), (2, 20, 200), (0, 50)):
        known = burst(
            size=size, matched=np.full(4, size), differs=np.array([0, min(differs, size)] * 2),
            alone=np.zeros(4, np.int64), mixed=min(differs, size), snapshots=snapshots,
        )  # fmt: skip
        _, plan, nothing = chosen(known)
        assert plan <= nothing
