"""An operator of many keys gives the rows of an executor per key, whatever the cuts.

`CEPBENCH_KEYED_CASES` for more cases.
"""

import os
from random import Random

import numpy as np
import pandas as pd
import pytest

from cepbench.algorithms.base import Algorithm, KeyedBatch, OutOfOrder
from cepbench.algorithms.registry import algorithms, make
from cepbench.events.batch import EventBatch
from cepbench.verification.evaluators import OneKey
from tests.contract.keyed_streams import SCHEMA, by_executors, by_operator, jobs_of, random_pieces, random_queries

CASES = int(os.environ.get("CEPBENCH_KEYED_CASES", "40"))
EACH = "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g WITHIN 4 s SLIDE 2 s"


@pytest.fixture(params=[kind.name for kind in algorithms() if not kind.detects and kind.missing() is None])
def keyed(request: pytest.FixtureRequest) -> Algorithm:
    """An algorithm that evaluates windows."""
    return make(request.param)


@pytest.mark.parametrize(
    ("arithmetic", "cases"),
    [
        pytest.param("modular", CASES, id="modular"),
        pytest.param("float", CASES // 4, id="float", marks=pytest.mark.full),
    ],
)
def test_random_streams_get_the_answer_of_executors(keyed: Algorithm, arithmetic: str, cases: int) -> None:
    """There are fewer float cases, since floats need kernels of their own for every shape of cells."""
    compared = 0
    for seed in range(cases):
        random = Random(seed)
        texts, pieces = random_queries(random, keyed), random_pieces(random)
        for job in jobs_of(keyed, texts, arithmetic) if texts else ():
            operator = keyed.operator(job.plan)
            actual, _ = by_operator(operator, job, pieces, pickled=seed % 3 == 0, look=seed % 2 == 0)
            compared += 1
            expected = by_executors(keyed, job, pieces)
            where = f"seed {seed}: {texts}"
            pd.testing.assert_frame_equal(actual.frame(), expected.frame(), rtol=1e-9, obj=where)
            assert actual.digest() == expected.digest(), where
    assert compared >= cases // 10


def grouped(times: list[int], groups: list[int]) -> EventBatch:
    """A and B in turn."""
    n = len(times)
    nothing = np.zeros(n, np.int64)
    columns = {"g": np.array(groups), "h": nothing.astype(np.int32), "x": nothing, "y": nothing.astype(float)}
    kinds = (np.arange(n) % 2).astype(np.int32)
    return EventBatch(SCHEMA, np.array(times, np.int64), kinds, columns, np.arange(n, dtype=np.int64))


def test_older_events_are_refused(keyed: Algorithm) -> None:
    [job] = jobs_of(keyed, [EACH])
    events = grouped([5, 6, 1, 2], [0, 0, 1, 1])
    first = KeyedBatch(events.slice(0, 2), np.array([0]), np.array([0, 2]), 1)
    for later in (events.slice(2, 4), grouped([8, 7], [1, 1])):
        operator = keyed.operator(job.plan)
        operator.process(first)
        with pytest.raises(OutOfOrder):
            operator.process(KeyedBatch(later, np.array([1]), np.array([0, 2]), 2))


def test_keys_of_one_batch_have_clocks_of_their_own(keyed: Algorithm) -> None:
    [job] = jobs_of(keyed, [EACH])
    operator = keyed.operator(job.plan)
    operator.process(KeyedBatch(grouped([7, 9, 1, 2], [0, 0, 1, 1]), np.array([0, 1]), np.array([0, 2, 4]), 2))
    assert sorted(operator.finish()[0].key.tolist()) == [0, 1]


def test_the_state_of_an_operator_is_that_of_its_executors(keyed: Algorithm) -> None:
    [job] = jobs_of(keyed, [EACH])
    operator = keyed.operator(job.plan)
    executors = [OneKey(keyed.operator(job.plan)) for _ in range(3)]
    events = grouped([1, 2, 3, 3, 3, 3, 3, 4, 5], [0, 0, 0, 1, 1, 1, 2, 2, 2])
    offsets = [0, 3, 6, 9]
    operator.process(KeyedBatch(events, np.arange(3), np.array(offsets), 3))
    for executor, start, stop in zip(executors, offsets[:-1], offsets[1:], strict=True):
        executor.process(events.slice(start, stop))
    for _ in range(2):  # the largest, and then what is live
        size, states = operator.state(), [executor.state() for executor in executors]
        assert size.bytes == sum(state.bytes for state in states)
        assert size.kinds == sum(states[1:], states[0]).kinds
        assert size.reserved < 100_000


@pytest.mark.parametrize("name", [kind.name for kind in algorithms() if kind.missing() is None])
def test_a_stream_without_keys_is_one_key(name: str) -> None:
    algorithm = make(name)
    text = EACH.replace("g, ", "").replace("GROUP-BY g ", "")
    if algorithm.detects:
        text = "PATTERN SEQ(A, B) WITHIN 4 s PER MATCH"
    [job] = jobs_of(algorithm, [text])
    answers = []
    events = grouped([1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 0, 1])
    for cut in (0, 3):
        answer, _ = by_operator(algorithm.operator(job.plan), job, [events.slice(0, cut), events.slice(cut, 6)])
        answers.append(answer.digest())
    assert answer.rows
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "query",
    ["RETURN g, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 10 s",
     "RETURN g, SUM(A.x), AVG(A.x), MIN(A.y) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 10 s SLIDE 5 s"],
)  # fmt: skip
def test_an_idle_key_of_cogra_takes_less_than_2_kb(query: str) -> None:
    cogra = make("cogra")
    [job] = jobs_of(cogra, [query])
    size = 5000
    operator = cogra.operator(job.plan)
    events = grouped([1] * size, list(range(size)))
    operator.process(KeyedBatch(events.slice(0, size, watermark=40), np.arange(size), np.arange(size + 1), size))
    assert operator.state().reserved / size < 2000
