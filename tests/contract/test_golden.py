"""The papers' examples, whichever way batches are cut."""

from collections.abc import Mapping
from typing import Any

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import algorithms
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import rows_of
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import split
from tests.contract.streams import batch
from tests.streams import golden_cases, golden_detection

CASES = golden_cases()
CUTS = ("one batch", "single events", "inside time stamps", "in two")


def cuts_of(kind: str, times: list[int]) -> tuple[int, ...]:
    size = len(times)
    every = tuple(range(1, size))
    inside = tuple(index for index in every if times[index - 1] == times[index])
    return {"one batch": (), "single events": every, "inside time stamps": inside, "in two": (size // 2,)}[kind]


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_example(algorithm: Algorithm, case: Mapping[str, Any], cut: str) -> None:
    query = parse_query(case["query"])
    reason = algorithm.unsupported(query)
    if reason is not None:
        pytest.skip(reason)
    events = batch(case["events"])
    batches = split(events, cuts_of(cut, events.time.tolist()))
    for promise, pickled in ((False, False), (True, True)):
        rows = rows_of(run(algorithm, query, batches, promise=promise, pickled=pickled))
        assert [{name: row[name] for name in case["rows"][0]} for row in rows] == case["rows"]
        assert not any(row["overflow"] for row in rows)


@pytest.mark.parametrize("kind", algorithms(), ids=[kind.name for kind in algorithms()])
def test_no_algorithm_is_skipped_everywhere(kind: type[Algorithm]) -> None:
    if kind.missing() is not None:
        pytest.skip(str(kind.missing()))
    every = [*CASES, *golden_detection()[1]]
    supported = [case["name"] for case in every if kind().unsupported(parse_query(case["query"])) is None]
    assert len(supported) > (5 if kind.narrow else len(CASES) / 4), "see `Algorithm.narrow`"
