"""A figure on a real standalone cluster on loopback."""

import pytest

from cepbench.experiments.sweep import plan, run_planned
from cepbench.metrics.record import Status
from cepbench.metrics.results import read
from tests.pipeline.test_distributed import cluster  # noqa: F401

OVERRIDES = (
    "axes.groups=[15, 30]",
    "zip.window=[small]",
    "zip.events=[300]",
    "algorithms=[cogra]",  # compiles fastest: the workers have no kernels yet
    "measurements=[time, memory]",
)


@pytest.mark.cluster
@pytest.mark.slow
def test_a_figure_on_a_cluster(tmp_path, cluster, monkeypatch):  # noqa: F811
    # Workers must find the packages in the job, not where the tests happen to run.
    monkeypatch.delenv("PYTHONPATH", raising=False)
    planned = plan(["cogra-19.4"], "smoke", OVERRIDES)
    swept = run_planned(planned, tmp_path / "cluster", cluster, progress=False)
    assert swept.statuses == {Status.OK: 4}
    there = read(swept.folders[0]).records
    assert {r.provenance["spark"]["spark.master"] for r in there} == {cluster}
    assert all(r.summary.process_peak is not None for r in there if r.measurement == "memory")
    here = read(run_planned(planned, tmp_path / "local", "local[2]", progress=False).folders[0]).records
    assert [r.digest for r in there] == [r.digest for r in here]
    assert [r.realised for r in there] == [r.realised for r in here]
