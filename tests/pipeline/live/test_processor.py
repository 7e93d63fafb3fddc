"""Rows of live streams are those of the batch run: random queries and streams, disorder, and failures anywhere."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepbench.algorithms.base import UnsupportedQuery
from cepbench.algorithms.registry import algorithms
from cepbench.events.errors import InputError
from cepbench.metrics.files import write as files_write
from cepbench.pipeline.jobs import Prepared
from cepbench.pipeline.live import sink, state
from cepbench.pipeline.live.folder import File
from cepbench.pipeline.live.stream import check_live
from tests.pipeline.live.driving import (
    batch_rows,
    batches_of,
    disordered,
    live_cases,
    prepared_for,
    processor_in,
    random_cuts,
    rows_in,
    text_of,
    write_files,
)

CASES = int(os.environ.get("CEPBENCH_LIVE_CASES", "12"))


@dataclass(frozen=True)
class Live:
    """A random stream in files, and queries on it that can run live."""

    random: Random
    folder: Path
    delay: int
    events: list[Any]
    text: str
    files: list[Path]
    prepared: Prepared


def streams(algorithm: str, cases: int, delays: Sequence[int], folder: Path) -> Iterator[Live]:
    """Random streams; queries that cannot run live are left out."""
    for case in live_cases(algorithm, cases):
        random, place = Random(case.seed), folder / str(case.seed)
        delay = random.choice(delays)
        events, text = disordered(case.events, delay, random), text_of(case)
        files = write_files(place / "in", events, random_cuts(events, random))
        prepared = prepared_for(text, algorithm, files[0])
        with suppress(UnsupportedQuery):
            check_live(prepared)
            yield Live(random, place, delay, events, text, files, prepared)


@pytest.mark.parametrize("algorithm", [kind.name for kind in algorithms() if kind.missing() is None])
def test_live_rows_are_those_of_the_batch_run(algorithm: str, tmp_path: Path) -> None:
    """`CEPBENCH_LIVE_CASES` for more cases."""
    compared = rows = 0
    for case in streams(algorithm, CASES, (0, 1, 3, 10), tmp_path):
        processor = processor_in(case.folder, case.prepared, case.files[0], case.random.choice((1, 2, 3)), case.delay)
        for number, batch in enumerate(batches_of(case.files, case.random)):
            processor.run(number, batch)
        totals = processor.finish()
        assert totals.late == 0
        expected = batch_rows(case.text, case.events, algorithm, case.folder)
        assert rows_in(case.folder / "rows") == expected, f"{case.folder.name}: {case.text}"
        compared, rows = compared + 1, rows + len(expected)
    assert compared >= CASES // 2
    assert rows


class Killed(BaseException):
    """Stands for a SIGKILL."""


@pytest.mark.parametrize("algorithm", ["cogra", "sase", "hamlet", "mcep", "core"])
def test_a_batch_that_is_cut_off_anywhere_is_run_again(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before or after any file is written, or after a batch, of which Spark does not know then that it was finished."""
    killed = 0
    for case in streams(algorithm, CASES // 2, (3,), tmp_path):
        random, folder, files = case.random, case.folder, case.files

        def write(path: Path, content: bytes, random: Random = random) -> Path:
            before, after = random.random() < 0.08, random.random() < 0.08
            if before:
                raise Killed
            files_write(path, content)
            if after:
                raise Killed
            return path

        for module in (state, sink):
            monkeypatch.setattr(module, "write", write)
        batches = [*enumerate(batches_of(files, random)), None]
        while batches:
            processor = processor_in(folder, case.prepared, files[0], 2, 3)
            try:
                while batches:
                    if batches[0] is None:
                        processor.finish()
                    else:
                        processor.run(*batches[0])
                    if random.random() < 0.1:
                        raise Killed
                    batches.pop(0)
            except Killed:
                killed += 1
        assert processor.checkpoint.ended
        assert rows_in(folder / "rows") == batch_rows(case.text, case.events, algorithm, folder), case.text
    assert killed > CASES // 3


def test_a_stream_that_was_killed_at_its_end_takes_no_more_files(tmp_path: Path) -> None:
    events = [{"time": n, "type": kind} for n, kind in ((1, "A"), (2, "B"))]
    [file] = write_files(tmp_path / "in", events, [])
    text = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 seconds"
    prepared = prepared_for(text, "cogra", file)
    processor = processor_in(tmp_path, prepared, file, 2, 3)
    processor.run(0, [File(file, 0.0)])
    assert not processor.checkpoint.ending
    processor.checkpoint.begin_end()
    again = processor_in(tmp_path, prepared, file, 2, 3)
    assert again.checkpoint.ending
    assert not again.checkpoint.ended
    again.finish()
    assert again.checkpoint.ended
    assert rows_in(tmp_path / "rows") == batch_rows(text, events, "cogra", tmp_path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"time": [2], "type": ["A"], "x": [1.5]}, "column 'x' is float64, and int64 in the first file"),
        ({"when": [2], "type": ["A"], "x": [1]}, "time"),
    ],
)
def test_a_file_that_is_not_as_the_first_one_is_named(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for file, columns in zip(files, ({"time": [1], "type": ["A"], "x": [1]}, changed), strict=True):
        pq.write_table(pa.table(columns), file)
    prepared = prepared_for("RETURN SUM(A.x) PATTERN A WITHIN 10 seconds", "cogra", files[0])
    with pytest.raises(InputError, match=message) as caught:
        processor_in(tmp_path, prepared, files[0], 2, 3).run(0, [File(file, 0.0) for file in files])
    assert "2.parquet" in str(caught.value)
