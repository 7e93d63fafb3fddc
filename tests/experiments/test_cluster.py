"""A figure on a real standalone cluster on loopback."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.cloudpickle import register_pickle_by_value, unregister_pickle_by_value

from cepbench.experiments.planning import plan
from cepbench.experiments.sweep import run_planned
from cepbench.generators.registry import from_spec
from cepbench.metrics.results import read
from cepbench.metrics.status import Status
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.generation import generate
from cepbench.pipeline.measured import measure_cell, measuring_session
from cepbench.pipeline.measured_task import MeasuredRun
from cepbench.pipeline.session import stop
from tests.pipeline import doubles
from tests.pipeline.test_distributed import cluster  # noqa: F401
from tests.standalone import Standalone

OVERRIDES = (
    "axes.keys=[15, 30]",
    "axes.skew=[0]",
    "zip.events=[300]",
    "algorithms=[cogra]",  # compiles fastest: the workers have no kernels yet
    "measurements=[time, memory]",
    "repeat=0",
)


@pytest.mark.cluster
def test_a_figure_on_a_cluster(tmp_path, cluster, monkeypatch):  # noqa: F811
    # Workers must find the packages in the job, not where the tests happen to run.
    monkeypatch.delenv("PYTHONPATH", raising=False)
    planned = plan(["beyond-keys"], "smoke", OVERRIDES)
    swept = run_planned(planned, tmp_path / "cluster", cluster)
    assert swept.statuses == {Status.OK: 2}
    distributed = read(swept.folders[0]).records
    assert {r.provenance["spark"]["spark.master"] for r in distributed} == {cluster}
    assert all(r.summary.process_peak is not None for r in distributed if r.memory_status is not None)
    local = read(run_planned(planned, tmp_path / "local", "local[2]").folders[0]).records
    assert [r.digest for r in distributed] == [r.digest for r in local]
    assert [r.realised for r in distributed] == [r.realised for r in local]


@pytest.mark.cluster
def test_limits_kill_on_a_cluster(tmp_path, cluster, monkeypatch):  # noqa: F811
    monkeypatch.delenv("PYTHONPATH", raising=False)
    register_pickle_by_value(doubles)  # type: ignore[no-untyped-call]
    spark = measuring_session(cluster, 10**9)
    generator = from_spec("uniform", {"events": 400, "types": 1, "rate": 1})
    store = generate(generator, tmp_path / "uniform", spark=None, buckets=1).path
    job = MeasuredRun(store, "RETURN COUNT(*) PATTERN A+ WITHIN 100 s", doubles.Stuck(), limit_bytes=10**9)
    outcome = measure_cell(job, 3, spark)
    assert (outcome.status, outcome.reason) == (Status.TIMEOUT, "killed after 3 s of measured time")
    outcome = measure_cell(replace(job, algorithm=doubles.Growing()), 60, spark)
    assert outcome.status is Status.OUT_OF_MEMORY, outcome.reason
    assert measure_cell(replace(job, algorithm=doubles.Counting()), 60, spark).status is Status.OK
    unregister_pickle_by_value(doubles)  # type: ignore[no-untyped-call]


@pytest.mark.cluster
def test_eight_slots_of_one_executor_have_a_gigabyte_each_and_share_a_secret(tmp_path: Path) -> None:
    """On a cluster that wants its connections authenticated."""
    secret = {"spark.authenticate": "true", "spark.authenticate.secret": "between us"}
    stop()
    with Standalone(tmp_path / "spark", secret) as spark:
        spark.add_worker(cores=8)
        overrides = ("axes.keys=[30]", "axes.skew=[0]", "zip.events=[3000]", "algorithms=[cogra]")
        planned = plan(["beyond-keys"], "smoke", (*overrides, "limits.memory=1GB", "buckets=8", "repeat=0"))
        settings = {**secret, "spark.executor.cores": "8", "spark.executor.instances": "1"}
        swept = run_planned(planned, tmp_path / "results", SparkCluster(spark.url, settings))
        stop()
    [folder] = swept.folders
    for record in read(folder).records:
        assert record.status is Status.OK, record.reason
        base = record.summary.worker_base_bytes
        assert base < record.summary.worker_limit_bytes < base + 10**9
        assert record.provenance["spark"]["spark.executor.cores"] == "8"
        assert record.summary.slots > 1
