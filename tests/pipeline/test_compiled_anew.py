"""The kernels that a new machine compiles."""

import os
from pathlib import Path

import pandas as pd
import pytest

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.measured import compiled_anew
from cepbench.pipeline.measured_task import MeasuredRun
from tests.pipeline.doubles import Counting

QUERY = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s"


@pytest.fixture
def job(tmp_path: Path) -> MeasuredRun:
    frame = pd.DataFrame({"time": [1, 2], "type": ["A", "B"]})
    import_events(frame, tmp_path / "store", spark=None)
    return MeasuredRun(tmp_path / "store", QUERY, Counting())


def test_seconds_come_from_a_process_of_its_own(job: MeasuredRun) -> None:
    before = dict(os.environ)
    assert compiled_anew(job) > 0
    assert dict(os.environ) == before


def test_a_failure_is_one_line(job: MeasuredRun, tmp_path: Path) -> None:
    (tmp_path / "store" / "stream.json").unlink()
    with pytest.raises(CepbenchError, match=r"kernels were not compiled: InputError: .*not an event store"):
        compiled_anew(job)
