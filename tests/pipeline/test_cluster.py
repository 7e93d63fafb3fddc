"""Which Spark runs tasks: settings of a file, and how many tasks run side by side."""

import os
import re
from pathlib import Path

import pytest

from cepbench.cli.main import main
from cepbench.events.errors import CepbenchError
from cepbench.pipeline.cluster import SparkCluster, TooFewExecutors, number, read_settings


def test_a_settings_file_is_that_of_spark(tmp_path: Path) -> None:
    file = tmp_path / "spark.conf"
    file.write_text("# ours\n\nspark.executor.cores   2\nspark.executor.memory=3g\n  spark.x  -Da=1 -Db=2 \n")
    assert read_settings(file) == {
        "spark.executor.cores": "2",
        "spark.executor.memory": "3g",
        "spark.x": "-Da=1 -Db=2",
    }
    file.write_text("spark.a 1\nspark.b\n")
    with pytest.raises(CepbenchError, match=r"spark\.conf, line 2: 'spark\.b' is not of the form: name value"):
        read_settings(file)


def test_slots_of_this_machine() -> None:
    cores = os.cpu_count() or 1
    cluster = SparkCluster(None, {"spark.x": "1"})
    assert cluster.with_slots(None) is cluster
    assert cluster.with_slots(1) == SparkCluster("local[1]", {"spark.x": "1"})
    with pytest.raises(TooFewExecutors, match=f"this machine has {cores} cores, and {cores + 1} workers were to run"):
        cluster.with_slots(cores + 1)


def test_slots_of_a_cluster() -> None:
    assert SparkCluster("spark://h:7077").with_slots(3).settings == {"spark.cores.max": "3"}
    assert SparkCluster("yarn", {"spark.executor.cores": "4"}).with_slots(6).settings["spark.executor.instances"] == "2"
    assert SparkCluster("k8s://h").with_slots(6).settings == {"spark.executor.instances": "6"}


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("spark.cepbench.lostSeconds", "abc", "a number of more than 0"),
        ("spark.cepbench.lostSeconds", "0", "a number of more than 0"),
        ("spark.cepbench.lostSeconds", "-1", "a number of more than 0"),
        ("spark.cepbench.lostSeconds", "nan", "a number of more than 0"),
        ("spark.executor.cores", "x", "a whole number of at least 1"),
        ("spark.executor.cores", "0", "a whole number of at least 1"),
        ("spark.executor.instances", "1.5", "a whole number of at least 1"),
        ("spark.cores.max", "-2", "a whole number of at least 1"),
    ],
)
def test_numbers_are_checked_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, allowed: str
) -> None:
    line = f"setting {name}={text}: expected {allowed}"
    with pytest.raises(CepbenchError, match=f"^{re.escape(line)}$"):
        SparkCluster("yarn", {name: text})
    with pytest.raises(SystemExit) as ended:
        main(["generate", "uniform", "-o", str(tmp_path / "s"), "--master", "local[1]", "--conf", f"{name}={text}"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"cepbench: {line}\n"


def test_numbers_that_are_allowed() -> None:
    settings = {
        "spark.cepbench.lostSeconds": "0.5",
        "spark.executor.cores": "1",
        "spark.cores.max": "8",
    }
    assert SparkCluster("yarn", settings).settings == settings
    assert number("spark.cepbench.lostSeconds", None, 60.0) == 60.0
