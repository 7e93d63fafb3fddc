"""Random cases against the oracle: a job for each, so few by default; `CEPBENCH_FLINK_CASES` sets the number."""

import os
from dataclasses import replace

import pytest

from cepbench.algorithms.registry import make
from cepbench.verification.evaluators import subject_of
from cepbench.verification.verify import verify_subject

CASES = int(os.environ.get("CEPBENCH_FLINK_CASES", "24"))


@pytest.mark.parametrize(
    ("specification", "detects", "share"),
    [("flink", False, 1.0), ("flink[kleene=flatten, max_length=3]", False, 0.25), ("flink", True, 1.0)],
)
def test_random_cases(specification: str, detects: bool, share: float) -> None:
    cases = round(CASES * share)
    subject = replace(subject_of(make(specification)), detects=detects)
    report = verify_subject(subject, cases, seed=15, thorough=False)
    assert report.clean, str(report)
    assert report.compared >= cases
    assert report.with_rows > cases / 4
