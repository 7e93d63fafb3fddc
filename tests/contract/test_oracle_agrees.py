"""Random cases against the oracle, every pair of features some times; `cepbench verify` runs as many as one likes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cepbench.algorithms.base import Algorithm, UnsupportedQuery
from cepbench.algorithms.oracle import TooManyMatches
from cepbench.algorithms.registry import ALGORITHMS, make, parameters
from cepbench.queries.errors import QueryError
from cepbench.verification.agreement import case_difference, expected_rows
from cepbench.verification.evaluators import subject_of
from cepbench.verification.features import Feature
from cepbench.verification.random_cases import Rows, random_case
from cepbench.verification.random_streams import BIG
from cepbench.verification.verify import verify_subject
from tests.contract.conftest import COMPARED

SEEDS = st.integers(0, 2**48)
MODERATE = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),  # a smaller seed is no smaller case; `shrink` makes cases small
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TIMES = 20
VARIANTS = [
    f"{kind.name}[{'kleene=flatten, ' if 'kleene' in parameters(kind) else ''}max_length=3]"
    for kind in ALGORITHMS
    if "max_length" in parameters(kind) and not kind.starts
]
"""Algorithms whose language grows with a parameter."""


def test_every_pair_of_features_is_compared(
    algorithm: Algorithm, record_property: Callable[[str, object], None]
) -> None:
    report = verify_subject(subject_of(algorithm), 150, seed=20, times=TIMES, thorough=False)
    record_property(COMPARED, f"{algorithm.name}: {report.compared} random cases, {report.coverage}")
    assert report.clean, str(report)
    assert report.coverage.least() >= TIMES
    assert not report.coverage.banned() & {Feature.TIES, Feature.NULLS, Feature.WORKLOAD, Feature.BATCHES}


def test_every_kind_of_cut_is_compared(algorithm: Algorithm) -> None:
    report = verify_subject(subject_of(algorithm), 60, seed=2)
    assert report.clean, str(report)
    assert report.compared >= 60


@MODERATE
@given(seed=SEEDS)
def test_float_arithmetic_agrees_where_counts_are_small(algorithm: Algorithm, seed: int) -> None:
    subject, case = subject_of(algorithm, "float"), random_case(seed, _WISHES[seed % len(_WISHES)])
    case = replace(case, queries=tuple(query for query in case.queries if _supported(algorithm, query)))
    try:
        expected = expected_rows(case, listed=True, modular=False)
        frame = subject.answer(case)
    except (UnsupportedQuery, QueryError, TooManyMatches):
        return
    if case.queries and not any(abs(event["x"] or 0) >= BIG for event in case.events):
        assert case_difference(case, [_in_floats(rows) for rows in expected], frame) is None


_WISHES = (frozenset[Feature](), frozenset({Feature.ANY, Feature.SUM}), frozenset({Feature.WORKLOAD, Feature.AVG}))


def _supported(algorithm: Algorithm, query: Any) -> bool:
    try:
        return algorithm.unsupported(query) is None
    except QueryError:
        return False


def _in_floats(rows: Rows) -> Rows:
    """Counts and sums as float arithmetic shows them."""
    return [
        {name: float(value) if name.startswith(("COUNT", "SUM")) else value for name, value in row.items()}
        for row in rows
    ]


@pytest.mark.parametrize("specification", VARIANTS)
def test_a_longer_language_is_compared_too(specification: str) -> None:
    report = verify_subject(subject_of(make(specification)), 30, seed=5, thorough=False)
    assert report.clean, str(report)
