"""In which order all experiments run."""

import pytest

from cepbench.experiments.load import experiments
from cepbench.experiments.planning import first_look, plan
from cepbench.experiments.points import Cell


def of(*specifications: str, seconds: float = 10) -> list[Cell]:
    configuration = {"limits": {"seconds": seconds}, "repeat": 0}
    return [Cell("", "", "", "", name, {}, 1, {**configuration, "algorithm": name}) for name in specifications]


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ([of("a"), of("b"), of("a", "b")], [2, 0, 1]),
        ([of("a", seconds=20), of("a"), of("b"), of("b", "b")], [1, 2, 0, 3]),
        ([of("a", "b"), of("c"), of("b", "c", "d", seconds=20), of("e")], [2, 3, 0, 1]),
        ([of("a[x=1]"), of("a", "a[x=2]"), of("b [y]", "b")], [0, 2, 1]),
        ([of("a"), of("a"), of("a")], [0, 1, 2]),
        ([], []),
        ([of(), of("a")], [1, 0]),
    ],
)
def test_what_shows_most_systems_for_least_time_comes_first(figures: list[list[Cell]], expected: list[int]) -> None:
    assert first_look(figures) == expected


def test_the_first_experiments_of_a_whole_sweep_show_every_system() -> None:
    planned = [entry.experiment for entry in plan(profile="smoke")]
    assert sorted(entry.id for entry in planned) == sorted(experiments())
    systems = [{name.partition("[")[0] for name in entry.series} for entry in planned]
    assert set().union(*systems[:6]) == set().union(*systems)


def test_experiments_that_are_named_run_as_they_are_given() -> None:
    names = ["greta-13.1", "beyond-overlap", "cet-8.5"]
    assert [entry.experiment.id for entry in plan(names, "smoke")] == names
