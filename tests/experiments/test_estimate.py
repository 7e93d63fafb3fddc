import pytest

from cepbench.experiments.estimate import PREPARATION, Estimate, bound, total_bound, words
from cepbench.experiments.points import Cell


def cell(algorithm: str = "fast", memory: bool = False, experiment: str = "e", seconds: float = 20) -> Cell:
    configuration = {"limits": {"seconds": seconds}, "repeat": 2.0, "memory": memory}
    return Cell("id", "group", experiment, "quick", algorithm, {}, 1, configuration)


def test_the_bound_is_the_limit_and_preparation() -> None:
    assert bound(cell()) == 20 + PREPARATION > 20
    assert total_bound([cell(), cell(seconds=5)]) == 25 + 2 * PREPARATION
    assert bound(cell(memory=True)) == 40 + PREPARATION
    assert bound(cell(seconds=1)) == 2 + PREPARATION  # runs are repeated for so long


def test_cells_take_as_long_as_the_longest_of_their_kind() -> None:
    estimate = Estimate()
    assert estimate.expected(cell()) == bound(cell())
    for seconds in (3, 9, 4):
        estimate.finished(cell(), seconds)
    assert estimate.expected(cell()) == 9
    estimate.finished(cell("slow"), 500)
    assert estimate.expected(cell("slow")) == bound(cell("slow"))
    assert estimate.expected(cell(experiment="f")) == bound(cell(experiment="f"))
    assert estimate.remaining([cell(), cell(), cell("slow", seconds=30)]) == 9 + 9 + 30 + PREPARATION


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.4, "0 s"),
        (89.4, "89 s"),
        (150, "2 min"),
        (90, "2 min"),
        (5340, "89 min"),
        (5400, "1 h 30 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_words(seconds: float, expected: str) -> None:
    assert words(seconds) == expected
