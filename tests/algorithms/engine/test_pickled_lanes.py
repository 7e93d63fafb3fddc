"""Pickles of lanes keep the keys that have an open window; all further keys begin anew."""

import pickle
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import KeyedBatch, Operator
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from tests.contract.keyed_streams import SCHEMA, jobs_of

KEYS, LIVE = 10_000, 10
QUERY = "RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) {} GROUP-BY g WITHIN 40 s SLIDE 20 s"
ADJACENT = "WHERE A.x < NEXT(A).x"


def batch(times: Sequence[int], groups: Sequence[int], watermark: int | None = None) -> EventBatch:
    """A, A and B in turn for each group, whose x grow."""
    n = len(times)
    nothing, kinds = np.zeros(n, np.int64), np.array([0, 0, 1], np.int32)[np.arange(n) % 3]
    columns = {"g": np.array(groups), "h": nothing.astype(np.int32), "x": np.arange(n), "y": nothing.astype(float)}
    return EventBatch(SCHEMA, np.array(times, np.int64), kinds, columns, np.arange(n, dtype=np.int64), watermark)


def of_keys(keys: Sequence[int], time: int, watermark: int | None = None) -> KeyedBatch:
    """Three events of each key at `time` and after."""
    times = np.tile([time, time + 1, time + 2], len(keys))
    return KeyedBatch(
        batch(times.tolist(), np.repeat(keys, 3).tolist(), watermark),
        np.array(keys, np.int64),
        np.arange(0, 3 * len(keys) + 1, 3),
        KEYS,
    )


@pytest.mark.parametrize(
    ("algorithm", "query"),
    [
        ("cogra", QUERY.format("")),
        ("cogra", QUERY.format("").replace(", SUM(A.x)", "")),
        ("cogra", QUERY.format(f"SEMANTICS next {ADJACENT}")),
        ("greta", QUERY.format(ADJACENT)),
        ("aseq", "RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A, B) GROUP-BY g WITHIN 40 s SLIDE 20 s"),
    ],
)
def test_a_pickle_keeps_live_keys_only(algorithm: str, query: str) -> None:
    """All keys have an event, of which only a few are in open windows when the operator is pickled."""
    [job] = jobs_of(make(algorithm), [query])
    live = list(range(7, KEYS, KEYS // LIVE))
    answers = []
    for pickled in (False, True):
        operator: Operator = make(algorithm).operator(job.plan)
        answer = AnswerBuilder(job.workload)

        def run(events: KeyedBatch | None) -> None:
            rows = operator.finish() if events is None else operator.process(events)  # noqa: B023
            answer.add_rows([(key,) for key in range(KEYS)], rows)  # noqa: B023

        run(of_keys(range(KEYS), 1, watermark=60))
        run(of_keys(live, 61, watermark=64))
        operator.state()
        if pickled:
            before, details = operator.state(), operator.details()
            data = pickle.dumps(operator)
            assert len(data) < 100_000
            operator = pickle.loads(data)
            after = operator.state()
            assert 0 < after.bytes <= before.bytes
            assert operator.details() == details
            assert len(pickle.dumps(operator)) < 100_000
        run(of_keys([*live[::2], *range(LIVE)], 70, watermark=75))
        if pickled:
            operator = pickle.loads(pickle.dumps(operator))
        run(of_keys([live[0], KEYS - 1], 76, watermark=200))
        run(None)
        answers.append((answer, operator.details()))
    (expected, details), (actual, of_pickled) = answers
    assert len(expected.frame()) > KEYS
    pd.testing.assert_frame_equal(actual.frame(), expected.frame())
    assert of_pickled == details
