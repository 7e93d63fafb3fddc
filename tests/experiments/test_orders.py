"""Orders: who wins at every point, where curves cross, where one has its peak."""

import pytest

from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import claim, curve, judge, order, runs
from tests.experiments.records import record

REPRODUCED, STRONGER, WEAKER, CONTRADICTED, OPEN = Verdict


@pytest.mark.parametrize(
    ("slow", "expected"),
    [
        ([2.0, 3.0, 4.0], REPRODUCED),
        ([2.0, 0.5, 4.0], WEAKER),
        ([2.0, 1.04, 4.0], WEAKER),  # no winner
        ([0.5, 0.5, 4.0], CONTRADICTED),
        ([0.5, 0.5, 0.5], CONTRADICTED),
        ([1.0, 1.0, 1.0], CONTRADICTED),
    ],
)
def test_who_wins_at_every_point(slow: list[float], expected: Verdict) -> None:
    result = judge(order("fast", "slow"), curve("slow", slow) + curve("fast", [1.0, 1.0, 1.0]))
    assert result.verdict is expected
    assert result.expected == "fast before slow everywhere (lower is better)"


def test_it_is_told_where_an_order_does_not_hold() -> None:
    result = judge(order("fast", "slow"), curve("slow", [2.0, 0.5, 1.0]) + curve("fast", [1.0] * 3))
    assert result.reason == "holds at 1 of 3 points: the other wins at 2, no winner at 4"


def test_a_chain_holds_between_all_neighbours() -> None:
    three = curve("a", [1.0, 1.0]) + curve("b", [2.0, 2.0]) + curve("c", [3.0, 3.0])
    assert judge(order("a", "b", "c"), three).verdict is REPRODUCED
    assert judge(order("a", "c", "b"), three).verdict is CONTRADICTED
    assert judge(order("c", "b", "a", better="higher"), three).verdict is REPRODUCED


def test_one_wins_beyond_the_interval_of_the_repetitions() -> None:
    clear = [*runs("slow", 1, [1.3, 1.4, 1.5]), *runs("fast", 1, [0.8, 1.0, 1.2])]
    assert judge(order("fast", "slow"), clear).verdict is REPRODUCED
    meet = [*runs("slow", 1, [1.1, 1.4, 1.5]), *runs("fast", 1, [0.8, 1.0, 1.2])]
    assert judge(order("fast", "slow"), meet).verdict is CONTRADICTED


def test_counts_have_no_noise() -> None:
    records = [record(name, {"n": 1}, details={"updates": v}) for name, v in (("slow", 101.0), ("fast", 100.0))]
    assert judge(order("fast", "slow", metric="details.updates"), records).verdict is REPRODUCED


def test_a_timeout_loses_against_what_ended_earlier() -> None:
    records = curve("slow", [2.0, None]) + curve("fast", [1.0, 1.0])
    assert judge(order("fast", "slow"), records).verdict is REPRODUCED
    assert judge(order("slow", "fast"), records).verdict is CONTRADICTED
    both = curve("slow", [2.0, None]) + curve("fast", [1.0, None])
    result = judge(order("fast", "slow"), both)
    assert (result.verdict, result.reason) == (REPRODUCED, "at 1 of 2 points nothing is known")
    assert judge(order("fast", "slow"), curve("slow", [None]) + curve("fast", [None])).verdict is OPEN


def test_a_search_that_fell_back_wins_nothing() -> None:
    told = {"fell_back": 1.0}
    records = [record("slow", {"n": 1}, latency_max=2.0), record("fast", {"n": 1}, latency_max=1.0, details=told)]
    result = judge(order("fast", "slow"), records)
    assert (result.verdict, result.reason) == (
        OPEN,
        "fast and slow have no point at which their order is known; the search of fast fell back at n 1",
    )


@pytest.mark.parametrize(
    ("slow", "crossing", "expected"),
    [
        ([0.5, 0.7, 2.0, 3.0], [2, 4], REPRODUCED),
        ([0.5, 0.7, 2.0, 3.0], [3, 3], REPRODUCED),
        ([0.5, 0.7, 2.0, 3.0], [5, 9], WEAKER),
        ([0.5, 1.0, 2.0, 3.0], [2, 2], REPRODUCED),  # a tie lies between
        ([3.0, 2.0, 0.7, 0.5], [2, 4], CONTRADICTED),
        ([0.5, 2.0, 0.5, 2.0], [2, 4], CONTRADICTED),
        ([0.5, 0.5, 0.5, 0.5], [2, 4], CONTRADICTED),
        ([0.5, 0.5, 0.5, 0.5], [20, 40], OPEN),
    ],
)
def test_where_two_curves_cross(slow: list[float], crossing: list[float], expected: Verdict) -> None:
    records = curve("slow", slow) + curve("fast", [1.0] * 4)
    result = judge(order("slow", "fast", crossing=crossing), records)
    assert result.verdict is expected
    if expected is REPRODUCED:
        assert result.low is not None
        assert result.high is not None
        assert result.low <= crossing[1]
        assert result.high >= crossing[0]


def test_a_crossing_needs_two_points_with_a_winner() -> None:
    records = curve("slow", [0.5, 1.0]) + curve("fast", [1.0, 1.0])
    assert judge(order("slow", "fast", crossing=[1, 2]), records).reason == "a winner is known at one point of n"


@pytest.mark.parametrize(
    ("values", "at", "expected"),
    [
        ([1.0, 3.0, 2.0], 2, REPRODUCED),
        ([1.0, 3.0, 4.0], 2, CONTRADICTED),
        ([1.0, 3.0, 2.95, 1.0], 2, WEAKER),  # the same time, within the noise
        ([1.0, 3.0, 2.95], 2, CONTRADICTED),  # most of the curve is its peak
        ([1.0, 3.0, 2.0], 3, OPEN),  # no point there
        ([1.0, 3.0], 2, OPEN),
    ],
)
def test_where_a_curve_peaks(values: list[float], at: float, expected: Verdict) -> None:
    result = judge(order("fast", peak=at), curve("fast", values))
    assert result.verdict is expected
    if values == [1.0, 3.0, 4.0]:
        assert (result.measured, result.reason) == (4, "largest at 4")


def test_a_peak_that_a_limit_may_hide_is_not_comparable() -> None:
    records = [*curve("fast", [1.0, 100.0, None]), *curve("slow", [1.0] * 3)]
    result = judge(order("fast", peak=2), records)
    assert (result.verdict, result.reason) == (OPEN, "largest at 2 or 4: cut off by a limit")
    surely = [*curve("fast", [1.0, 5.0, None]), *curve("slow", [1.0] * 3)]
    assert judge(order("fast", peak=2), surely).verdict is CONTRADICTED


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
def test_a_void_cell_decides_nothing(status: Status) -> None:
    records = [*curve("slow", [2.0]), *curve("fast", [1.0]), record("fast", {"n": 2}, status)]
    assert judge(order("fast", "slow"), records).reason == f"fast is {status.value} at n 2"


@pytest.mark.parametrize(
    ("chain", "fields", "message"),
    [
        (["a"], {}, "expected two or more algorithms, not 1"),
        (["a", "b"], {"peak": 3}, "expected one algorithms, not 2"),
        (["a", "b", "c"], {"crossing": [1, 2]}, "expected two algorithms, not 3"),
        (["a", "b"], {"crossing": [1, 2], "peak": 1}, "give either crossing or peak"),
    ],
)
def test_orders_that_are_refused(chain: list[str], fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim(**order(*chain, **fields))
