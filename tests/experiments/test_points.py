import pytest

from experiments.errors import ExperimentError
from experiments.load import load
from experiments.points import cells, points, substituted
from tests.experiments.files import write


def test_products_with_zipped_axes(tmp_path):
    experiment = load(
        write(tmp_path, axes={"events": [1, 2], "g": ["x", "y"]}, zip={"within": [5, 6], "rate": [10, 20]})
    )
    assert list(points(experiment)) == [
        {"events": e, "g": g, "within": w, "rate": r} for e in (1, 2) for g in ("x", "y") for w, r in ((5, 10), (6, 20))
    ]


def test_axes_go_into_stream_and_workload_with_their_type(tmp_path):
    first = cells(load(write(tmp_path)), "quick")[0]
    assert first.configuration["stream"]["parameters"]["events"] == first.point["events"]
    assert first.configuration["workload"].endswith("WITHIN 50 s")
    assert substituted("${a}/600", {"a": 5}, "x") == "5/600"
    assert substituted({"k": ["${a}", "b"]}, {"a": 0.5}, "x") == {"k": [0.5, "b"]}
    with pytest.raises(ExperimentError, match=r"x.k: unknown axis \$\{b\}; there are a"):
        substituted({"k": "${b}"}, {"a": 1}, "x")


def test_every_algorithm_and_repetition_of_a_point_is_a_cell(tmp_path):
    experiment = load(write(tmp_path, repetitions=2, measurements=["time", "memory"]))
    found = cells(experiment, "quick")
    assert len(found) == len({cell.id for cell in found}) == 2 * 2 * 3  # points, algorithms, two times and one memory
    assert len({cell.group for cell in found}) == 2
    assert [cell.repetition for cell in found] == [1] * 8 + [2] * 4


def test_algorithms_take_turns(tmp_path):
    experiment = load(write(tmp_path, axes={"events": list(range(1, 40))}))
    found = cells(experiment, "quick")
    pairs = [found[i : i + 2] for i in range(0, len(found), 2)]
    assert all(a.point == b.point for a, b in pairs)
    assert {a.algorithm for a, _ in pairs} == {"counting", "slow"}


def test_monotone_axes_go_from_easy_to_hard(tmp_path):
    up = cells(load(write(tmp_path, axes={"events": [20, 10, 30]}, monotone=True)), "quick")
    assert [cell.point["events"] for cell in up[::2]] == [10, 20, 30]
    down = cells(load(write(tmp_path, axes={"events": [20, 10, 30]}, monotone="decreasing")), "quick")
    assert [cell.point["events"] for cell in down[::2]] == [30, 20, 10]


def test_exclusions(tmp_path):
    experiment = load(write(tmp_path, exclude=[{"algorithm": "slow", "where": {"events": 200}}]))
    assert [(c.algorithm, c.point["events"]) for c in cells(experiment, "quick") if c.point["events"] == 200] == [
        ("counting", 200)
    ]


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
