"""Runs that only count and digest matches have the answer of runs that return them."""

from dataclasses import replace

import pytest
from hypothesis import given

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import TooManyMatches, check_query
from cepbench.queries.errors import QueryError
from cepbench.queries.model import CompleteMatches, Matches, Query
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import expected_rows
from cepbench.verification.evaluators import answer_of
from cepbench.verification.features import Feature
from cepbench.verification.random_cases import batch_of, random_case, split
from tests.contract.test_oracle_agrees import MODERATE, SEEDS


@MODERATE
@given(seed=SEEDS)
def test_digests_do_not_need_the_matches(algorithm: Algorithm, seed: int) -> None:
    case = random_case(seed, frozenset({Feature.MATCHES}))
    for returns in (Matches(), CompleteMatches()):
        query = replace(case.query, returns=returns)
        if not _supported(algorithm, query):
            continue
        try:
            [expected] = expected_rows(replace(case, queries=(query,)))
        except TooManyMatches:
            continue
        batches = split(batch_of(case.events), case.cuts)
        plain, summarised = (
            answer_of(algorithm, query, batches, promise=case.promise, pickled=case.pickled, summarised=flag)
            for flag in (False, True)
        )
        assert summarised.digest() == plain.digest()
        assert summarised.matches == len(expected)
        assert list(summarised.frame())[-2:] == ["matches", "digest"]


@pytest.mark.parametrize("returns", ["MATCHES", "COMPLETE MATCHES"])
def test_matches_of_count_windows_are_summarised_too(algorithm: Algorithm, returns: str) -> None:
    query = parse_query(f"RETURN {returns} PATTERN A+ WITHIN 3 events SLIDE 1 events")
    reason = algorithm.unsupported(query)
    if reason is not None:
        pytest.skip(reason)
    events = batch_of([{"time": t, "type": "A", "g": 1, "h": 1, "x": 0, "y": 0.0, "s": "u"} for t in range(6)])
    plain, summarised = (answer_of(algorithm, query, [events], summarised=flag) for flag in (False, True))
    assert summarised.digest() == plain.digest()
    assert summarised.rows == 6
    assert plain.rows == sum([1, 1, 1, 1, 1, 1] if returns.startswith("C") else [7, 7, 7, 7, 3, 1])


def _supported(algorithm: Algorithm, query: Query) -> bool:
    try:
        check_query(query)
        return algorithm.unsupported(query) is None
    except QueryError:
        return False
