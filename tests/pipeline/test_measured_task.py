"""One worker's part of a measured cell, in this process."""

from pathlib import Path

import pytest

from generators.registry import from_spec
from metrics.record import Status
from pipeline.generation import generate
from pipeline.measured_task import Job, MeasuredTask
from tests.pipeline.doubles import Counting, Unforeseen, UnforeseenCounter, unforeseen

QUERY = "RETURN COUNT(*) PATTERN A+ WITHIN 100 s"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    generator = from_spec("uniform", {"events": 300, "types": 1, "rate": 1})
    return generate(generator, tmp_path / "uniform", spark=None, buckets=1).path


def test_a_run_that_loads_a_kernel_is_done_again(store: Path) -> None:
    expected = MeasuredTask(Job(store, QUERY, Counting()))(0)
    assert not unforeseen.signatures  # type: ignore[attr-defined]
    report = MeasuredTask(Job(store, QUERY, Unforeseen()))(0)
    assert UnforeseenCounter.runs == 2
    assert report.status is Status.OK, report.reason
    assert report.answer is not None
    assert expected.answer is not None
    assert report.answer.digest() == expected.answer.digest()
    assert len(report.measured.service) == len(expected.measured.service) == 3
