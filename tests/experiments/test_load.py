from pathlib import Path

import pytest

from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.load import belonging, experiments, find, load, sources
from tests.experiments.files import SMALL, write

PANEL = SMALL["plot"]["panels"][0]
RATE = {"metric": "throughput"}
CAUSE = {"by": "ours", "why": "It is."}
SWEPT = {
    "axes": None,
    "zip": None,
    "defaults": {"events": 100, "within": 50},
    "sweeps": {"events": {"axes": {"events": [1, 2]}}},
}


def test_a_file_with_profiles_and_overrides(tmp_path):
    path = write(tmp_path, profiles={"smoke": {"limits": {"seconds": 5}, "axes": {"events": [7]}}})
    smoke = load(path, "smoke")
    assert (smoke.limits.seconds, smoke.limits.memory, smoke.axes["events"]) == (5, 3 * 10**9, [7])
    assert load(path, "quick").axes["events"] == [100, 200]
    changed = load(path, "smoke", ["axes.events=[8, 9]", "workers=3", "algorithms=[slow]"])
    assert (changed.axes["events"], changed.workers, changed.algorithms) == ([8, 9], 3, ["slow"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "colour: unknown field"),
        ({"departures": [{"what": "fewer events"}]}, "departures.0.reason: missing"),
        ({"repetitions": 2}, "repetitions: unknown field; it is called workers"),
        ({"workers": 0}, "workers: expected at least 1, not 0"),
        ({"measurements": ["memory"]}, "measurements: time is always measured; give [time], or [time, memory]"),
        ({"limits": {"seconds": 5, "memory": "3 apples"}}, "limits.memory: expected a size such as 4096"),
        ({"limits": {"seconds": 5, "memory": "1 MB"}}, "limits.memory: expected at least 256 MiB, not 1 MB"),
        ({"zip": {"a": [1, 2], "b": [1]}}, "zip: axes advance together"),
        ({"zip": {"events": [1]}}, "zip: axis 'events' is also in axes"),
        ({"axes": {"events": []}}, "axes.events: List should have at least 1 item"),
        ({"algorithms": "counting,slow"}, "algorithms: expected a list, [counting, slow], not 'counting,slow'"),
        ({"workload": None}, "workload: missing"),
        ({"workload": "own.sase"}, "workload: 'own.sase' is a file, not a query; write {file: own.sase}"),
        (
            {"workload": {"path": "own.sase"}},
            "workload.path: unknown field; expected file or text",
        ),
        ({"workload": {"file": "a.sase", "text": "A"}}, "workload: give one of file, text and generator"),
        ({"workload": {"text": "PATTERN A", "count": 3}}, "workload: count: there are no variants to count"),
        (
            {"workload": {"text": "PATTERN A", "variants": {"x": {"from": 3, "to": 1}}}},
            "workload.variants.x: there are no values from 3 to 1 in steps of 1",
        ),
        ({"workload": {"generator": "sequences", "speed": 1}}, "workload.speed: unknown field"),
        ({"stream": {"parameters": {}}}, "stream: give one of generator"),
        ({"stream": {"generator": "stock", "where": "v > 1"}}, "stream: where: is for files; give the path of one"),
        ({"stream": {"path": "x.csv", "where": "v >>> 1"}}, "stream: where"),
        ({"stream": {"generator": "stock", "path": "x"}}, "stream: give one of generator"),
        (
            {"monotone": "sideways"},
            "monotone: give no, increasing or decreasing, or one of them for each axis, not 'sideways'",
        ),
        ({"arrival": {"rate": -1}}, "arrival"),
        ({"exclude": [{"algorithm": "sase"}]}, "exclude.0: 'sase' is not among the algorithms counting, slow"),
        ({"exclude": [{"algorithm": "slow", "where": {"rate": 1}}]}, "exclude.0.where: unknown axis 'rate'"),
        ({"claims": [{**SMALL["claims"][0], "of": "sase"}]}, "claims.0: 'sase' is not among the algorithms"),
        ({"claims": [{**SMALL["claims"][0], "where": {"hours": 1}}]}, "claims.0: unknown axis 'hours'"),
        ({"claims": [{**SMALL["claims"][0], "draws": "seed"}]}, "claims.0: unknown axis 'seed'"),
        (
            {"claims": [{**SMALL["claims"][0], "cause": {**CAUSE, "evidence": [{"metric": "speed", "of": "slow"}]}}]},
            "claims.0.effect.cause.evidence.0: unknown metric 'speed'",
        ),
        (
            {"claims": [{**SMALL["claims"][0], "cause": {**CAUSE, "evidence": [{**RATE, "of": "sase"}]}}]},
            "claims.0: 'sase' is not among the algorithms",
        ),
        ({"absent": {"slow": "why"}}, "absent: 'slow' is among the algorithms"),
        (
            {"absent": {"sase": "why"}, "exclude": [{"algorithm": "cet"}]},
            "exclude.0: 'cet' is not among the algorithms counting, slow",
        ),
        ({"claims": [{**SMALL["claims"][0], "metric": "speed"}]}, "claims.0.effect: unknown metric 'speed'"),
        ({"claims": [{**SMALL["claims"][0], "to_metric": "speed"}]}, "claims.0.effect: unknown metric 'speed'"),
        (
            {"claims": [{**SMALL["claims"][0], "at_least": None}]},
            "claims.0.effect: give one of factor, orders, at_least, at_most, power, direction",
        ),
        ({"claims": [{**SMALL["claims"][0], "kind": "rumour"}]}, "claims.0.effect.kind: unknown field"),
        ({"plot": {**SMALL["plot"], "x": {"name": "rate", "label": "R"}}}, "plot.x: unknown axis 'rate'"),
        ({"monotone": {"rate": True}}, "monotone: unknown axis 'rate'; there are events, within"),
        (
            {"monotone": {"events": "up"}},
            "monotone: give no, increasing or decreasing, or one of them for each axis, not 'up'",
        ),
        ({"sweeps": {"a": {"axes": {"events": [1]}}}}, "sweeps: put axes and zip inside the sweeps"),
        (
            {"axes": None, "zip": None, "sweeps": {"a": {"axes": {"events": [1]}}, "b": {"axes": {"within": [1]}}}},
            "sweeps.a: axis 'within' is neither varied here nor in defaults",
        ),
        (
            {**SWEPT, "sweeps": {"a": {"zip": {"events": [1], "within": [1, 2]}}}},
            "sweeps.a: zip: axes advance together and must be equally long, but events has 1, within has 2",
        ),
        (
            {**SWEPT, "sweeps": {"a": {"axes": {"within": [1]}}}},
            "plot.panels.0: no sweep varies axis 'events'; name one sweep",
        ),
        (
            {**SWEPT, "sweeps": {name: {"axes": {"events": [1]}} for name in "ab"}},
            "plot.panels.0: sweeps a, b vary axis 'events'; name one sweep",
        ),
        (
            {**SWEPT, "sweeps": {"events": {"axes": {"events": [1]}, "algorithms": ["sase"]}}},
            "sweeps.events: 'sase' is not among the algorithms counting, slow",
        ),
        (
            {"plot": {**SMALL["plot"], "panels": [{"metric": "throughput", "label": "Gain", "over": "sase"}]}},
            "plot.panels.0.over: 'sase' is not among the algorithms",
        ),
        ({"plot": {**SMALL["plot"], "labels": {"sase": "S"}}}, "plot.labels: 'sase' is not among the algorithms"),
        (
            {"plot": {**SMALL["plot"], "panels": [{**PANEL, "x": {"name": "rate", "label": "R"}}]}},
            "plot.panels.0: unknown axis 'rate'",
        ),
        (
            {"algorithms": ["counting", "slow", "slow[x=${events}]"]},
            "algorithms: 'slow' occurs twice; parameters with an axis do not distinguish it",
        ),
        ({"profiles": {"tiny": {}}}, "profiles: unknown profile 'tiny'; choose one of smoke, quick, headline, paper"),
        ({"profiles": {"smoke": {"workers": -1}}}, "profiles.smoke: workers"),
        ({"id": "other-1.1"}, "id: expected the file's name 'small-1.1', not 'other-1.1'"),
    ],
)
def test_mistakes_are_named_in_one_line(tmp_path, changes, message):
    path = write(tmp_path, **changes)
    with pytest.raises(ExperimentError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("limits.seconds", "--set takes path=value"),
        ("=5", "--set takes path=value"),
        ("limits.secnods=5", "--set: limits.secnods: unknown field"),
        ("axes.events=[1", "is not a YAML value"),
    ],
)
def test_wrong_overrides(tmp_path, override, message):
    with pytest.raises(ExperimentError, match=message.replace("[", r"\[")):
        load(write(tmp_path), overrides=[override])


def test_files_that_are_no_experiments(tmp_path):
    with pytest.raises(ExperimentError, match="no such file"):
        load(tmp_path / "nothing.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("id: [")
    with pytest.raises(ExperimentError, match=r"broken.yaml: line \d+: "):
        load(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ExperimentError, match=r"UTF-8|not YAML|special characters"):
        load(broken)
    broken.write_text("- a\n- b\n")
    with pytest.raises(ExperimentError, match="expected a mapping"):
        load(broken)
    with pytest.raises(ExperimentError, match="unknown experiment 'greta-99'; choose one of"):
        find("greta-99")


def test_experiments_are_in_the_order_of_their_figures(tmp_path: Path) -> None:
    for name in ("b-10.2", "b-9.10", "a-9.9", "c-2"):
        (tmp_path / f"{name}.yaml").touch()
    assert list(experiments(tmp_path)) == ["c-2", "a-9.9", "b-9.10", "b-10.2"]


@pytest.mark.parametrize(
    ("size", "memory"),
    [("3 GB", 3 * 10**9), ("1.5GiB", 3 * 2**29), ("500 mb", 5 * 10**8), ("512 MiB", 2**29), (10**9, 10**9)],
)
def test_sizes(tmp_path: Path, size: str | int, memory: int) -> None:
    assert load(write(tmp_path, limits={"seconds": 1, "memory": size})).limits.memory == memory


@pytest.mark.parametrize("profile", ["smoke", "quick", "headline", "paper"])
@pytest.mark.parametrize("name", experiments())
def test_the_figures_of_the_papers_load(name, profile):
    experiment = load(find(name), profile)
    assert experiment.description
    if name.startswith("arena-"):  # of no paper: it compares, and claims nothing
        assert (experiment.paper, experiment.departures, experiment.claims) == ("", (), ())
        return
    unpublished = experiment.paper.startswith("none")
    assert unpublished or (experiment.claims and experiment.departures)
    assert experiment.figure.split()[0] == name.split("-")[1]


@pytest.mark.parametrize("name", experiments())
def test_a_claim_on_flink_is_about_no_other_system(name: str) -> None:
    experiment = load(find(name))
    claims = [claim for claim in experiment.claims if "Flink" in claim.text]
    assert all("flink" in claim.algorithms for claim in claims)
    assert not claims or "flink" in experiment.engines


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("cet-8.1", 1), ("cet-8.2", 1), ("greta-13.1", 2), ("greta-13.3", 1), ("greta-13.4", 1), ("cogra-19.1", 2),
        ("cogra-19.2", 1), ("cogra-19.3", 2), ("cogra-19.4", 2), ("sharon-25.1", 1),
    ],
)  # fmt: skip
def test_what_the_paper_says_of_flink_is_claimed(name: str, claims: int) -> None:
    experiment = load(find(name))
    on_flink = [claim for claim in experiment.claims if "flink" in claim.algorithms]
    assert len(on_flink) == claims
    assert all(claim.source.startswith("Section ") for claim in on_flink)


@pytest.mark.parametrize("name", ["hamlet-9", "hamlet-10"])
def test_what_the_paper_says_of_mcep_is_claimed(name: str) -> None:
    experiment = load(find(name))
    assert "mcep[plan=re]" in experiment.series  # the default search ends early, which leaves claims open
    assert any("mcep[plan=re]" in claim.algorithms for claim in experiment.claims)


def test_an_experiment_takes_the_workload_of_another_one(tmp_path):
    write(tmp_path, values={"events": {"few": 10}}, axes={"events": ["few"]}, claims=None)
    stream = {"parameters": {"seed": "${seed}"}}
    own = {"id": "own", "workload_of": "small-1.1", "stream": stream, "axes": {"seed": [1, 2]}, "zip": None}
    path = write(tmp_path, name="own", **own, defaults={"events": "few", "within": 5}, claims=None, workload=None)
    experiment = load(path)
    assert experiment.stream.generator == "uniform"
    assert experiment.stream.parameters == {**SMALL["stream"]["parameters"], "seed": "${seed}"}
    assert (experiment.workload, experiment.values) == (SMALL["workload"], {"events": {"few": 10}})
    assert experiment.axes == {"seed": [1, 2]}


def test_an_experiment_is_like_another_one(tmp_path):
    smoke = {"axes": {"events": [7]}, "repeat": 0}
    write(tmp_path, profiles={"smoke": smoke}, claims=None)
    (tmp_path / "same.yaml").write_text("like: small-1.1\nfigure: '9'\nplot: {labels: {slow: Slow}}\nrepeat: 3\n")
    same = load(tmp_path / "same.yaml", "smoke")
    assert (same.id, same.figure, same.title) == ("same", "9", "same")
    assert (same.axes, same.repeat, same.plot.labels) == ({"events": [7]}, 3, {"slow": "Slow"})
    assert same.plot.panels[0].metric == "latency_max"
    points = "like: small-1.1\nzip: {events: [3], within: [4]}\n"
    (tmp_path / "points.yaml").write_text(points)
    other = load(tmp_path / "points.yaml", "smoke")
    assert (other.axes, other.zip, other.repeat) == ({}, {"events": [3], "within": [4]}, 0)
    assert sources(tmp_path / "points.yaml") == [tmp_path / "points.yaml", tmp_path / "small-1.1.yaml"]
    (tmp_path / "own.yaml").write_text("like: atlas-ideas-taxi\n")
    assert load(tmp_path / "own.yaml").algorithms == load(find("atlas-ideas-ridesharing")).algorithms
    (tmp_path / "one.yaml").write_text("like: other\n")
    (tmp_path / "other.yaml").write_text("like: one\n")
    with pytest.raises(ExperimentError, match="it takes its own fields by other"):
        load(tmp_path / "one.yaml")
    (tmp_path / "none.yaml").write_text("like: missing\n")
    with pytest.raises(ExperimentError, match="unknown experiment 'missing'"):
        load(tmp_path / "none.yaml")


def test_the_atlas_has_its_own_profile():
    atlas, quick, smoke = (set(belonging(profile)) for profile in ("atlas", "quick", "smoke"))
    assert atlas == {name for name in experiments() if name.startswith("atlas-")}
    assert not atlas & quick
    assert atlas | quick == smoke == set(experiments())
