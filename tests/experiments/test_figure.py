import json
from pathlib import Path

from cepbench.experiments.figure import figure
from cepbench.experiments.load import load
from cepbench.metrics.figure import Figure, Verdict
from cepbench.plots.points import curves
from tests.experiments.files import SMALL, write
from tests.experiments.records import record

SWEPT = {
    "axes": None,
    "zip": None,
    "defaults": {"events": 100, "within": 50},
    "sweeps": {"events": {"axes": {"events": [100, 200]}}, "within": {"axes": {"within": [50, 60]}}},
}
WITHIN = {"name": "within", "label": "Window"}
CLAIM = {"text": "It grows.", "source": "here", "metric": "latency_max", "of": "slow", "at_least": 2}


def swept(tmp_path, **changes):
    panel = SMALL["plot"]["panels"][0]
    plot = {**SMALL["plot"], "panels": [panel, {**panel, "x": WITHIN}, {**panel, "where": {"events": 200}}]}
    return load(write(tmp_path, **{**SWEPT, "plot": plot, **changes}))


def records():
    latencies = {(100, 50): 1.0, (200, 50): 2.0, (100, 60): 7.0}
    return [
        record("slow", {"events": events, "within": within}, latency_max=latency)
        for (events, within), latency in latencies.items()
    ]


def test_panels_show_the_sweep_of_their_axis(tmp_path):
    drawn = figure(swept(tmp_path), "quick", records())
    assert [drawn.x_of(panel).name for panel in drawn.panels] == ["events", "within", "events"]
    assert [panel.where for panel in drawn.panels] == [
        {"within": 50},
        {"events": 100},
        {"within": 50, "events": 200},
    ]
    assert Figure.model_validate_json(drawn.model_dump_json()) == drawn


def test_panels_show_the_algorithms_of_their_sweep(tmp_path: Path) -> None:
    sweeps = {"events": {**SWEPT["sweeps"]["events"], "algorithms": ["slow"]}, "within": SWEPT["sweeps"]["within"]}
    drawn = figure(swept(tmp_path, sweeps=sweeps), "quick", records())
    assert [panel.algorithms for panel in drawn.panels] == [("slow",), (), ("slow",)]
    elsewhere = record("counting", {"events": 100, "within": 50}, latency_max=3.0)
    panel_curves = [curves(drawn, panel, [*records(), elsewhere]) for panel in drawn.panels[:2]]
    assert [[curve.algorithm for curve in panel] for panel in panel_curves] == [["slow"], ["counting", "slow"]]


def test_a_panel_may_choose_another_value_than_the_default(tmp_path: Path) -> None:
    panel = {**SMALL["plot"]["panels"][0], "x": WITHIN, "where": {"events": 200}}
    drawn = figure(swept(tmp_path, plot={**SMALL["plot"], "panels": [panel]}), "quick", records())
    assert drawn.panels[0].where == {"events": 200}


def test_a_claim_on_an_absent_system_is_open_for_the_reason_given(tmp_path: Path) -> None:
    claims = [{**SMALL["claims"][0], "of": "flink"}, SMALL["claims"][0]]
    experiment = load(write(tmp_path, absent={"flink": "there is no Flink yet"}, claims=claims))
    measured = [record(name, {"events": 200, "within": 50}, latency_max=1.0) for name in ("slow", "counting")]
    verdicts = [(claim.verdict, claim.reason) for claim in figure(experiment, "quick", measured).claims]
    assert verdicts[0] == (Verdict.OPEN, "there is no Flink yet")
    assert verdicts[1][0] is not Verdict.OPEN


def test_the_environment_is_that_of_the_last_cell(tmp_path: Path) -> None:
    hours = ("2024-05-01T08:00:00+00:00", "2024-05-02T07:00:00+00:00", "2024-04-30T09:00:00+00:00")
    measured = [
        cell.model_copy(update={"started": started, "provenance": {"commit": started[8:10]}})
        for cell, started in zip(records(), hours, strict=True)
    ]
    assert figure(swept(tmp_path), "quick", measured).environment == {"commit": "02"}


def test_workload_and_stream_are_those_of_the_first_point(tmp_path: Path) -> None:
    drawn = figure(swept(tmp_path), "quick", records())
    query = "RETURN key, COUNT(*) PATTERN A+ GROUP-BY key WITHIN 50 s"
    assert drawn.workload == f"{query}\n-- at events = 100, within = 50"
    assert json.loads(drawn.stream)["parameters"]["events"] == 100


def test_claims_have_the_defaults_of_the_axes_that_they_do_not_name(tmp_path):
    claims = [{**CLAIM, "between": {axis: ends}} for axis, ends in (("events", [100, 200]), ("within", [50, 60]))]
    first, second = figure(swept(tmp_path, claims=claims), "quick", records()).claims
    assert (first.measured, first.verdict) == (2.0, Verdict.HOLDS)
    assert (second.measured, second.verdict) == (7.0, Verdict.HOLDS)


def test_a_named_sweep(tmp_path):
    sweeps = {
        "near": {"axes": {"events": [100, 200]}},
        "far": {"axes": {"events": [100, 300], "within": [60]}},
    }
    plot = {**SMALL["plot"], "panels": [{**SMALL["plot"]["panels"][0], "sweep": name} for name in sweeps]}
    drawn = figure(swept(tmp_path, sweeps=sweeps, plot=plot, claims=[]), "quick", records())
    assert [panel.where for panel in drawn.panels] == [{"within": 50}, {}]


def test_algorithms_go_by_their_names(tmp_path):
    labels = {"slow[x=1]": "Slow one"}
    algorithms = ["counting", "slow[x=1, depth=${within}]"]
    experiment = load(write(tmp_path, algorithms=algorithms, claims=[], plot={**SMALL["plot"], "labels": labels}))
    drawn = figure(experiment, "quick", records())
    assert drawn.algorithms == ("counting", "slow[x=1]")
    assert drawn.labels == labels


def test_what_a_claim_expects_is_declared_before_the_first_cell_and_changes_are_listed(tmp_path: Path) -> None:
    first = figure(swept(tmp_path, claims=[CLAIM]), "quick", records())
    assert [(claim.expected, claim.size) for claim in first.declared] == [("at least 2", "the only size")]
    assert (first.dropped, first.added) == ((), ())
    changed = {**CLAIM, "at_least": 1, "text": "It is large."}
    later = figure(
        swept(tmp_path, claims=[changed], revised=["The paper says one."]), "quick", records(), first.declared
    )
    assert [claim.expected for claim in later.dropped] == ["at least 2"]
    assert [(claim.expected, claim.text) for claim in later.added] == [("at least 1", "It is large.")]
    assert later.revised == ("The paper says one.",)
    again = figure(swept(tmp_path, claims=[{**CLAIM, "text": "It grows a lot."}]), "quick", records(), later.declared)
    assert (again.dropped, again.added) == ((), ())
    assert figure(swept(tmp_path, claims=[changed]), "quick", records()).added == ()
