"""The Spark session: one line instead of a traceback when it cannot start, and settings that arrive at the workers."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from unittest.mock import MagicMock

import pytest

from cepbench.events.errors import CepbenchError, InputError
from cepbench.pipeline import session as session_module
from cepbench.pipeline.cluster import TooFewExecutors
from cepbench.pipeline.packages import write_packages
from cepbench.pipeline.session import check_java, session
from cepbench.pipeline.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java(folder: Path, answer: str) -> None:
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "java").write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    (folder / "bin" / "java").chmod(0o755)


def test_java_is_looked_for_before_spark_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(CepbenchError, match=r"JAVA_HOME is .*, which has no bin/java; Spark needs Java 17"):
        check_java()
    java(tmp_path, 'openjdk version "17.0.9" 2023-10-17')
    assert check_java() == 17
    java(tmp_path, 'openjdk version "21" 2023-09-19')
    assert check_java() == 21
    for answer, version in (('java version "1.8.0_392"', "8"), ('openjdk version "11.0.2" 2019-01-15', "11")):
        java(tmp_path, answer)
        with pytest.raises(CepbenchError, match=f"is version {version}; Spark needs Java 17 or newer"):
            check_java()
    java(tmp_path, "no JVM")
    with pytest.raises(CepbenchError, match="does not report its version"):
        check_java()
    (tmp_path / "bin" / "java").write_text("")
    with pytest.raises(CepbenchError, match="does not start"):
        check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(CepbenchError, match="Java is missing: no java on PATH"):
        check_java()


def test_the_packages_travel_with_their_data_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(write_packages(tmp_path)) as archive:
        names = set(archive.namelist())
    expected = {"__init__.py", "queries/sase.lark", "events/batch.py", "pipeline/jobs.py", "algorithms/__init__.py"}
    assert {f"cepbench/{name}" for name in expected} <= names
    assert not any("__pycache__" in name or name.startswith("cepbench/tests") for name in names)


def _fail(item: int) -> int:
    if item == 1:
        raise InputError("item 1 is bad")
    return item


def _break(item: int) -> NoReturn:
    raise ValueError(f"boom {item}\nand more")


def _die(item: int) -> NoReturn:
    os._exit(3)


def _process(item: int) -> int:
    return os.getpid()


class Cluster:
    """A session of a cluster on which executors come one after the other: (executors, cores) at every look."""

    def __init__(self, looks: list[tuple[int, int]], settings: dict[str, str]) -> None:
        self.looks, self.settings, self.looked = looks, settings, 0
        self.sparkContext = self._jsc = self
        self.get = settings.get

    def getConf(self) -> "Cluster":
        return self

    def sc(self) -> "Cluster":
        return self

    def defaultParallelism(self) -> int:
        return self.looks[min(self.looked, len(self.looks)) - 1][1]

    def count(self, _: object) -> int:
        self.looked += 1
        return self.looks[min(self.looked, len(self.looks)) - 1][0]


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Waits for the executors of a cluster, without taking time; how often it looked."""

    def wait(looks: list[tuple[int, int]], **settings: str) -> int:
        cluster = Cluster(looks, {f"spark.{name.replace('_', '.')}": text for name, text in settings.items()})
        clock = iter(range(1000))
        monkeypatch.setattr(session_module, "executor_count", cluster.count)
        monkeypatch.setattr(session_module.time, "monotonic", lambda: float(next(clock)))
        monkeypatch.setattr(session_module.time, "sleep", lambda seconds: None)
        monkeypatch.setattr(session_module, "stop", lambda: None)
        session_module._wait_for_executors(cluster, "spark://h:1")  # type: ignore[arg-type]
        return cluster.looked

    return wait


def test_as_many_executors_as_were_asked_for_are_waited_for(waiting: Callable[..., int]) -> None:
    growing = [(0, 2), (1, 2), (2, 4), (3, 6)]
    assert waiting(growing, executor_instances="3") == 4
    assert waiting(growing, cores_max="4") == 3
    assert waiting(growing, executor_instances="1", cores_max="6") == 4
    with pytest.raises(TooFewExecutors, match=r"^Spark master spark://h:1: 3 executors registered within 60 s, not 4 "):
        waiting(growing, executor_instances="4")
    with pytest.raises(TooFewExecutors, match=r"not 7 cores; ask for fewer, or free some$"):
        waiting(growing, cores_max="7")


def test_without_a_number_all_are_waited_for_that_come(waiting: Callable[..., int]) -> None:
    assert waiting([(0, 2), (1, 2), (2, 4), (2, 4), (2, 4)]) == 5  # nothing new for two seconds
    assert waiting([(1, 1)]) == 3
    with pytest.raises(TooFewExecutors, match="0 executors registered within 60 s, not one"):
        waiting([(0, 2)])
    with pytest.raises(CepbenchError, match=r"^setting spark\.cores\.max=many: expected a whole number"):
        waiting([(1, 1)], cores_max="many")  # from an administrator's defaults


DEFAULTS = """
import sys
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.session import session, stop

given = dict(word.split("=") for word in sys.argv[1:])
spark = session(SparkCluster("local[1]", given))
assert spark.sparkContext.parallelize([1, 2], 2).map(lambda item: item + 1).sum() == 5
for name in ("spark.site", "spark.other", "spark.speculation", "spark.authenticate"):
    print(name, spark.sparkContext.getConf().get(name))
print(spark.sparkContext._jvm.System.getProperty("site"))
stop()
"""


@pytest.mark.apart
@pytest.mark.full
def test_what_an_administrator_set_holds_below_what_we_and_the_user_set(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.site theirs\nspark.other theirs\nspark.speculation true\nspark.driver.extraJavaOptions -Dsite=yes\n"
    )
    command = [sys.executable, "-c", DEFAULTS, "spark.other=mine", "spark.authenticate=true"]
    command.append("spark.authenticate.secret=quiet")
    environment = {**os.environ, "SPARK_CONF_DIR": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "spark.site theirs",
        "spark.other mine",
        "spark.speculation false",
        "spark.authenticate true",
        "yes",
    ]


@pytest.mark.spark
def test_a_session_that_spark_ended_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a context that Spark ended, because its master is gone, there is no `SparkSession` to be had."""
    context = MagicMock()
    context._jsc.sc.return_value.isStopped.return_value = True
    monkeypatch.setattr(session_module.SparkContext, "_active_spark_context", context)
    monkeypatch.setattr(session_module, "SparkSession", MagicMock(side_effect=AssertionError("no session to be had")))
    session_module.stop()
    context.stop.assert_called_once_with()


@pytest.mark.spark
def test_failures_of_tasks_are_one_line(spark: "SparkSession") -> None:
    assert run_tasks(spark, _fail, [0, 2, 3]) == [0, 2, 3]
    assert run_tasks(spark, _fail, []) == []
    with pytest.raises(InputError, match=r"^item 1 is bad$"):
        run_tasks(spark, _fail, [0, 1])
    with pytest.raises(CepbenchError, match=r"^a Spark task failed: ValueError: boom 7$"):
        run_tasks(spark, _break, [7])
    with pytest.raises(CepbenchError, match=r"^a Spark task failed: Python worker exited unexpectedly"):
        run_tasks(spark, _die, [0])


@pytest.mark.spark
@pytest.mark.full
def test_options_of_the_session(spark: "SparkSession") -> None:
    assert session("local[2]").sparkContext is spark.sparkContext
    unreachable = "spark://127.0.0.1:1"
    with pytest.raises(CepbenchError, match=f"Spark master {unreachable} does not answer"):
        session(unreachable)
    with pytest.raises(CepbenchError, match="unknown Spark master 'nonsense'"):
        session("nonsense")
    with pytest.raises(CepbenchError, match=r"Spark does not start on master local\[x\]: Could not parse Master URL"):
        session("local[x]")
    single = session("local[1]")
    assert (single.sparkContext.master, single.sparkContext.defaultParallelism) == ("local[1,4]", 1)
    first, second = run_tasks(single, _process, [0, 1])
    assert first == second  # workers are reused
