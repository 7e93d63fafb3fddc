"""Systems that need an optional extra: absent, unless they are asked for."""

from functools import cache

import pytest

from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.events.errors import CepbenchError
from cepbench.experiments.load import experiments, find, load
from cepbench.experiments.planning import plan
from cepbench.experiments.points import cells


@cache
def figures() -> list[str]:
    return [name for name in experiments() if "flink" in load(find(name)).absent]


def test_flink_stands_in_the_figures_of_the_papers_that_measure_it() -> None:
    assert {"cet-8.1", "cet-8.2", "sharon-25.1"} < set(figures())
    assert {f"greta-13.{n}" for n in range(1, 5)} | {f"cogra-19.{n}" for n in range(1, 5)} < set(figures())


@pytest.mark.parametrize("profile", ["smoke", "quick"])
def test_an_absent_system_is_measured_beside_the_others(profile: str) -> None:
    for name in figures():
        without, included = load(find(name), profile), load(find(name), profile, include=("flink",))
        assert "flink" not in included.absent, name
        assert included.algorithms == [*without.algorithms, "flink"], name
        for key, sweep in included.sweeps.items():
            algorithms = without.sweeps[key].algorithms
            assert sweep.algorithms == (None if algorithms is None else [*algorithms, "flink"]), name


@pytest.mark.parametrize(
    ("name", "axis", "value"), [("cogra-19.1", "stream", "low"), ("cogra-19.3", "window", "filtered")]
)
def test_an_absent_system_has_points_of_its_own(name: str, axis: str, value: str) -> None:
    planned = list(cells(load(find(name), include=("flink",)), "quick"))
    assert {cell.point[axis] for cell in planned if cell.algorithm == "flink"} == {value}
    assert len({cell.point[axis] for cell in planned if cell.algorithm == "cogra"}) == 2


def test_nothing_changes_where_it_is_not_absent() -> None:
    [name] = [name for name in experiments() if name == "hamlet-9"]
    assert load(find(name), include=("flink",)) == load(find(name))


def test_what_is_not_installed_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flink, "missing", staticmethod(lambda: "Flink is not available: why"))
    with pytest.raises(CepbenchError, match=r"^Flink is not available: why$"):
        plan(["greta-13.1"], include=("flink",))
