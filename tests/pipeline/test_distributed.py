"""Spark gives the answers of one process: on two local cores, and on a standalone cluster on loopback."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyspark
import pytest

import cepbench
from cepbench.algorithms.base import UnsupportedQuery
from cepbench.events.errors import InputError
from cepbench.generators.registry import from_spec
from cepbench.pipeline.distributed import evaluate_on_spark
from cepbench.pipeline.generation import generate
from cepbench.pipeline.packages import cache_folder
from cepbench.pipeline.session import session, stop
from cepbench.pipeline.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOAD = """
whole: RETURN COUNT(*), SUM(A.value) PATTERN SEQ(A, B) WITHIN 60 seconds SLIDE 30 seconds

keyed: RETURN key, COUNT(*), MAX(A.value), AVG(B.score) PATTERN SEQ(A+, B) WHERE A.value < NEXT(A).value GROUP-BY key
WITHIN 60 seconds

both: RETURN key, COUNT(*) PATTERN SEQ(A, B, C) WHERE [value] GROUP-BY key

matches: RETURN MATCHES PATTERN SEQ(A, B) WHERE [value, key] WITHIN 1000 seconds
"""
CLUSTER_SECONDS = 90


@pytest.mark.spark
def test_spark_and_one_process_agree(tmp_path: Path, spark: "SparkSession") -> None:
    generator = from_spec("uniform", {"events": 3000, "groups": 6, "tie_probability": 0.3})
    store = generate(generator, tmp_path / "store", spark=spark, key=("key",), buckets=3)
    here = cepbench.evaluate(WORKLOAD, store.path, "sase")
    assert set(here["query"]) == {"whole", "keyed", "both", "matches"}
    there = evaluate_on_spark(WORKLOAD, store.path, "sase", master="local[2]")
    pd.testing.assert_frame_equal(there, here)
    frame = pd.DataFrame({"time": [3, 1, 2], "type": ["B", "A", "A"], "g": ["u", "v", "u"]})
    frame.to_csv(tmp_path / "e.csv", index=False)
    query = "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g"
    said: list[str] = []
    for events in (frame, tmp_path / "e.csv"):
        answer = evaluate_on_spark(query, events, "greta", notify=said.append, master="local[2]")
        assert answer["g"].tolist() == ["u"]
        assert answer["COUNT(*)"].tolist() == [1]
    assert len(said) == 2
    (tmp_path / "e.csv").write_text("time,type,g\n1,A,u\n2,B,\n")
    with pytest.raises(InputError, match=r"e\.csv, row 2, column 'g': null or NaN in an event of type 'B'"):
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
        there = evaluate_on_spark(workload, store.path, "cogra", master=cluster)
        pd.testing.assert_frame_equal(there, cepbench.evaluate(workload, store.path, "cogra"))
    finally:
        stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """The URL of a standalone master with two workers of one core each, all on loopback with free ports."""
    stop()
    processes = []
    try:
        port = _free_port()
        master = f"spark://127.0.0.1:{port}"
        processes.append(_daemon(tmp_path, "master.Master", "--host", "127.0.0.1", "--port", str(port)))
        _wait_for(port)
        for number in (1, 2):
            work = tmp_path / f"work-{number}"
            work.mkdir()
            arguments = (
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(work),
            )
            processes.append(_daemon(work, "worker.Worker", *arguments, master))
        yield master
    finally:
        stop()
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()


def _daemon(folder: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--webui-port", "0", *arguments]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + CLUSTER_SECONDS
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
