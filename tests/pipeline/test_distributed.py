"""Spark gives the answers of one process: on two local cores, and on a standalone cluster on loopback."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import cepbench
from cepbench.algorithms.base import UnsupportedQuery
from cepbench.cli.main import main
from cepbench.events.errors import InputError
from cepbench.generators.registry import from_spec
from cepbench.pipeline.distributed import evaluate_on_spark
from cepbench.pipeline.generation import generate
from cepbench.pipeline.packages import cache_folder
from cepbench.pipeline.session import session, stop
from cepbench.pipeline.tasks import run_tasks
from tests.standalone import Standalone, can_hide

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = """
whole: RETURN COUNT(*), SUM(A.value) PATTERN SEQ(A, B) WITHIN 60 seconds SLIDE 30 seconds

keyed: RETURN key, COUNT(*), MAX(A.value), AVG(B.score) PATTERN SEQ(A+, B) WHERE A.value < NEXT(A).value GROUP-BY key
WITHIN 60 seconds

both: RETURN key, COUNT(*) PATTERN SEQ(A, B, C) WHERE [value] GROUP-BY key

matches: RETURN MATCHES PATTERN SEQ(A, B) WHERE [value, key] WITHIN 1000 seconds
"""


@pytest.mark.spark
def test_spark_and_one_process_agree(tmp_path: Path, spark: "SparkSession") -> None:
    generator = from_spec("uniform", {"events": 3000, "groups": 6, "tie_probability": 0.3})
    store = generate(generator, tmp_path / "store", spark=spark, key=("key",), buckets=3)
    local = cepbench.evaluate(WORKLOAD, store.path, "sase")
    assert set(local["query"]) == {"whole", "keyed", "both", "matches"}
    distributed = evaluate_on_spark(WORKLOAD, store.path, "sase", master="local[2]")
    pd.testing.assert_frame_equal(distributed, local)
    if cepbench.make("duckdb").missing() is None:
        pd.testing.assert_frame_equal(evaluate_on_spark(WORKLOAD, store.path, "duckdb", master="local[2]"), local)
    frame = pd.DataFrame({"time": [3, 1, 2], "type": ["B", "A", "A"], "g": ["u", "v", "u"]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    query = "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g"
    messages: list[str] = []
    for events in (frame, tmp_path / "e.csv"):
        answer = evaluate_on_spark(query, events, "greta", notify=messages.append, master="local[2]")
        assert answer["g"].tolist() == ["u"]
        assert answer["COUNT(*)"].tolist() == [1]
    assert len(messages) == 2
    (tmp_path / "e.csv").write_text("time,type,g\n1,A,u\n2,B,\n")
    with pytest.raises(InputError, match=r"e\.csv, row 3, column 'g': null or NaN in an event of type 'B'"):
        evaluate_on_spark(query, tmp_path / "e.csv", "greta", master="local[2]")
    with pytest.raises(UnsupportedQuery):
        evaluate_on_spark("RETURN COMPLETE MATCHES PATTERN A+", tmp_path / "e.csv", "cogra", master="local[2]")


@pytest.mark.cluster
def test_a_cluster_gives_the_same_answer(tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def origins(item: int) -> tuple[str, str]:
        from cepbench.pipeline import tasks
        from cepbench.queries import parser

        return str(tasks.__file__), str(parser.__file__)

    workload = "RETURN key, COUNT(*) PATTERN SEQ(A, B) GROUP-BY key; RETURN COUNT(*) PATTERN SEQ(C, D) WHERE [value]"
    generator = from_spec("uniform", {"events": 2000, "groups": 6})
    # Workers must find the packages in the job, not where the tests happen to run.
    monkeypatch.delenv("PYTHONPATH", raising=False)
    try:
        spark = session(cluster)
        for sources in run_tasks(spark, origins, range(4)):
            assert all(source.startswith(str(cache_folder())) for source in sources)
        store = generate(generator, tmp_path / "store", spark=spark, key=("key",), buckets=4)
        # COGRA, because its kernels compile fastest: the workers have none yet.
        distributed = evaluate_on_spark(workload, store.path, "cogra", master=cluster)
        pd.testing.assert_frame_equal(distributed, cepbench.evaluate(workload, store.path, "cogra"))
    finally:
        stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The URL of a standalone master with two workers of one core each, all on loopback with free ports."""
    stop()
    with Standalone(tmp_path / "spark") as spark:
        for _ in range(2):
            spark.add_worker()
        yield spark.url
        stop()


@pytest.mark.cluster
@pytest.mark.skipif(not can_hide(), reason="this system does not let us hide a folder from a process")
def test_storage_that_one_worker_does_not_see_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "q.sase").write_text("RETURN key, COUNT(*) PATTERN SEQ(A, B) GROUP-BY key")
    (shared / "e.csv").write_text("time,type,key\n" + "".join(f"{i},{'AB'[i % 2]},{i % 7}\n" for i in range(200)))
    generate(from_spec("uniform", {"events": 500, "groups": 6}), shared / "store", spark=None, key=("key",), buckets=4)
    before = sorted(shared.rglob("*"))
    commands = [
        ("generate", "uniform", "-p", "events=4000", "-p", "groups=6", "--key", "key", "-o", shared / "new"),
        ("query", "-q", shared / "q.sase", "-e", shared / "store", "-a", "cogra"),
        ("query", "-q", shared / "q.sase", "-e", shared / "e.csv", "-a", "cogra", "-o", shared / "answer.csv"),
        ("run", "cogra-19.4", "--profile", "smoke", "--results", shared / "results"),
    ]
    stop()
    with Standalone(tmp_path / "spark") as spark:
        spark.add_worker()
        spark.add_worker(hidden=shared)
        for command in commands:
            with pytest.raises(SystemExit) as ended:
                main([str(word) for word in (*command, "--master", spark.url)])
            logging.disable(logging.NOTSET)
            reported = capsys.readouterr()
            assert (ended.value.code, reported.out) == (2, "")
            assert "does not see what is there; use storage that all machines share" in reported.err
            assert len(reported.err.splitlines()) == 1
        stop()
    left = [path for path in sorted(shared.rglob("*")) if path not in before and "results" not in path.parts]
    assert left == []
    assert not list((shared / "results").rglob("*.json"))
