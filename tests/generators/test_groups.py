import numpy as np
import pytest

from cepbench.generators.groups import bridges, burst_numbers, ranks, stages
from tests.generators.streams import run_lengths


@pytest.fixture(params=[1, 5, 1000, 70_000])
def groups(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_ranks_count_earlier_events_of_the_group(groups: int) -> None:
    codes = np.random.default_rng(3).integers(groups, size=3000)
    counts: dict[int, int] = {}
    expected = []
    for code in codes.tolist():
        expected.append(counts.get(code, 0))
        counts[code] = expected[-1] + 1
    assert ranks(codes, groups).tolist() == expected


def test_stages_go_round_in_each_group() -> None:
    codes = np.random.default_rng(3).integers(4, size=2000)
    stage = stages(codes, 4, 6, np.random.default_rng(4))
    for group in range(4):
        group_stages = stage[codes == group]
        assert ((group_stages[1:] - group_stages[:-1]) % 6 == 1).all()


def test_bridges_go_from_first_to_last_by_the_steps(groups: int) -> None:
    random = np.random.default_rng(5)
    codes, steps = random.integers(groups, size=3000), random.standard_normal(3000)
    first, last = random.standard_normal(groups), random.standard_normal(groups)
    values = bridges(codes, steps, first, last)
    for group in np.unique(codes).tolist():
        members = codes == group
        assert values[members][-1] == pytest.approx(last[group], abs=1e-9)
        moves = np.diff(np.concatenate(([first[group]], values[members])))
        shift = moves - steps[members]
        assert shift == pytest.approx(shift[0], abs=1e-9)


@pytest.mark.parametrize("mean", [1.5, 20.0])
def test_lengths_are_memoryless(mean: float) -> None:
    numbers = burst_numbers(np.random.default_rng(1), 400_000, mean)
    lengths = run_lengths(numbers)[:-1]
    assert numbers[0] == 0
    assert set(np.diff(numbers).tolist()) == {0, 1}
    assert lengths.mean() == pytest.approx(mean, rel=0.03)
    assert lengths.std() == pytest.approx((mean * (mean - 1)) ** 0.5, rel=0.03)


def test_bursts_of_one_event() -> None:
    assert burst_numbers(np.random.default_rng(1), 1000, 1).tolist() == list(range(1000))


def test_a_burst_that_is_longer_than_all_events() -> None:
    assert burst_numbers(np.random.default_rng(1), 10, 1e9).tolist() == [0] * 10
