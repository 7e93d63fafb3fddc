"""Engines that others wrote: absent, unless they are requested."""

from functools import cache

import pytest

from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.algorithms.registry import ENGINES
from cepbench.events.errors import CepbenchError
from cepbench.experiments.load import experiments, find, load
from cepbench.experiments.planning import plan
from cepbench.experiments.points import cells


@cache
def figures() -> list[str]:
    return [name for name in experiments() if load(find(name)).engines]


def test_engines_stand_in_the_figures_of_the_papers_that_measure_one() -> None:
    assert {"arena-work", "cet-8.1", "cet-8.2", "sharon-25.1"} < set(figures())
    assert {f"greta-13.{n}" for n in range(1, 5)} | {f"cogra-19.{n}" for n in range(1, 5)} < set(figures())
    for name in figures():
        engines = load(find(name)).engines
        assert {"flink", "duckdb"} <= set(engines) <= set(ENGINES), name
        assert ("core-engine" in engines) == name.startswith(("core-", "arena-", "engines-")), name


@pytest.mark.parametrize("profile", ["smoke", "quick", "headline"])
def test_engines_are_absent_or_measured_beside_the_others(profile: str) -> None:
    for name in figures():
        without, included = load(find(name), profile), load(find(name), profile, include=("flink", "duckdb"))
        assert set(without.engines) <= without.absent.keys(), name
        assert not {"flink", "duckdb"} & {*without.series, *included.absent}, name
        assert included.algorithms == [*without.algorithms, "flink", "duckdb"], name
        for key, sweep in included.sweeps.items():
            algorithms = without.sweeps[key].algorithms
            assert sweep.algorithms == (None if algorithms is None else [*algorithms, "flink", "duckdb"]), name


@pytest.mark.parametrize("name", figures())
def test_engines_change_no_cell_of_the_others(name: str) -> None:
    without = {cell.id for cell in cells(load(find(name), "headline"), "headline")}
    included = cells(load(find(name), "headline", include=ENGINES), "headline")
    assert without == {cell.id for cell in included if cell.algorithm not in ENGINES}
    assert {cell.algorithm for cell in included} & set(ENGINES)


@pytest.mark.parametrize(
    ("name", "axis", "value"), [("cogra-19.1", "stream", "low"), ("cogra-19.3", "window", "filtered")]
)
def test_an_engine_has_points_of_its_own(name: str, axis: str, value: str) -> None:
    planned = list(cells(load(find(name), include=("flink",)), "quick"))
    assert {cell.point[axis] for cell in planned if cell.algorithm == "flink"} == {value}
    assert len({cell.point[axis] for cell in planned if cell.algorithm == "cogra"}) > 1


def test_nothing_changes_where_no_engine_is_listed() -> None:
    [name] = [name for name in experiments() if name == "hamlet-9"]
    assert load(find(name), include=("flink",)) == load(find(name))


def test_an_engine_that_is_not_installed_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flink, "missing", staticmethod(lambda: "Flink is not available: why"))
    with pytest.raises(CepbenchError, match=r"^Flink is not available: why$"):
        plan(["greta-13.1"], include=("flink",))
