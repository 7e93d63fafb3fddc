"""A figure on a real standalone cluster on loopback."""

from pathlib import Path

import pytest

from cepbench.experiments.sweep import plan, run_planned
from cepbench.metrics.record import Status
from cepbench.metrics.results import read
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.session import stop
from tests.pipeline.test_distributed import cluster  # noqa: F401
from tests.standalone import Standalone

OVERRIDES = (
    "axes.groups=[15, 30]",
    "zip.window=[filtered]",
    "zip.wait=[4]",
    "zip.events=[300]",
    "algorithms=[cogra]",  # compiles fastest: the workers have no kernels yet
    "measurements=[time, memory]",
    "repeat=0",
)


@pytest.mark.cluster
def test_a_figure_on_a_cluster(tmp_path, cluster, monkeypatch):  # noqa: F811
    # Workers must find the packages in the job, not where the tests happen to run.
    monkeypatch.delenv("PYTHONPATH", raising=False)
    planned = plan(["cogra-19.4"], "smoke", OVERRIDES)
    swept = run_planned(planned, tmp_path / "cluster", cluster, progress=False)
    assert swept.statuses == {Status.OK: 2}
    there = read(swept.folders[0]).records
    assert {r.provenance["spark"]["spark.master"] for r in there} == {cluster}
    assert all(r.summary.process_peak is not None for r in there)
    here = read(run_planned(planned, tmp_path / "local", "local[2]", progress=False).folders[0]).records
    assert [r.digest for r in there] == [r.digest for r in here]
    assert [r.realised for r in there] == [r.realised for r in here]


@pytest.mark.cluster
def test_eight_slots_of_one_executor_have_a_gigabyte_each_and_share_a_secret(tmp_path: Path) -> None:
    """On a cluster that wants its connections authenticated."""
    secret = {"spark.authenticate": "true", "spark.authenticate.secret": "between us"}
    stop()
    with Standalone(tmp_path / "spark", secret) as spark:
        spark.add_worker(cores=8)
        zipped = ("zip.window=[filtered]", "zip.wait=[4]", "zip.events=[3000]")
        overrides = ("axes.groups=[30]", *zipped, "algorithms=[cogra]")
        planned = plan(["cogra-19.4"], "smoke", (*overrides, "limits.memory=1GB", "buckets=8", "repeat=0"))
        settings = {**secret, "spark.executor.cores": "8", "spark.executor.instances": "1"}
        swept = run_planned(planned, tmp_path / "results", SparkCluster(spark.url, settings), progress=False)
        stop()
    [folder] = swept.folders
    for record in read(folder).records:
        assert record.status is Status.OK, record.reason
        assert record.summary.worker_limit_bytes == 10**9
        assert record.provenance["spark"]["spark.executor.cores"] == "8"
        assert record.summary.slots > 1
