"""The Spark session: one line instead of a traceback when it cannot start, and settings that arrive at the workers."""

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from cepbench.events.errors import CepbenchError, InputError
from cepbench.pipeline.java import check_java
from cepbench.pipeline.packages import write_packages
from cepbench.pipeline.session import session
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
    with pytest.raises(CepbenchError, match="does not tell its version"):
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
    wanted = {"__init__.py", "queries/sase.lark", "events/batch.py", "pipeline/jobs.py", "algorithms/__init__.py"}
    assert {f"cepbench/{name}" for name in wanted} <= names
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
    assert (single.sparkContext.master, single.sparkContext.defaultParallelism) == ("local[1]", 1)
    fresh = session("local[1]", reuse_workers=False)
    one, other = run_tasks(fresh, _process, [0, 1])
    assert one != other
