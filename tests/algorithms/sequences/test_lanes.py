"""Lanes of sequence counters: keys that need more room than others, and queries that share."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from cepbench.algorithms.base import KeyedBatch, StateSize
from cepbench.algorithms.compose import Several
from cepbench.algorithms.registry import make
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Job
from cepbench.verification.evaluators import OneKey
from tests.contract.keyed_streams import SCHEMA, by_executors, by_operator, jobs_of

ASEQ = make("aseq")
LONG = "RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A, B) GROUP-BY g WITHIN 1000 s SLIDE 300 s"


def batch(times: Sequence[int], groups: Sequence[int], kinds: Sequence[int]) -> EventBatch:
    """Events of groups, each with its place as x."""
    n = len(times)
    columns = {
        "g": np.array(groups, np.int64),
        "h": np.zeros(n, np.int32),
        "x": np.arange(n, dtype=np.int64),
        "y": np.zeros(n),
    }
    return EventBatch(
        SCHEMA, np.array(times, np.int64), np.array(kinds, np.int32), columns, np.arange(n, dtype=np.int64)
    )


def lanes_of(job: Job) -> tuple[Several, SequenceCounter]:
    """Lanes, and their only evaluator."""
    lanes = ASEQ.operator(job.plan)
    assert isinstance(lanes, Several)
    [evaluator] = lanes.parts
    assert isinstance(evaluator, SequenceCounter)
    return lanes, evaluator


def test_a_crowded_key_moves_to_more_room() -> None:
    """Two thirds of the events are those of group 1, which has more START events at a time than there is room for."""
    [job] = jobs_of(ASEQ, [LONG])
    numbers = np.random.default_rng(3)
    n = 2400
    events = batch(
        np.arange(n).tolist(),
        np.where(np.arange(n) % 3 > 0, 1, numbers.choice([0, 2], n)).tolist(),
        numbers.integers(0, 2, n).tolist(),
    )
    pieces = [events.slice(start, start + 200, watermark=start + 200) for start in range(0, n, 200)]
    found, _ = by_operator(ASEQ.operator(job.plan), job, pieces, pickled=True, look=True)
    pd.testing.assert_frame_equal(found.frame(), by_executors(ASEQ, job, pieces).frame())

    lanes, evaluator = lanes_of(job)
    executors = [OneKey(ASEQ.operator(job.plan)) for _ in range(3)]
    whole = events.slice(0, 300)
    order = np.argsort(whole.columns["g"], kind="stable")
    begin = np.searchsorted(whole.columns["g"][order], np.arange(4))
    by_group = whole.take(order)
    lanes.process(KeyedBatch(by_group, np.arange(3), begin, 3))
    capacity = evaluator.lanes.slots.place["capacity"][:, 0]
    assert capacity[1] > capacity[0] == capacity[2]
    for executor, start, stop in zip(executors, begin[:-1], begin[1:], strict=True):
        executor.process(by_group.slice(int(start), int(stop)))
    state, wanted = lanes.state(), sum((executor.state() for executor in executors), StateSize())
    assert (state.bytes, state.kinds) == (wanted.bytes, wanted.kinds)
    updates = sum(executor.details()["updates"] for executor in executors)
    assert lanes.details()["updates"] == updates > 0


def test_room_for_more_keys_is_no_state() -> None:
    [job] = jobs_of(ASEQ, ["RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A, B) GROUP-BY g WITHIN 10 s"])
    lanes, evaluator = lanes_of(job)
    lanes.process(KeyedBatch(batch([1] * 4, range(4), [0] * 4), np.arange(4), np.arange(5), 4))
    four = lanes.state()
    lanes.process(KeyedBatch(batch([1], [4], [0]), np.array([4]), np.array([0, 1]), 5))
    assert len(evaluator.ends) > 5
    assert 4 * lanes.state().bytes == 5 * four.bytes


@pytest.mark.full
def test_queries_that_share_have_rows_of_their_own() -> None:
    texts = [
        f"RETURN g, {returns} PATTERN {pattern} GROUP-BY g WITHIN 20 s SLIDE 10 s"
        for returns, pattern in (("COUNT(*)", "SEQ(A, B)"), ("SUM(A.x)", "SEQ(A, B, C)"), ("MIN(B.x)", "SEQ(B, A)"))
    ]
    for algorithm in (ASEQ, make("sharon")):
        [job] = jobs_of(algorithm, texts)
        numbers = np.random.default_rng(5)
        n = 300
        events = batch(
            (np.arange(n) // 3).tolist(), numbers.integers(0, 7, n).tolist(), numbers.integers(0, 3, n).tolist()
        )
        pieces = [events.slice(0, 100), events.slice(100, n)]
        found, _ = by_operator(algorithm.operator(job.plan), job, pieces)
        pd.testing.assert_frame_equal(found.frame(), by_executors(algorithm, job, pieces).frame())
