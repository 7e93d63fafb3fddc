"""Panels that would draw different workloads as one point are refused."""

from pathlib import Path
from typing import Any

import pytest

from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.planning import plan
from tests.experiments.files import SMALL, write
from tests.pipeline.doubles import make

PANEL = SMALL["plot"]["panels"][0]
TWO = {"events": [100, 200], "within": [50, 60]}
"""A product of two axes."""


def planned(folder: Path, panels: list[dict[str, Any]] | None = None, **changes: Any) -> None:
    plot = {**SMALL["plot"], "panels": panels or [PANEL], **changes.pop("plot", {})}
    plan([str(write(folder, **{"axes": TWO, "zip": None, "plot": plot, **changes}))], make_algorithm=make)


def test_a_product_over_one_axis_is_refused_with_its_cures(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError) as refused:
        planned(tmp_path)
    assert str(refused.value) == (
        "small-1.1: plot.panels.0: at events = 100 it would mix cells of within (within = 50 and 60) in one point; "
        "draw a line for each (plot.series: {name: within, label: ...}) or a row of panels (plot.facet), "
        "or choose one (where: {within: 50})"
    )


def test_each_cure_helps(tmp_path: Path) -> None:
    planned(tmp_path, plot={"series": {"name": "within", "label": "Within"}})
    planned(tmp_path, plot={"facet": {"name": "within", "label": "Within"}})
    planned(tmp_path, [{**PANEL, "where": {"within": 60}}])


def test_draws_of_a_claim_are_no_mixture(tmp_path: Path) -> None:
    claim = {
        "text": "?", "source": "?", "metric": "throughput", "of": SMALL["algorithms"][0], "where": {"events": 100},
        "at_least": 0, "draws": "within",
    }  # fmt: skip
    planned(tmp_path, claims=[claim])
    with pytest.raises(ExperimentError, match="mix cells of within"):
        planned(tmp_path, claims=[{name: value for name, value in claim.items() if name != "draws"}])


def test_every_panel_is_looked_at(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"plot\.panels\.1: at within = 50 .* of events"):
        planned(tmp_path, [{**PANEL, "where": {"within": 60}}, {**PANEL, "x": {"name": "within", "label": "Within"}}])


def test_what_goes_together_mixes_nothing(tmp_path: Path) -> None:
    planned(tmp_path, axes={"events": [100, 200, 300]}, zip={"within": [50]})
    planned(tmp_path, axes=None, zip={"events": [100, 200], "within": [50, 60]})


def test_cells_of_another_kind_or_left_out_mix_nothing(tmp_path: Path) -> None:
    exclude = [{"algorithm": name, "where": {"within": 60}} for name in SMALL["algorithms"]]
    planned(tmp_path, exclude=exclude)
    with pytest.raises(ExperimentError, match="mix cells of within"):
        planned(tmp_path, exclude=exclude[:1])


def test_a_panel_of_one_sweep_sees_no_other(tmp_path: Path) -> None:
    sweeps = {"events": {"axes": {"events": [100, 200]}}, "within": {"axes": {"within": [50, 60]}}}
    planned(tmp_path, axes=None, sweeps=sweeps, defaults={"events": 100, "within": 50})


def test_an_override_is_refused_too(tmp_path: Path) -> None:
    path = str(write(tmp_path))
    plan([path], overrides=["zip.within=[50, 50]"], make_algorithm=make)
    with pytest.raises(ExperimentError, match="mix cells of within"):
        plan([path], overrides=["zip.within=[50, 60]"], make_algorithm=make)
