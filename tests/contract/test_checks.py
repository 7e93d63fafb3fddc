"""Every registered algorithm and its checks (`cepbench.checks`): the small form, and with `--all` the full one.

`CEPBENCH_FLINK_CASES` adds hundreds of random cases of algorithms that start a job for each.
"""

import os
from collections.abc import Callable, Iterator

import pytest

from cepbench.algorithms.registry import algorithms, make, parameters
from cepbench.checks import Check, yield_checks
from cepbench.verification.evaluators import subject_of
from cepbench.verification.examples import examples
from cepbench.verification.verify import verify_subject
from tests.contract.conftest import COMPARED

MANY_JOBS = "CEPBENCH_FLINK_CASES" in os.environ
VARIANTS = [
    f"{kind.name}[{'kleene=flatten, ' if 'kleene' in parameters(kind) else ''}max_length=3]"
    for kind in algorithms()
    if "max_length" in parameters(kind) and not kind.starts
]
"""Algorithms whose language grows with a parameter."""


def checks() -> Iterator[object]:
    """`tests/algorithms/external/flink/test_random_cases.py` has some of the random cases left out for Flink here."""
    for kind in algorithms():
        contained = (check for check in yield_checks(kind()) if check.contained)
        for check in (*yield_checks(kind(), thorough=True), *contained):
            if MANY_JOBS or not (kind.starts and check.drawn):
                marks = [pytest.mark.full] * check.thorough + [pytest.mark.contained] * check.contained
                yield pytest.param(kind.name, check, marks=marks, id=f"{kind.name}: {check}")


@pytest.mark.parametrize(("name", "check"), list(checks()))
def test_contract(name: str, check: Check, record_property: Callable[[str, object], None]) -> None:
    compared = check()
    if compared is not None:
        record_property(COMPARED, f"{name}: {compared}")


@pytest.mark.full
@pytest.mark.parametrize("specification", VARIANTS)
def test_a_longer_language_is_compared_too(specification: str) -> None:
    report = verify_subject(subject_of(make(specification)), 30, seed=5, thorough=False)
    assert report.clean, str(report)


def test_every_example_is_evaluated_by_some_algorithm() -> None:
    instances = [kind() for kind in algorithms()]
    for example in examples():
        assert any(algorithm.unsupported(example.query) is None for algorithm in instances), example.name


def test_names_are_those_of_specifications() -> None:
    assert [type(make(kind.name)) for kind in algorithms()] == list(algorithms())
