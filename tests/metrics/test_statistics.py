from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepbench.metrics.statistics import estimate, interval_rank, median, over_workers, sign_test, values_for


def test_medians():
    assert median([3, 1, 2]) == 2
    assert median([1, 2, 3, 4]) == 2.5
    assert median([1, inf]) == inf
    assert median([-inf, 1]) == -inf
    assert median([inf, inf, 1]) == inf
    for values in ([], [1, nan]):
        with pytest.raises(ValueError, match="median"):
            median(values)


def test_an_interval_needs_six_values_for_95_percent():
    assert estimate([1, 2, 3, 4, 5]).low is None
    six = estimate([6, 5, 4, 3, 2, 1])
    assert (six.low, six.high, six.median) == (1, 6, 3.5)
    assert six.coverage == pytest.approx(1 - 2 / 64)


def test_five_workers_have_an_interval_from_the_least_to_the_greatest():
    five = over_workers([5, 4, 1, 3, 2])
    assert (five.low, five.high, five.coverage) == (1, 5, 1 - 2 / 2**5)
    assert over_workers([1, 2, 3, 4]).low is None
    assert over_workers(range(14)) == estimate(range(14))


def test_a_sign_test_is_a_binomial_tail():
    assert sign_test(30, 30) == 2**-30
    assert sign_test(20, 30) == pytest.approx(0.0494, abs=1e-4)
    assert sign_test(0, 7) == 1


def test_ranks_of_the_published_table():
    # Ranks for 95 % in the usual table of distribution-free intervals for the median (Conover, Table A3).
    assert {n: interval_rank(n)[0] for n in (6, 8, 9, 12, 15, 20, 25, 30)} == {
        6: 1,
        8: 1,
        9: 2,
        12: 3,
        15: 4,
        20: 6,
        25: 8,
        30: 10,
    }


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60))
def test_the_interval_holds_the_median_and_keeps_its_promise(values):
    interval = estimate(values)
    if interval.low is not None:
        assert interval.low <= interval.median <= interval.high
        assert interval.coverage >= 0.95


def test_a_percentile_needs_values_of_which_one_is_beyond_it():
    assert [values_for(percent) for percent in (0, 50, 90, 95, 99)] == [1, 2, 10, 20, 100]
