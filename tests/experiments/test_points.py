from pathlib import Path

import pytest

from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.load import load
from cepbench.experiments.points import cells, points
from cepbench.experiments.templates import series_name, substituted
from cepbench.generators.workloads.registry import workload_text
from cepbench.queries.workloads import parse_workload
from tests.experiments.files import SMALL, write


def test_products_with_zipped_axes(tmp_path):
    experiment = load(
        write(tmp_path, axes={"events": [1, 2], "g": ["x", "y"]}, zip={"within": [5, 6], "rate": [10, 20]})
    )
    assert list(points(experiment)) == [
        {"events": e, "g": g, "within": w, "rate": r} for e in (1, 2) for g in ("x", "y") for w, r in ((5, 10), (6, 20))
    ]


SWEPT = {
    "axes": None,
    "zip": None,
    "claims": None,
    "plot": {**SMALL["plot"], "panels": [{**SMALL["plot"]["panels"][0], "sweep": "events"}]},
    "defaults": {"events": 100, "within": 50, "groups": 4},
    "sweeps": {
        "events": {"axes": {"events": [100, 200]}},
        "within": {"axes": {"within": [50, 60]}, "algorithms": ["slow"]},
        "both": {"zip": {"events": [200, 300], "groups": [4, 9]}, "algorithms": ["counting"]},
    },
}


def test_the_points_of_several_sweeps_are_united(tmp_path):
    experiment = load(write(tmp_path, **SWEPT))
    assert list(points(experiment)) == [
        {"events": 100, "within": 50, "groups": 4},
        {"events": 200, "within": 50, "groups": 4},
        {"events": 100, "within": 60, "groups": 4},
        {"events": 300, "within": 50, "groups": 9},
    ]


def test_a_sweep_may_run_some_of_the_algorithms(tmp_path):
    experiment = load(write(tmp_path, **SWEPT))
    ran = {(c.point["events"], c.point["within"]): set[str]() for c in cells(experiment, "quick")}
    for cell in cells(experiment, "quick"):
        ran[cell.point["events"], cell.point["within"]].add(cell.algorithm)
    pair = {"counting", "slow"}
    assert ran == {(100, 50): pair, (200, 50): pair, (100, 60): {"slow"}, (300, 50): {"counting"}}
    fewer = load(write(tmp_path, **SWEPT), overrides=["algorithms=[counting]"])
    assert {cell.algorithm for cell in cells(fewer, "quick")} == {"counting"}


def test_a_profile_changes_one_sweep(tmp_path):
    path = write(tmp_path, **SWEPT, profiles={"smoke": {"sweeps": {"events": {"axes": {"events": [7]}}}}})
    assert [point["events"] for point in points(load(path, "smoke"))] == [7, 100, 100, 200, 300]
    assert [p["within"] for p in points(load(path, "quick", ["sweeps.within.axes.within=[9]"]))] == [50, 50, 9, 50]


def test_defaults_of_a_single_sweep_are_constants(tmp_path):
    experiment = load(write(tmp_path, defaults={"depth": 3, "within": 1}))
    assert list(points(experiment)) == [{"depth": 3, "within": 50, "events": events} for events in (100, 200)]


def test_axes_in_the_specification_of_an_algorithm(tmp_path):
    specifications = ["counting[depth=${within}]", "slow[x=1, depth=${within}, y=a${events}b]"]
    experiment = load(write(tmp_path, algorithms=specifications, claims=[]))
    planned = cells(experiment, "quick")
    assert {cell.algorithm for cell in planned} == {"counting", "slow[x=1]"}
    assert {cell.specification for cell in planned} == {
        "counting[depth=50]",
        "slow[x=1, depth=50, y=a100b]",
        "slow[x=1, depth=50, y=a200b]",
    }
    assert len({cell.group for cell in planned}) == 2
    changed = load(write(tmp_path, algorithms=specifications, claims=[]), overrides=["zip.within=[51]"])
    assert not {cell.id for cell in planned} & {cell.id for cell in cells(changed, "quick")}
    plain = cells(load(write(tmp_path)), "quick")[0]
    assert "algorithm" not in plain.configuration
    assert plain.specification == plain.algorithm


@pytest.mark.parametrize(
    ("specification", "name"),
    [
        ("cet", "cet"),
        ("cet[memory=3MB,detect=time]", "cet[memory=3MB,detect=time]"),
        ("cet[detect=time, memory=${memory}]", "cet[detect=time]"),
        ("cet [memory=${memory}MB, detect=time]", "cet[detect=time]"),
        ("cet[memory=${memory}]", "cet"),
    ],
)
def test_an_algorithm_keeps_its_name_over_an_axis(specification, name):
    assert series_name(specification) == name


def test_a_generated_workload_is_kept_as_text(tmp_path):
    workload = {
        "generator": "sequences",
        "parameters": {
            "queries": "${events}",
            "length": 3,
            "types": ["A", "B", "C"],
            "private": "random",
            "slide": None,
        },
    }
    path = write(tmp_path, axes={"events": [2, 5]}, workload=workload)
    texts = {cell.point["events"]: cell.configuration["workload"] for cell in cells(load(path), "quick")}
    assert {events: len(parse_workload(text)) for events, text in texts.items()} == {2: 2, 5: 5}
    parameters = {"length": 3, "types": "A, B, C", "private": "random"}
    assert texts[2] == workload_text("sequences", {**parameters, "queries": 2})
    reseeded = load(path, overrides=["workload.parameters.seed=1"])
    assert not {c.id for c in cells(load(path), "quick")} & {c.id for c in cells(reseeded, "quick")}


def test_axes_go_into_stream_and_workload_with_their_type(tmp_path):
    first = cells(load(write(tmp_path)), "quick")[0]
    assert first.configuration["stream"]["parameters"]["events"] == first.point["events"]
    assert first.configuration["workload"].endswith("WITHIN 50 s")
    assert substituted("${a}/600", {"a": 5}, "x") == "5/600"
    assert substituted({"k": ["${a}", "b"]}, {"a": 0.5}, "x") == {"k": [0.5, "b"]}
    with pytest.raises(ExperimentError, match=r"x.k: unknown axis \$\{b\}; there are a"):
        substituted({"k": "${b}"}, {"a": 1}, "x")


def test_every_algorithm_at_a_point_is_a_cell_in_each_round(tmp_path):
    experiment = load(write(tmp_path, workers=2, repeat=3, measurements=["time", "memory"], claims=None))
    planned = cells(experiment, "quick")
    assert {cell.configuration["repeat"] for cell in planned} == {1.5}  # of each worker
    assert len(planned) == len({cell.id for cell in planned}) == 2 * 2 * 2  # points, algorithms, rounds
    assert len({cell.group for cell in planned}) == 2
    assert [(cell.round, cell.memory) for cell in planned] == [(1, True)] * 4 + [(2, False)] * 4


@pytest.mark.parametrize(
    ("changes", "later"),
    [
        ({}, {("slow", 200), ("counting", 200)}),
        ({"of": "counting", "to": None, "at_least": None, "where": {"events": 100}, "factor": 2}, {("counting", 100)}),
        ({"metric": "state_peak", "where": {"events": 100}}, set()),
        (
            {"cause": {"by": "size", "why": "It grows.", "law": {"over": "events", "at": 1000}}},
            {(name, events) for name in ("slow", "counting") for events in (100, 200)},
        ),
        (
            {"cause": {"by": "ours", "why": "It is slow.", "mode": {"to": "counting2"}}},
            {("slow", 200), ("counting", 200), ("counting2", 200)},
        ),
    ],
)
def test_later_rounds_have_the_cells_whose_times_claims_read(tmp_path, changes, later):
    memory = {**SMALL["claims"][0], "metric": "state_peak", "where": {"events": 100}}
    claim = {key: value for key, value in {**SMALL["claims"][0], **changes}.items() if value is not None}
    algorithms = ["counting", "slow", "counting2"]
    experiment = load(write(tmp_path, workers=3, algorithms=algorithms, claims=[memory, claim]))
    rounds = {number: set[tuple[str, int]]() for number in (1, 2, 3)}
    for cell in cells(experiment, "quick"):
        rounds[cell.round].add((cell.algorithm, cell.point["events"]))
    everything = {(name, events) for name in algorithms for events in (100, 200)}
    assert rounds == {1: everything, 2: later or everything, 3: later or everything}


def test_later_rounds_have_the_size_at_which_all_systems_of_a_claim_run(tmp_path):
    claim = {**SMALL["claims"][0], "where": {"events": 400}}  # counting does not run there: 200 is nearest
    sweeps = {"both": {"axes": {"events": [100, 200]}}, "large": {"axes": {"events": [400]}, "algorithms": ["slow"]}}
    workload = SMALL["workload"].replace("${within}", "50")
    changes = {"axes": None, "zip": None, "defaults": {"events": 100}, "sweeps": sweeps, "workload": workload}
    panel = {**SMALL["plot"]["panels"][0], "sweep": "both"}
    file = write(tmp_path, workers=2, claims=[claim], plot={**SMALL["plot"], "panels": [panel]}, **changes)
    later = {(cell.algorithm, cell.point["events"]) for cell in cells(load(file), "quick") if cell.round == 2}
    assert later == {("slow", 200), ("counting", 200)}


def test_memory_is_part_of_the_configuration_where_it_is_not_measured(tmp_path):
    times = cells(load(write(tmp_path)), "quick")
    times_and_memory = cells(load(write(tmp_path, measurements=["memory", "time"])), "quick")
    assert {cell.configuration.get("memory") for cell in times} == {False}
    assert {cell.configuration.get("memory") for cell in times_and_memory} == {None}
    assert not {cell.id for cell in times} & {cell.id for cell in times_and_memory}
    assert {cell.group for cell in times} == {cell.group for cell in times_and_memory}


def test_algorithms_take_turns(tmp_path):
    experiment = load(write(tmp_path, axes={"events": list(range(1, 40))}))
    planned = cells(experiment, "quick")
    pairs = [planned[i : i + 2] for i in range(0, len(planned), 2)]
    assert all(a.point == b.point for a, b in pairs)
    assert {a.algorithm for a, _ in pairs} == {"counting", "slow"}


def test_monotone_axes_go_from_easy_to_hard(tmp_path):
    up = cells(load(write(tmp_path, axes={"events": [20, 10, 30]}, monotone=True)), "quick")
    assert [cell.point["events"] for cell in up[::2]] == [10, 20, 30]
    down = cells(load(write(tmp_path, axes={"events": [20, 10, 30]}, monotone="decreasing")), "quick")
    assert [cell.point["events"] for cell in down[::2]] == [30, 20, 10]
    two_axes = cells(
        load(write(tmp_path, axes={"g": [2, 3, 1], "events": [20, 10]}, monotone={"events": True, "g": "decreasing"})),
        "quick",
    )
    assert [(c.point["events"], c.point["g"]) for c in two_axes[::2]] == [
        (10, 3), (10, 2), (10, 1), (20, 3), (20, 2), (20, 1),
    ]  # fmt: skip


def test_exclusions(tmp_path):
    experiment = load(write(tmp_path, exclude=[{"algorithm": "slow", "where": {"events": 200}}]))
    assert [(c.algorithm, c.point["events"]) for c in cells(experiment, "quick") if c.point["events"] == 200] == [
        ("counting", 200)
    ]


def test_an_exclusion_is_of_points_with_all_its_values(tmp_path: Path) -> None:
    exclude = [{"algorithm": "slow", "where": {"events": 200, "g": "x"}}]
    experiment = load(write(tmp_path, axes={"events": [100, 200], "g": ["x", "y"]}, exclude=exclude))
    planned = {(c.point["events"], c.point["g"]) for c in cells(experiment, "quick") if c.algorithm == "slow"}
    assert planned == {(100, "x"), (100, "y"), (200, "y")}


def test_events_arrive_as_the_experiment_says(tmp_path: Path) -> None:
    burst = cells(load(write(tmp_path)), "quick")
    opened = cells(load(write(tmp_path, arrival={"rate": 50, "batch": 10})), "quick")
    assert {cell.configuration["arrival"]["model"] for cell in burst} == {"burst"}
    assert [cell.configuration["arrival"] for cell in opened] == [{"model": "open", "rate": 50, "batch": 10}] * 4
    assert not {cell.id for cell in burst} & {cell.id for cell in opened}
    assert {cell.group for cell in burst} == {cell.group for cell in opened}


def test_identity_is_that_of_the_configuration(tmp_path):
    path = write(tmp_path)

    def ids(profile="quick", overrides=()):
        return {cell.id for cell in cells(load(path, profile, overrides), profile)}

    def groups(overrides=()):
        return {cell.group for cell in cells(load(path, "quick", overrides), "quick")}

    assert ids() == ids()
    assert ids() == ids(overrides=["title=Other"])
    assert not ids() & ids("smoke")
    assert not ids() & ids(overrides=["limits.seconds=31"])
    assert not ids() & ids(overrides=["stream.parameters.seed=6"])
    assert ids(overrides=["algorithms=[slow]"]) < ids()
    assert groups() == groups(["limits.seconds=31"])
    assert not groups() & groups(["stream.parameters.seed=6"])
    assert not groups() & groups(["arithmetic=float"])
    assert not groups() & groups(["buckets=3"])
    assert not ids() & ids(overrides=["buckets=3"])
    assert groups() == groups(["slots=1"])
    assert not groups() & groups(["workload=RETURN COUNT(*) PATTERN A WITHIN ${within} s"])


def test_a_cell_of_several_plans_names_them(tmp_path):
    plans = ["slow[each=${events}]", "slow[seed=${plan}]"]
    path = write(tmp_path, plans=plans, random_plans=2, algorithms=["slow"], claims=None)
    first = cells(load(path), "quick")[0]
    assert first.configuration["plans"] == ["slow[each=100]", "slow[seed=1]", "slow[seed=2]"]
    assert first.algorithm == "slow"
    other = cells(load(write(tmp_path, plans=plans[:1], algorithms=["slow"], claims=None)), "quick")[0]
    assert other.id != first.id
    assert other.group == first.group
