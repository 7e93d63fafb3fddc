"""Random cases against the oracle, a moderate number; `cepbench verify` runs as many as one likes."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from algorithms.base import Algorithm, UnsupportedQuery
from algorithms.oracle import TooManyMatches, answer
from algorithms.registry import ALGORITHMS
from experiments.agreement import difference
from experiments.evaluators import evaluator_of
from experiments.random_cases import BIG, random_case
from experiments.verify import LIMIT, failing_cut, smallest_failure, verify
from queries.errors import QueryError
from tests.contract.breadth import BROAD

SEEDS = st.integers(0, 2**48)
MODERATE = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),  # a smaller seed is no smaller case; `shrink` makes cases small
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@MODERATE
@given(seed=SEEDS)
def test_answers_are_right_on_every_cut(algorithm: Algorithm, seed: int) -> None:
    case, evaluate = random_case(seed), evaluator_of(algorithm)
    try:
        failing = failing_cut(case, evaluate)
    except (UnsupportedQuery, QueryError, TooManyMatches):
        return
    assert failing is None, str(smallest_failure(failing, evaluate))


@MODERATE
@given(seed=SEEDS)
def test_float_arithmetic_agrees_where_counts_are_small(algorithm: Algorithm, seed: int) -> None:
    case = random_case(seed)
    try:
        expected = answer(case.query, case.events, limit=LIMIT)
        frame = evaluator_of(algorithm, "float")(case)
    except (UnsupportedQuery, QueryError, TooManyMatches):
        return
    if not any(abs(event["x"]) >= BIG for event in case.events):
        assert difference([_in_floats(row) for row in expected], frame) is None


def _in_floats(row: dict[str, Any]) -> dict[str, Any]:
    """Counts and sums as float arithmetic shows them."""
    return {name: float(value) if name.startswith(("COUNT", "SUM")) else value for name, value in row.items()}


@pytest.mark.parametrize("kind", ALGORITHMS, ids=[kind.name for kind in ALGORITHMS])
def test_verification_compares_a_fair_share(kind: type[Algorithm]) -> None:
    report = verify(kind.name, 200, seed=2)
    assert report.clean, str(report)
    least = 200 / 10 if kind.name in BROAD else 5
    assert report.compared > least, f"refuses almost everything: {report}"
    assert Counter(report.refused).total() + report.compared + Counter(report.left_out).total() == report.cases
