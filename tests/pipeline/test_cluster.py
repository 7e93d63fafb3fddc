"""Which Spark runs tasks: settings of a file, and how many tasks run side by side."""

import os
from pathlib import Path

import pytest

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.cluster import SparkCluster, TooFewExecutors, read_settings


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
    given = SparkCluster(None, {"spark.x": "1"})
    assert given.with_slots(None) is given
    assert given.with_slots(1) == SparkCluster("local[1]", {"spark.x": "1"})
    with pytest.raises(TooFewExecutors, match=f"this machine has {cores} cores, and {cores + 1} workers were to run"):
        given.with_slots(cores + 1)


def test_slots_of_a_cluster() -> None:
    assert SparkCluster("spark://h:7077").with_slots(3).settings == {"spark.cores.max": "3"}
    assert SparkCluster("yarn", {"spark.executor.cores": "4"}).with_slots(6).settings["spark.executor.instances"] == "2"
    assert SparkCluster("k8s://h").with_slots(6).settings == {"spark.executor.instances": "6"}
