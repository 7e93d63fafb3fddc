"""Queries with `WITHIN ... PER MATCH`: refused with a reason, or answered as the worked examples say, however cut."""

from collections.abc import Mapping
from typing import Any

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import ALGORITHMS, make
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference, rows_of
from cepbench.verification.evaluators import answer_of, run
from cepbench.verification.random_cases import split
from tests.algorithms.detection import FIRSTS, check_random_detection
from tests.contract.streams import batch
from tests.contract.test_golden import CUTS, cuts_of
from tests.streams import golden_detection, stream

EVENTS, CASES = golden_detection()
TIMES = [event["time"] for event in EVENTS]

SPLIT = (
    "PATTERN A, NOT N, B WHERE [h] WITHIN 3 s PER MATCH",
    "PATTERN A AND B+ GROUP-BY g WITHIN 3 events PER MATCH",
    "PATTERN SEQ(A, B, NOT N) WHERE [h] AND A.x <= B.x GROUP-BY g WITHIN 3 s PER MATCH",
)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_examples(algorithm: Algorithm, case: Mapping[str, Any], cut: str) -> None:
    query = parse_query(case["query"])
    _skip_unless_supported(algorithm, case["query"])
    batches = split(batch(EVENTS), cuts_of(cut, TIMES))
    for promise, pickled in ((False, False), (True, True)):
        rows = rows_of(run(algorithm, query, batches, promise=promise, pickled=pickled))
        assert [row["match"] for row in rows] == case["matches"]
        ends = [(TIMES[match[0]], TIMES[match[-1]]) for match in case["matches"]]
        assert [(row["window_start"], row["window_end"]) for row in rows] == ends
        plain, summarised = (
            answer_of(algorithm, query, batches, promise=promise, pickled=pickled, summarised=flag)
            for flag in (False, True)
        )
        assert summarised.digest() == plain.digest()
        assert summarised.matches == len(case["matches"])


@pytest.mark.parametrize("text", SPLIT)
def test_substreams_are_detected_apart(algorithm: Algorithm, text: str) -> None:
    _skip_unless_supported(algorithm, text)
    events = [
        {**event, "h": n % 2, "x": n * 5 % 3, "g": "uv"[n // 3 % 2]}
        for n, event in enumerate(stream("A1 A1 B1 N2 B2 A2 B3 A3 B3 B4 N4 A5 B6 A7 B7 B8 A8 B9 N9 A9 B11 B11"))
    ]
    expected = answer(parse_query(text), events)
    assert expected
    for cut in CUTS:
        batches = split(batch(events), cuts_of(cut, [event["time"] for event in events]))
        for promise in (False, True):
            frame = run(algorithm, parse_query(text), batches, promise=promise, pickled=promise)
            assert difference(expected, frame) is None, cut


@pytest.mark.parametrize("name", [kind.name for kind in ALGORITHMS if kind.name != "sase"])
@pytest.mark.parametrize("first", FIRSTS[:2])
def test_random_cases(name: str, first: int) -> None:
    algorithm = make(name)
    _skip_unless_supported(algorithm, "PATTERN A, B WITHIN 3 s PER MATCH")
    check_random_detection(algorithm, first)


@pytest.mark.parametrize("text", [*SPLIT, *(case["query"] for case in CASES)])
def test_a_reason_is_given_in_words(algorithm: Algorithm, text: str) -> None:
    reason = algorithm.unsupported(parse_query(text))
    assert reason is None or len(reason.split()) > 2


def test_some_algorithm_detects() -> None:
    for case in CASES:
        assert any(kind().unsupported(parse_query(case["query"])) is None for kind in ALGORITHMS)


def _skip_unless_supported(algorithm: Algorithm, text: str) -> None:
    reason = algorithm.unsupported(parse_query(text))
    if reason is not None:
        pytest.skip(reason)
