"""Random cases against the oracle: a job for each, so few by default; `CEPBENCH_FLINK_CASES` tells how many."""

import os

import pytest

from cepbench.algorithms.registry import make
from cepbench.verification.evaluators import subject_of
from cepbench.verification.verify import verify_subject

CASES = int(os.environ.get("CEPBENCH_FLINK_CASES", "24"))


@pytest.mark.parametrize(
    ("specification", "share"),
    [("flink", 1.0), ("flink[kleene=flatten, max_length=3]", 0.25)],
)
def test_random_cases(specification: str, share: float) -> None:
    cases = round(CASES * share)
    report = verify_subject(subject_of(make(specification)), cases, seed=15, thorough=False)
    assert report.clean, str(report)
    assert report.compared >= cases
