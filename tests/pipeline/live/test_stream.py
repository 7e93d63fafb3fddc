"""Live streams on Spark: several batches and starts, damaged checkpoints, and kills."""

import runpy
import shutil
from pathlib import Path
from random import Random

import pytest

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.live.processor import Totals
from cepbench.pipeline.live.stream import delay_of, stream
from cepbench.pipeline.session import stop
from tests.pipeline.live.driving import batch_rows, disordered, rows_in, write_files
from tests.standalone import Standalone

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
WORKLOAD = """
grouped: RETURN g, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) WHERE [h] GROUP-BY g WITHIN 6 s SLIDE 2 s

named: RETURN s, COUNT(*) PATTERN SEQ(A, B) WHERE A.s != 'v' GROUP-BY s WITHIN 8 s
"""
MASTER = "local[2,4]"


DAMAGES = [
    ("stream.json", False),
    ("stream.json", True),
    ("spark/metadata", False),
    ("spark/offsets/2", False),
    ("spark/commits/1", False),
    ("spark/sources/0/1", False),
    ("spark/sources/0/1", True),
    ("spark/sources/0/2", False),
    ("state/00000001/intake", False),
    ("state/00000001/0-0", False),
    ("state/00000001/0-1", True),
]
"""Files of a checkpoint, and whether they are gone; batch 2 is finished, but Spark does not know it."""


class Stopped(Exception):
    """The last batch before the stream is started again was finished."""


def events(n: int = 240, seed: int = 5) -> list[dict[str, object]]:
    random = Random(seed)
    rows = [
        {"time": number // 4, "type": random.choice("ABC"), "g": random.randint(0, 2), "h": random.randint(0, 2)}
        | {"x": random.randint(0, 9), "y": 0.5, "s": random.choice("uvw")}
        for number in range(n)
    ]
    return disordered(rows, 3, random)


def run(
    folder: Path, algorithm: str = "cogra", *, stop_after: int | None = None, feed: list[Path] | None = None
) -> Totals:
    """Starts the stream; a file of `feed` comes after each batch."""
    (folder / "in").mkdir(exist_ok=True)

    def progress(totals: Totals) -> None:
        if stop_after is not None and totals.batches == stop_after:
            raise Stopped
        if feed:
            feed[0].rename(folder / "in" / feed.pop(0).name)

    return stream(
        WORKLOAD, algorithm, f"folder:{folder / 'in'}", f"folder:{folder / 'rows'}", folder / "checkpoint", "3s",
        until_idle=1.5, master=MASTER, notify=str, progress=progress,
    )  # fmt: skip


def error_of(folder: Path) -> str | None:
    """The error with which the stream ended, if any."""
    try:
        run(folder)
    except CepbenchError as error:
        return str(error)
    return None


@pytest.fixture
def feed(tmp_path: Path) -> list[Path]:
    """Files that are to come; the first file is there."""
    files = write_files(tmp_path / "to come", events(), [40, 40, 90, 150, 180])
    (tmp_path / "in").mkdir()
    files[0].rename(tmp_path / "in" / files[0].name)
    return files[1:]


@pytest.mark.spark("live")
@pytest.mark.usefixtures("_spark_settings")
@pytest.mark.parametrize("algorithm", ["cogra", "sase", "duckdb"])
def test_a_stream_goes_on_after_a_failure(tmp_path: Path, feed: list[Path], algorithm: str) -> None:
    with pytest.raises(CepbenchError, match="the stream failed"):
        run(tmp_path, algorithm, stop_after=2, feed=feed)
    begun = rows_in(tmp_path / "rows")
    totals = run(tmp_path, algorithm, feed=feed)
    assert feed == []
    assert (totals.events, totals.late) == (240, 0)
    assert totals.batches > 2
    expected = batch_rows(WORKLOAD, events(), algorithm, tmp_path)
    assert rows_in(tmp_path / "rows") == expected
    assert set(begun) < set(expected)
    assert totals.rows == len(expected)


@pytest.mark.spark("live")
@pytest.mark.usefixtures("_spark_settings")
def test_a_file_that_is_gone_before_its_batch_ended_is_named(tmp_path: Path, feed: list[Path]) -> None:
    with pytest.raises(CepbenchError, match="the stream failed"):
        run(tmp_path, stop_after=2, feed=feed)
    begun = rows_in(tmp_path / "rows")
    file = tmp_path / "in" / "001.parquet"
    file.rename(tmp_path / "elsewhere")
    assert error_of(tmp_path) == f"{file}: is gone before its batch ended; move it back"
    assert rows_in(tmp_path / "rows") == begun
    (tmp_path / "elsewhere").rename(file)
    run(tmp_path, feed=feed)
    assert rows_in(tmp_path / "rows") == batch_rows(WORKLOAD, events(), "cogra", tmp_path)


@pytest.mark.spark("live")
@pytest.mark.full
@pytest.mark.usefixtures("_spark_settings")
def test_a_damaged_checkpoint_gives_one_line_and_no_row(tmp_path: Path, feed: list[Path]) -> None:
    with pytest.raises(CepbenchError, match="the stream failed"):
        run(tmp_path, stop_after=3, feed=feed)
    for file in feed:
        file.rename(tmp_path / "in" / file.name)
    for part in ("checkpoint", "rows"):
        shutil.copytree(tmp_path / part, tmp_path / f"{part} before")
    expected = batch_rows(WORKLOAD, events(), "cogra", tmp_path)
    for name, gone in DAMAGES:
        for part in ("checkpoint", "rows"):
            shutil.rmtree(tmp_path / part)
            shutil.copytree(tmp_path / f"{part} before", tmp_path / part)
        file = tmp_path / "checkpoint" / name
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        if gone:
            file.unlink()
        else:
            file.write_bytes(content)
        message = error_of(tmp_path)
        assert message is not None, name
        assert "damaged" in message, name
        assert "\n" not in message
        assert rows_in(tmp_path / "rows") == rows_in(tmp_path / "rows before"), name
    for part in ("checkpoint", "rows"):
        shutil.rmtree(tmp_path / part)
        shutil.copytree(tmp_path / f"{part} before", tmp_path / part)
    run(tmp_path)
    assert rows_in(tmp_path / "rows") == expected


@pytest.mark.apart
@pytest.mark.full
@pytest.mark.parametrize("algorithm", ["cogra", "core"])
def test_kills_lose_and_double_nothing(tmp_path: Path, algorithm: str) -> None:
    """A worker and the driver; `benchmarks/live_kills.py` does more of them."""
    report = runpy.run_path(str(BENCHMARKS / "live_kills.py"))["kills"](tmp_path, algorithm, 2)
    assert report["kills"] == {"worker": 1, "driver": 1}
    assert report["rows"]
    assert (report["lost"], report["doubled or wrong"]) == (0, 0)


@pytest.mark.cluster
def test_a_machine_that_is_lost_loses_and_doubles_nothing(
    tmp_path: Path, feed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A standalone cluster of two workers, of which one is killed between two batches with all its processes."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    stop()
    with Standalone(tmp_path / "spark") as spark:
        for _ in range(2):
            spark.add_worker()

        def progress(totals: Totals) -> None:
            if totals.batches == 2:
                spark.kill(spark.workers[0])
            if feed:
                feed[0].rename(tmp_path / "in" / feed.pop(0).name)

        totals = stream(
            WORKLOAD, "cogra", f"folder:{tmp_path / 'in'}", f"folder:{tmp_path / 'rows'}", tmp_path / "checkpoint",
            "3s", until_idle=3, master=spark.url, notify=str, progress=progress,
        )  # fmt: skip
        stop()
    assert (totals.late, len(feed)) == (0, 0)
    assert totals.batches > 2
    assert rows_in(tmp_path / "rows") == batch_rows(WORKLOAD, events(), "cogra", tmp_path)


@pytest.mark.parametrize(
    ("text", "unit", "delay"), [("10s", "s", 10), ("1.5 s", "ms", 1500), ("2min", "s", 120), ("0s", "day", 0)]
)
def test_a_watermark_is_a_length_of_time(text: str, unit: str, delay: int) -> None:
    assert delay_of(text, unit) == delay
