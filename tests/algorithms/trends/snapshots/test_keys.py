"""Which streams of several keys are shared by an executor per key."""

from collections.abc import Mapping, Sequence

import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch


@pytest.mark.parametrize(
    ("keys", "specification", "shares"),
    [
        (1, "hamlet", True),
        (40, "hamlet", False),
        (2, "hamlet", True),
        (40, "hamlet[sharing=static]", True),
        (40, "hamlet[trace=5]", True),
        (40, "hamlet[benefit=paper]", True),
        (40, "hamlet[granularity=event]", True),
        (1, "gloria", True),
        (40, "gloria", False),
        (40, "gloria[optimizer=greedy]", True),
        (40, "gloria[granularity=event]", True),
    ],
)
def test_nothing_is_shared_where_keys_have_few_events(keys: int, specification: str, shares: bool) -> None:
    """2,000 events and 60 queries that can share (those of SEQ(A, B+)): 120,000, of which a key needs 50,000."""
    events = batch([{"time": time, "type": "AB"[time % 40 > 0], "g": time // 40 % keys} for time in range(2000)])
    queries = [parse_query(f"q{n}: RETURN g, COUNT(*) PATTERN SEQ({'AB'[n % 2]}, B+) GROUP-BY g") for n in range(120)]
    expected, _ = keyed("cogra", queries, events)
    digest, details = keyed(specification, queries, events)
    assert digest == expected
    assert ("snapshots" in details) == shares


def keyed(specification: str, queries: Sequence[Query], events: EventBatch) -> tuple[str, Mapping[str, float]]:
    """Digest and details of an operator on all keys."""
    algorithm = make(specification)
    prepared = prepare(queries, algorithm, events.schema, "modular", Statistics())
    answer = AnswerBuilder(prepared.workload)
    loop = Loop(prepared.jobs[0], algorithm.operator(prepared.jobs[0].plan))
    loop.process(events, into(answer))
    loop.finish(into(answer))
    return answer.digest(), loop.operator.details()
