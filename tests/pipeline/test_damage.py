"""A store that was changed after it was written gives no answer, but one line that names the file."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import cepbench
from cepbench.cli.main import main
from cepbench.pipeline.distributed import evaluate_on_spark
from cepbench.pipeline.parts import CONTENT, DamagedStore
from cepbench.pipeline.rebucketing import rebucket
from cepbench.pipeline.store import read_stream
from cepbench.pipeline.writing import BucketWriter
from tests.pipeline.test_store import SCHEMA, events, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYED = "RETURN i, COUNT(*), MAX(A.x) PATTERN SEQ(A, B) GROUP-BY i WITHIN 60 ms"
MERGED = "RETURN COUNT(*) PATTERN SEQ(A, B) WHERE [s] WITHIN 60 ms"
FIRST, SECOND, OTHER = (
    "bucket=0000/part-00000.parquet",
    "bucket=0000/part-00001.parquet",
    "bucket=0001/part-00000.parquet",
)


def written(path: Path, seed: int = 0) -> Path:
    write(path, events(seed=seed), ("i",), buckets=2, parts=2)
    return path


def exchange(first: Path, second: Path) -> None:
    aside = first.with_suffix(".aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)


def remove(store: Path) -> str:
    (store / SECOND).unlink()
    return SECOND


def remove_bucket(store: Path) -> str:
    shutil.rmtree((store / OTHER).parent)
    return OTHER


def truncate(store: Path) -> str:
    content = (store / SECOND).read_bytes()
    (store / SECOND).write_bytes(content[: len(content) // 2])
    return SECOND


def pad(store: Path) -> str:
    """Bytes that no column owns, between the pages and the footer that says where they are."""
    content = (store / SECOND).read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    (store / SECOND).write_bytes(content[:-footer] + b"more" + content[-footer:])
    return SECOND


def empty(store: Path) -> str:
    (store / SECOND).write_bytes(b"")
    return SECOND


def swap_parts(store: Path) -> str:
    exchange(store / FIRST, store / SECOND)
    return FIRST


def swap_buckets(store: Path) -> str:
    exchange(store / FIRST, store / OTHER)
    return FIRST


def from_another(store: Path) -> str:
    shutil.copy(written(store.with_name("another"), seed=1) / FIRST, store / FIRST)
    return FIRST


def forge(store: Path) -> str:
    """Changes the hash of the rows in the footer of a file."""
    content = (store / FIRST).read_bytes()
    at = content.rindex(CONTENT.encode()) + len(CONTENT) + 8
    (store / FIRST).write_bytes(content[:at] + (b"0" if content[at : at + 1] != b"0" else b"1") + content[at + 1 :])
    return FIRST


def flip(store: Path) -> str:
    """Changes one bit of the times, which leaves the size and the footer of the file as they were."""
    with pq.ParquetFile(store / FIRST) as parquet:
        times = parquet.metadata.row_group(0).column(0)
    content = bytearray((store / FIRST).read_bytes())
    content[times.data_page_offset + times.total_compressed_size // 2] ^= 1
    (store / FIRST).write_bytes(bytes(content))
    return FIRST


def add(store: Path) -> str:
    added = store / "bucket=0000" / "part-00009.parquet"
    shutil.copy(store / FIRST, added)
    return f"bucket=0000/{added.name}"


def add_bucket(store: Path) -> str:
    shutil.copytree(store / "bucket=0000", store / "bucket=0002")
    return "bucket=0002/part-00000.parquet"


def other_description(store: Path) -> str:
    shutil.copy(written(store.with_name("another"), seed=1) / "stream.json", store)
    return "bucket=0000/part-0000"


DAMAGES: list[Callable[[Path], str]] = [
    remove, remove_bucket, truncate, pad, empty, swap_parts, swap_buckets, from_another, forge, flip, add, add_bucket,
    other_description,
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return written(tmp_path / "store")


@pytest.mark.parametrize("workload", [pytest.param(KEYED, id="keyed"), pytest.param(MERGED, id="merged")])
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_answer_in_this_process(store: Path, damage: Callable[[Path], str], workload: str) -> None:
    named = damage(store)
    with pytest.raises(DamagedStore, match=named):
        cepbench.evaluate(workload, store, "cogra")


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_command_says_which_file(
    store: Path, tmp_path: Path, damage: Callable[[Path], str], capsys: pytest.CaptureFixture[str]
) -> None:
    named = damage(store)
    (tmp_path / "q.sase").write_text(KEYED)
    with pytest.raises(SystemExit) as ended:
        main(["query", "-q", str(tmp_path / "q.sase"), "-e", str(store), "-a", "cogra"])
    reported = capsys.readouterr()
    assert ended.value.code == 2
    assert reported.out == ""
    assert named in reported.err
    assert len(reported.err.splitlines()) == 1


@pytest.mark.spark
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_answer_on_spark(store: Path, damage: Callable[[Path], str], spark: "SparkSession") -> None:
    stream = read_stream(store)
    named = damage(store)
    for workload in (KEYED, MERGED):
        with pytest.raises(DamagedStore, match=named):
            evaluate_on_spark(workload, store, "cogra", master="local[2]")
    if damage not in (add, add_bucket, other_description):  # the files that were described are all there
        with pytest.raises(DamagedStore, match=named):
            rebucket(stream, ("s",), 2, spark=spark)


@pytest.mark.spark
def test_a_damaged_copy_is_made_again(store: Path, spark: "SparkSession") -> None:
    answer = evaluate_on_spark(MERGED, store, "cogra", master="local[2]")
    copies = sorted((store / "_rebucketed").rglob("*.parquet"))
    for damage in (change_bytes, lambda file: file.write_bytes(file.read_bytes()[:-9])):
        damage(copies[0])
        assert evaluate_on_spark(MERGED, store, "cogra", master="local[2]").equals(answer)


def change_bytes(file: Path) -> None:
    """Changes bytes in the middle of the first page, which the footer does not show."""
    content = bytearray(file.read_bytes())
    content[60:80] = bytes(20)
    file.write_bytes(content)


def test_a_description_that_does_not_add_up(store: Path) -> None:
    description = json.loads((store / "stream.json").read_text())
    description["bucket_events"][1] += 1
    (store / "stream.json").write_text(json.dumps(description))
    with pytest.raises(DamagedStore, match=r"stream\.json: the files of bucket 1 do not add up to \d+ events"):
        read_stream(store)


def test_what_was_read_must_add_up(store: Path) -> None:
    stream = read_stream(store)
    stream.check_read(stream.events)
    with pytest.raises(DamagedStore, match=f"{stream.events - 1} of {stream.events} events were read"):
        stream.check_read(stream.events - 1)


def test_what_ends_early_leaves_no_file(tmp_path: Path) -> None:
    writer = BucketWriter(tmp_path, SCHEMA, ("i",), 2, 0)
    writer.write(events())
    writer._flush(0)
    assert [path.name.endswith(".tmp") for path in tmp_path.rglob("*") if path.is_file()] == [True]
    writer.__exit__(RuntimeError, RuntimeError(), None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
