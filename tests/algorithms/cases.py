"""Answers of algorithms and of the oracle to small queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import ALGORITHMS
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import split
from tests.contract.streams import batch
from tests.streams import stream

Events = str | Sequence[Mapping[str, Any]]


def supporting(text: str) -> list[Algorithm]:
    """The registered algorithms that support a query."""
    query = parse_query(text)
    supporters = [algorithm for algorithm in (kind() for kind in ALGORITHMS) if algorithm.refusal(query) is None]
    assert supporters
    return supporters


def agree(text: str, events: Events) -> list[dict[str, Any]]:
    """The rows on which the oracle and all algorithms that support the query agree, however the stream is cut."""
    query = parse_query(text)
    event_list = stream(events) if isinstance(events, str) else events
    expected = answer(query, event_list, modular=True)
    for algorithm in supporting(text):
        for cuts in ((), tuple(range(1, len(event_list)))):
            for promise in (False, True):
                frame = run(algorithm, query, split(batch(event_list), cuts), promise=promise)
                assert difference(expected, frame) is None, algorithm.name
    return expected
