"""A pool gives the rows of an executor per sub-stream, whatever the cuts; `CEPBENCH_POOL_CASES` for more cases."""

import os
from random import Random

import numpy as np
import pandas as pd
import pytest

from cepbench.algorithms.base import Algorithm, OutOfOrder, Pieces
from cepbench.algorithms.registry import algorithms, make
from cepbench.events.batch import EventBatch
from tests.contract.pooling import SCHEMA, by_executors, by_pool, jobs_of, random_pieces, random_queries

CASES = int(os.environ.get("CEPBENCH_POOL_CASES", "40"))
EACH = "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g WITHIN 4 s SLIDE 2 s"


@pytest.fixture(params=[kind.name for kind in algorithms() if kind.pool is not Algorithm.pool])
def pooling(request: pytest.FixtureRequest) -> Algorithm:
    """An algorithm that has pools."""
    return make(request.param)


@pytest.mark.parametrize(("arithmetic", "cases"), [("modular", CASES), ("float", CASES // 4)], ids=["modular", "float"])
def test_random_streams_get_the_answer_of_executors(pooling: Algorithm, arithmetic: str, cases: int) -> None:
    """Fewer in floats, which have kernels of their own for every shape of cells."""
    compared = 0
    for seed in range(cases):
        random = Random(seed)
        texts, pieces = random_queries(random, pooling), random_pieces(random)
        for job in jobs_of(pooling, texts, arithmetic) if texts else ():
            found = by_pool(pooling, job, pieces, pickled=seed % 3 == 0, look=seed % 2 == 0)
            if found is None:
                continue
            compared += 1
            wanted = by_executors(pooling, job, pieces)
            told = f"seed {seed}: {texts}"
            pd.testing.assert_frame_equal(found[0].frame(), wanted.frame(), rtol=1e-9, obj=told)
            assert found[0].digest() == wanted.digest(), told
    assert compared >= cases // 10


def grouped(times: list[int], groups: list[int]) -> EventBatch:
    """A and B in turn."""
    n = len(times)
    nothing = np.zeros(n, np.int64)
    columns = {"g": np.array(groups), "h": nothing.astype(np.int32), "x": nothing, "y": nothing.astype(float)}
    kinds = (np.arange(n) % 2).astype(np.int32)
    return EventBatch(SCHEMA, np.array(times, np.int64), kinds, columns, np.arange(n, dtype=np.int64))


def test_older_events_are_refused(pooling: Algorithm) -> None:
    [job] = jobs_of(pooling, [EACH])
    events = grouped([5, 6, 1, 2], [0, 0, 1, 1])
    first = Pieces(np.array([0]), np.array([0, 2]), 1)
    for later in (events.slice(2, 4), grouped([8, 7], [1, 1])):
        pool = pooling.pool(job.plan)
        assert pool is not None
        pool.process(events.slice(0, 2), first)
        with pytest.raises(OutOfOrder):
            pool.process(later, Pieces(np.array([1]), np.array([0, 2]), 2))


def test_substreams_of_one_batch_have_clocks_of_their_own(pooling: Algorithm) -> None:
    [job] = jobs_of(pooling, [EACH])
    pool = pooling.pool(job.plan)
    assert pool is not None
    pool.process(grouped([7, 9, 1, 2], [0, 0, 1, 1]), Pieces(np.array([0, 1]), np.array([0, 2, 4]), 2))
    assert sorted(pool.finish()[0].owner.tolist()) == [0, 1]


def test_the_state_of_a_pool_is_that_of_its_executors(pooling: Algorithm) -> None:
    [job] = jobs_of(pooling, [EACH])
    pool = pooling.pool(job.plan)
    assert pool is not None
    executors = [pooling.executor(job.plan) for _ in range(3)]
    events = grouped([1, 2, 3, 3, 3, 3, 3, 4, 5], [0, 0, 0, 1, 1, 1, 2, 2, 2])
    begin = [0, 3, 6, 9]
    pool.process(events, Pieces(np.arange(3), np.array(begin), 3))
    for executor, start, stop in zip(executors, begin[:-1], begin[1:], strict=True):
        executor.process(events.slice(start, stop))
    for _ in range(2):  # the largest, and then what is live
        found, states = pool.state(), [executor.state() for executor in executors]
        assert found.bytes == sum(state.bytes for state in states)
        assert found.kinds == sum(states[1:], states[0]).kinds
        assert 0 < found.reserved < 100_000


@pytest.mark.parametrize(
    "query",
    ["RETURN g, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 10 s",
     "RETURN g, SUM(A.x), AVG(A.x), MIN(A.y) PATTERN SEQ(A+, B) GROUP-BY g WITHIN 10 s SLIDE 5 s"],
)  # fmt: skip
def test_an_idle_substream_of_cogra_takes_less_than_2_kb(query: str) -> None:
    cogra = make("cogra")
    [job] = jobs_of(cogra, [query])
    substreams = 5000
    pool = cogra.pool(job.plan)
    assert pool is not None
    events = grouped([1] * substreams, list(range(substreams)))
    pool.process(
        events.slice(0, substreams, until=40), Pieces(np.arange(substreams), np.arange(substreams + 1), substreams)
    )
    assert pool.state().reserved / substreams < 2000
