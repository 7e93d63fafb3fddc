"""Invariants of the nodes of the compact set, on any stream."""

from __future__ import annotations

import numpy as np
import pytest

from cepbench.algorithms.detection.core.kernels.compact_set import NONE
from cepbench.algorithms.detection.core.runs import Runs
from tests.algorithms.detection.core.running import feed, runs_of, uniform


def check(runs: Runs) -> int:
    """All live nodes; returns how many unions there are."""
    nodes, count, unions = runs.set.node, runs.set.counters[0], 0
    mask, first = len(nodes) - 1, int(count["live"])
    for n in range(first, int(count["next_node"])):
        node = nodes[n & mask]
        left, following = int(node["left"]), int(node["next"])
        assert left < n
        assert following < n
        if node["place"] == NONE:
            unions += 1
            assert following != NONE
            if left >= first:
                assert nodes[left & mask]["place"] != NONE, "left of a union is a cell"
        if left >= first:
            assert nodes[left & mask]["latest"] == node["latest"], "the latest start comes first"
        if following >= first:
            assert nodes[following & mask]["latest"] <= node["latest"], "starts are in order"
        assert node["latest"] <= node["born"]
    return unions


@pytest.mark.parametrize("unit", ["s", "events"])
@pytest.mark.parametrize(
    ("pattern", "ties"),
    [
        ("SEQ((A OR B OR C)+ x, L)", 1),
        ("SEQ((A OR B OR C)+ x, L)", 3),
        ("SEQ(A+, B+, C+, L) OR SEQ(B+, A+, C, L) OR SEQ(C, A+, B+, L)", 2),
        ("SEQ(A, A+, B, A+, L)", 1),
        ("SEQ((A OR B)+ x, (B OR C)+ y, (C OR A)+ z, L)", 2),
    ],
)
def test_nodes_are_in_order_of_their_latest_starts(pattern: str, ties: int, unit: str) -> None:
    runs, events, unions = runs_of(f"{pattern} WITHIN 12 {unit}"), uniform(400, ties=ties), 0
    for start in range(0, 400, 5):
        feed(runs, events.slice(start, start + 5))
        unions += check(runs)
        lists = runs.cea.list_ptr
        for state, merged in enumerate(runs.set.merged.tolist()):
            heads = runs.set.head[runs.cea.list[lists[state] : lists[state + 1]]]
            live = [int(n) for n in heads if n >= runs.set.counters[0]["live"]]
            if merged >= runs.set.counters[0]["live"] and live:
                latest = runs.set.node["latest"][np.array([merged, *live]) & (len(runs.set.node) - 1)]
                assert latest[0] <= max(latest[1:])
    assert unions > 0
