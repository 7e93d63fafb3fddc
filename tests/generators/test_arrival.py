from fractions import Fraction

import numpy as np
import pytest

from cepbench.generators.arrival import ConstantRate, RisingRate, SurgingRate, ticks_per_second


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(3000), Fraction(500, 3), Fraction(1, 10_000), Fraction(10**8)])
@pytest.mark.parametrize("unit", ["ns", "ms", "s", "min", "day"])
@pytest.mark.parametrize("start", [0, 1, 999_999_999_000])
def test_constant_rate_is_exact(rate: Fraction, unit: str, start: int) -> None:
    ticks = ticks_per_second(unit)
    if (start + 2000) / rate * ticks >= 2**62:
        start = 10**5  # later events are refused in this unit
    times = ConstantRate(rate, unit).times(start, 1000)
    assert times.tolist() == [int(i / rate * ticks) for i in range(start, start + 1000)]


def test_the_largest_steps_stay_within_64_bits() -> None:
    rate = Fraction(10**12 - 1, 10**4)
    steps = np.arange(0, 2**22, 2**16)
    assert ConstantRate(rate, "ns").at(steps).tolist() == [int(int(i) / rate * 10**9) for i in steps]


@pytest.mark.parametrize("block", [1, 2, 7, 5000])
@pytest.mark.parametrize("start", [0, 3, 6, 12_345])
def test_blocks_do_not_depend_on_where_a_slice_starts(block: int, start: int) -> None:
    arrival = ConstantRate(Fraction(100), "ms", block)
    assert arrival.times(start, 500).tolist() == arrival.times(0, start + 500)[start:].tolist()
    assert arrival.times(start, 1)[0] == start // block * block * 10


@pytest.mark.parametrize(("end", "seconds"), [(400, 1080), pytest.param(4000, 10_800, marks=pytest.mark.full)])
def test_rising_rate_reaches_its_end(end: int, seconds: int) -> None:
    arrival, average = RisingRate(24, end, seconds, "s"), (24 + end) // 2
    times = arrival.times(0, average * seconds)
    assert times[-1] == seconds - 1
    assert (np.diff(times) >= 0).all()
    per_second = np.bincount(times)
    assert per_second[0] in (24, 25)
    assert per_second[-1] in (end - 1, end)
    assert per_second[seconds // 2] == pytest.approx(average, abs=2)


def test_rising_rate_without_rise_is_constant() -> None:
    flat = RisingRate(50, 50, 100, "ms")
    assert flat.times(0, 1000).tolist() == ConstantRate(Fraction(50), "ms").times(0, 1000).tolist()


def test_a_rate_surges_in_a_tenth_of_each_period() -> None:
    steady = ConstantRate(Fraction(1900), "us")
    times = SurgingRate(steady, 10, 2).times(0, 19_000)
    assert np.all(np.diff(times) >= 0)
    assert np.bincount(times // 2_000_000).tolist() == [3800] * 5
    surging = times % 2_000_000 < 200_000
    assert surging.sum() == pytest.approx(5 * 2000, abs=5)  # ten in nineteen events, in a tenth of the time
    assert np.all(SurgingRate(ConstantRate(Fraction(1000), "ms"), 3, 1, block=4).times(0, 8)[:4] == 0)
