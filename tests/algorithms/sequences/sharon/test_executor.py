"""Sharing plans are really executed: any valid plan gives the oracle's rows, and a shared pattern is counted once."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from random import Random
from typing import Any

import pandas as pd
import pytest

from cepbench.algorithms.oracle import TooManyMatches
from cepbench.algorithms.sequences.executor import sequence_operator
from cepbench.algorithms.sequences.plan import Candidate, SharingPlan
from cepbench.algorithms.sequences.segments import InvalidPlan
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload
from cepbench.verification.evaluators import OneKey
from tests.algorithms.sequences.sharon.plans import wrong
from tests.algorithms.sequences.sharon.random_plans import (
    WorkloadCase,
    answers,
    compiled,
    empty_plan,
    random_plan,
    random_workload,
)
from tests.contract.streams import batch
from tests.streams import stream


@pytest.mark.parametrize("seed", range(15))
def test_any_valid_plan_is_right(seed: int) -> None:
    random = Random(seed)
    case = random_workload(random)
    workload, _ = compiled(case)
    plans = [empty_plan(workload), random_plan(random, workload), random_plan(random, workload)]
    try:
        reasons = [wrong(case, plan) for plan in plans]
    except TooManyMatches:
        return
    assert reasons == [None] * len(plans)


def shared_plan(texts: Sequence[str], events: Any, *shared: Candidate) -> SharingPlan:
    """A plan over queries that are not named."""
    workload = compile_workload(parse_workload("\n\n".join(texts)), events.schema)
    return SharingPlan(workload, empty_plan(workload).sequences, shared)


def run(plan: SharingPlan, events: Any) -> tuple[dict[int, list[list[int]]], OneKey]:
    """Windows and counts by query, and the executor."""
    executor = OneKey(sequence_operator(plan))
    found: dict[int, list[list[int]]] = {}
    for part in (executor.process(events), executor.finish()):
        for query, rows in part.items():
            pairs = zip(rows.window.tolist(), rows.ring[:, 0].tolist(), strict=True)  # type: ignore[union-attr]
            found.setdefault(query, []).extend([list(pair) for pair in pairs])
    return found, executor


def pattern(plan: SharingPlan, offset: int, length: int, sequences: Sequence[int]) -> Candidate:
    """A candidate with one offset in all of its sequences."""
    symbols = plan.sequences[sequences[0]].symbols[offset : offset + length]
    return Candidate(symbols, tuple((sequence, offset) for sequence in sequences))


def test_figure_22_3() -> None:
    events = batch(stream("A1 B2 A3 C3 B4 B5 D5 C7 D8"))
    text = "RETURN COUNT(*) PATTERN SEQ(A, B, C, D)"
    plan = shared_plan([text, text], events)
    for shared in ([pattern(plan, 0, 2, [0, 1]), pattern(plan, 2, 2, [0, 1])], [pattern(plan, 2, 2, [0, 1])], []):
        found, _ = run(SharingPlan(plan.workload, plan.sequences, tuple(shared)), events)
        assert found == {0: [[0, 7]], 1: [[0, 7]]}


@pytest.mark.parametrize("window", ["", "WITHIN 100 s SLIDE 50 s"])
def test_a_shared_pattern_is_counted_once(window: str) -> None:
    """k queries (X_i, A, B, C) share (A, B, C): its counters are updated once, not k times."""
    first = "STUVWXYZ"
    k = len(first)
    events = batch(stream(" ".join(f"{name}1" for name in first) + " A2 A3 B4 B5 C6 C7 C8"))
    texts = [f"RETURN COUNT(*) PATTERN SEQ({name}, A, B, C) {window}" for name in first]
    alone = shared_plan(texts, events)
    together = SharingPlan(alone.workload, alone.sequences, (pattern(alone, 1, 3, range(k)),))
    (expected, executor), (found, sharing) = run(alone, events), run(together, events)
    assert found == expected
    assert found[0][0] == [0, 12]
    own = k  # the START events of the private prefixes
    live = 2  # START events of (A, B, C)
    assert sharing.details()["updates"] == own + live + live * 2 + live * 3
    assert executor.details()["updates"] == own + k * (2 + 2 + 3)  # one START event each
    assert executor.details()["combinations"] == 0
    assert sharing.details()["combinations"] > 0


def test_a_prefix_that_is_shared_is_counted_once() -> None:
    events = batch(stream("A1 A2 B3 B4 C5 D5 C6 D6"))
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B, {last}) WITHIN 8 s SLIDE 2 s" for last in "CD"]
    alone = shared_plan(texts, events)
    together = SharingPlan(alone.workload, alone.sequences, (pattern(alone, 0, 2, [0, 1]),))
    (expected, executor), (found, sharing) = run(alone, events), run(together, events)
    assert found == expected
    assert found[0][0] == [0, 8]
    assert executor.details()["updates"] == 2 * (2 + 2 * 2 + 2 * 2)
    in_windows = 3 + 4  # of C5 and C6: what continues a shared prefix has a counter per window
    assert sharing.details()["updates"] == 2 + 2 * 2 + 2 * in_windows


@pytest.mark.parametrize("window", ["", "WITHIN 10000 s SLIDE 1000 s"])
@pytest.mark.parametrize("cuts", [(), (3, 6), (1, 2, 3, 4, 5, 6, 7)])
@pytest.mark.parametrize("apart", [False, True])
def test_the_range_of_counts_is_exact(window: str, cuts: tuple[int, ...], apart: bool) -> None:
    """256 events of each of 8 types, and one more: 2^64 sequences, too many; with one event less, 255 * 2^56."""
    text = f"RETURN COUNT(*), COUNT(A), SUM(H.x), MIN(H.x) PATTERN SEQ(A, B, C, D, E, F, G, H, I) {window}"
    less = [[255 if place == lacking else 256 for place in range(8)] for lacking in (0, 3, 7)]
    near = [242, 246, 256, 259, 257, 257, 266, 266]  # a little less than 2^32 below 2^64
    for sizes in ([256] * 8, *less, near):
        count = prod(sizes)
        listed = [
            {"time": 300 * place + i if apart else place, "type": name, "x": -1}
            for place, name in enumerate("ABCDEFGHI")
            for i in range([*sizes, 1][place])
        ]
        events = batch(listed)
        plan = shared_plan([text, text], events)
        shared = [pattern(plan, begin, end - begin, [0, 1]) for begin, end in pairwise((0, *cuts, 9))]
        case = WorkloadCase(tuple(q.query for q in plan.workload), tuple(listed), (700,), True, False)
        for candidates in (shared, shared[1::2], shared[::2]):
            row = answers(SharingPlan(plan.workload, plan.sequences, tuple(candidates)), events, case).iloc[0]
            assert row["overflow"]  # of SUM, whose range ends at 2^63
            assert row["MIN(H.x)"] == -1
            assert pd.isna(row["COUNT(*)"]) == pd.isna(row["COUNT(A)"]) == (count >= 2**64)
            assert count >= 2**64 or row["COUNT(*)"] == row["COUNT(A)"] == count


def test_what_continues_a_shared_prefix_needs_no_start_events_in_windows_that_do_not_overlap() -> None:
    events = batch(stream("A1 A2 B3 B4 B4 C5 D5 C6 D6 B9 A9 B10 C11"))
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B, {last}, B) WITHIN 20 s" for last in "CD"]
    alone = shared_plan([text.replace(", B)", ")") for text in texts], events)
    together = SharingPlan(alone.workload, alone.sequences, (pattern(alone, 0, 2, [0, 1]),))
    (expected, executor), (found, sharing) = run(alone, events), run(together, events)
    assert found == expected
    assert found == {0: [[0, 6 + 6 + 11]], 1: [[0, 6 + 6]]}
    assert executor.details()["updates"] == 2 * (3 + 4) + 3 + 2  # the two B at time 4 act together
    assert sharing.details() == {"updates": 3 + 4 + 3 + 2, "combinations": 0}
    longer = shared_plan(texts, events)  # a B at which the prefix ends also continues it, but not with itself
    plan = SharingPlan(longer.workload, longer.sequences, (pattern(longer, 0, 2, [0, 1]),))
    assert run(plan, events)[0] == run(longer, events)[0] == {0: [[0, 24]], 1: [[0, 24]]}


def test_older_events_of_long_streams_take_no_room() -> None:
    events = batch([{"time": t, "type": "ABCD"[t % 4]} for t in range(4000)])
    texts = ["RETURN COUNT(*) PATTERN SEQ(A, B, C, D) WITHIN 40 s SLIDE 4 s"] * 2
    plan = shared_plan(texts, events)
    shared = SharingPlan(plan.workload, plan.sequences, (pattern(plan, 2, 2, [0, 1]),))
    executor = OneKey(sequence_operator(shared))
    sizes, kept = [], []
    for begin in range(0, 4000, 100):
        executor.process(events.slice(begin, begin + 100))
        pickled = pickle.dumps(executor)
        executor = pickle.loads(pickled)
        kept.append(len(pickled))  # all that an executor holds, dead or live
        sizes.append(executor.state().bytes)
        assert executor.state().kinds["events"] <= 40
        assert executor.state().kinds["snapshots"] > 0
    assert max(sizes[20:]) <= max(sizes[:20])
    assert max(kept[10:]) <= max(kept[:10])


def test_invalid_plans_are_refused() -> None:
    events = batch(stream("A1 B2 C3 D4"))
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B, NOT {negated}, C, D)" for negated in "XY"]
    plan = shared_plan(texts, events)
    for candidates, problem in (
        ([pattern(plan, 0, 2, [0, 1])], "next to a negated type"),
        ([pattern(plan, 0, 4, [0, 1])], "other negations"),
        ([Candidate(plan.sequences[0].symbols[:2], ((0, 2), (1, 2)))], "an occurrence that does not match its pattern"),
        ([Candidate((), ((0, 1), (1, 1)))], "an occurrence that does not match its pattern"),
    ):
        with pytest.raises(InvalidPlan, match=problem):
            OneKey(sequence_operator(SharingPlan(plan.workload, plan.sequences, tuple(candidates))))
    plain = shared_plan(["RETURN COUNT(*) PATTERN SEQ(A, B, C, D)"] * 2, events)
    crossing = (pattern(plain, 0, 2, [0, 1]), pattern(plain, 1, 2, [0, 1]))
    with pytest.raises(InvalidPlan, match="overlap"):
        OneKey(sequence_operator(SharingPlan(plain.workload, plain.sequences, crossing)))
