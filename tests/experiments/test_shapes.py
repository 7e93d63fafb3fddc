"""Shapes: made-up curves of which the model is known."""

import random
from collections.abc import Callable
from math import exp, log

import pytest

from cepbench.experiments.verdicts.fits import shape as fitted
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Status
from tests.experiments.claiming import TEN, along, claim, curve, judge, shape
from tests.experiments.records import record

REPRODUCED, STRONGER, WEAKER, CONTRADICTED, OPEN = Verdict
CURVES: dict[str, Callable[[float], float]] = {
    "constant": lambda n: 3.0,
    "logarithmic": lambda n: 1.0 + log(n),
    "linear": lambda n: 3.0 * n,
    "quadratic": lambda n: n**2,
    "cubic": lambda n: n**3 / 7,
    "exponential": lambda n: 0.1 * 2**n,
}


@pytest.mark.parametrize("model", CURVES)
@pytest.mark.parametrize("claimed", CURVES)
def test_the_claimed_model_is_the_one_that_fits_best(claimed: str, model: str) -> None:
    expected = REPRODUCED if claimed == model else CONTRADICTED
    assert judge(shape(claimed), along(CURVES[model])).verdict is expected


@pytest.mark.parametrize("places", [TEN, [300.0, 500.0, 700.0, 900.0, 1100.0], [20e3, 30e3, 40e3, 45e3, 50e3]])
def test_a_polynomial_of_degree_ten_is_not_exponential(places: list[float]) -> None:
    result = judge(shape("exponential"), along(lambda n: n**10, places))
    assert result.verdict is CONTRADICTED
    assert result.reason.startswith("the curve is a power of 10, and grows ")
    grown = judge(shape("exponential"), along(lambda n: exp(10 * n / places[-1]), places))
    assert grown.verdict is REPRODUCED


@pytest.mark.parametrize(
    ("power", "expected"), [(0.6, WEAKER), (0.79, WEAKER), (0.85, REPRODUCED), (1.15, REPRODUCED), (1.5, WEAKER)]
)
def test_a_slope_of_six_tenths_is_not_linear(power: float, expected: Verdict) -> None:
    assert judge(shape("linear"), along(lambda n: n**power)).verdict is expected


@pytest.mark.parametrize("model", CURVES)
@pytest.mark.parametrize("place", range(len(TEN)))
@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_one_noisy_point_turns_no_verdict(model: str, place: int, factor: float) -> None:
    assert judge(shape(model), along(CURVES[model], **{f"at_{place}": factor})).verdict is REPRODUCED


@pytest.mark.parametrize(
    "places",
    [
        [200.0, 300.0, 400.0, 450.0, 500.0, 550.0, 600.0, 800.0, 1200.0, 20000.0],
        [3e3, 1e4, 3e4, 1e5, 3e5, 1e6],
    ],
)
def test_a_fixed_cost_before_a_line_is_no_exponential(places: list[float]) -> None:
    """As of a harness: small sizes lie close together, where the curve is flat, and the large one far away."""
    points = along(lambda n: places[-1] / 20 + n, places)
    assert judge(shape("linear"), points).verdict is WEAKER
    assert judge(shape("exponential"), points).verdict is not REPRODUCED
    assert judge(shape("quadratic", or_less=True), points).verdict is REPRODUCED


@pytest.mark.parametrize(("power", "expected"), [(1, REPRODUCED), (1.5, OPEN)])
def test_at_most_linear_wherever_no_model_fits(power: float, expected: Verdict) -> None:
    points = along(lambda n: 5e4 + n**power, [1e3, 2e3, 3e3, 4e3, 5e3, 1e6])
    result = judge(shape("linear", or_less=True), points)
    assert result.verdict is expected
    assert result.reason.startswith("the curve is like none of the models")


@pytest.mark.parametrize("model", ["constant", "linear", "quadratic", "exponential"])
def test_noise_of_five_percent_turns_no_verdict(model: str) -> None:
    for seed in range(50):
        noise = random.Random(seed)
        factors = {f"at_{i}": exp(noise.gauss(0, 0.05)) for i in range(len(TEN))}
        assert judge(shape(model), along(CURVES[model], **factors)).verdict is REPRODUCED, seed


def test_the_other_direction_contradicts() -> None:
    falling = along(lambda n: 100 * 2**-n)
    assert judge(shape("exponential"), falling).verdict is CONTRADICTED
    assert judge(shape("exponential", direction="falls"), falling).verdict is REPRODUCED
    assert judge(shape("exponential", direction="falls"), along(CURVES["exponential"])).verdict is CONTRADICTED
    assert judge(shape("exponential", direction="falls"), along(lambda n: 1 / n)).verdict is CONTRADICTED
    assert judge(shape("linear"), along(lambda n: 1 / n)).verdict is CONTRADICTED


@pytest.mark.parametrize(
    ("values", "direction", "expected"),
    [
        ([1.0, 1.6, 2.2], "grows", REPRODUCED),
        ([1.0, 1.3, 1.6], "grows", WEAKER),  # as cells differ that do the same
        ([1.0, 1.2, 1.3], "grows", CONTRADICTED),  # a power of 0.19: who claims that it is constant is right
        ([1.0, 1.2, 1.3], "falls", CONTRADICTED),
        ([9.0, 3.0, 1.0], "falls", REPRODUCED),
        ([1.0, 1.02, 1.04], "grows", CONTRADICTED),
        ([1.0, 2.0], "grows", OPEN),
    ],
)
def test_a_direction_needs_no_model(values: list[float], direction: str, expected: Verdict) -> None:
    assert judge(shape(direction=direction), curve("fast", values)).verdict is expected


@pytest.mark.parametrize(
    ("direction", "values", "expected"),
    [
        ("grows", [1.0, 1.2, 1.3, None, None], WEAKER),
        ("falls", [1.0, 1.2, 1.3, None, None], CONTRADICTED),
        ("falls", [None, 1.0, 1.0, 1.0], WEAKER),
        ("grows", [None, 1.0, 1.0, 1.0], CONTRADICTED),
        ("grows", [1.0, None, 1.0, 1.0], CONTRADICTED),
    ],
)
def test_points_that_were_cut_off_have_a_direction(
    direction: str, values: list[float | None], expected: Verdict
) -> None:
    claimed = {**shape(direction=direction), "metric": "service_total"}
    assert judge(claimed, curve("fast", values, "service_total")).verdict is expected


def test_a_direction_of_times_is_beyond_the_scatter_of_cells() -> None:
    result = judge(shape(direction="grows"), curve("fast", [1.0, 1.3, 1.8]))
    assert result.verdict is WEAKER
    assert result.reason.endswith("it changes by no more than cells of one machine differ")


@pytest.mark.parametrize(("last", "expected"), [(104, CONTRADICTED), (140, REPRODUCED)])
def test_counts_have_no_scatter(last: int, expected: Verdict) -> None:
    records = [record("fast", {"n": n}, details={"nodes": float(at)}) for n, at in ((1, 100), (2, 102), (3, last))]
    assert judge({**shape(direction="grows"), "metric": "details.nodes"}, records).verdict is expected


@pytest.mark.parametrize("direction", ["falls", "grows"])
def test_a_constant_curve_tells_by_how_much_it_falls(direction: str) -> None:
    result = judge(shape(direction=direction), along(lambda n: n**-0.2))
    assert result.verdict is CONTRADICTED
    change = (TEN[-1] / TEN[0]) ** 0.2
    assert result.reason == f"the curve is constant: it falls {change:.3g} times over the whole axis"
    flat = judge(shape("constant"), along(lambda n: 3.0))
    assert flat.reason == "the curve is constant"


@pytest.mark.parametrize(("factor", "expected"), [(15.0, CONTRADICTED), (30.0, WEAKER)])
def test_no_noise_makes_a_point_many_times_what_it_is(factor: float, expected: Verdict) -> None:
    points = along(lambda n: 3.0, at_0=factor)
    assert judge(shape("exponential", direction="falls"), points).verdict is expected
    assert judge(shape("constant"), points).verdict is (REPRODUCED if expected is CONTRADICTED else CONTRADICTED)


@pytest.mark.parametrize(("factor", "expected"), [(15.0, REPRODUCED), (30.0, WEAKER)])
def test_a_model_that_misses_a_point_many_times_is_no_fit(factor: float, expected: Verdict) -> None:
    assert judge(shape("quadratic"), along(CURVES["quadratic"], at_4=factor)).verdict is expected


def test_what_is_nowhere_steeper_is_at_most_that_whatever_else_fits() -> None:
    """A fixed cost, then a line: an exponential has the least error of the models."""
    places = [200.0, 300.0, 400.0, 450.0, 500.0, 550.0, 600.0, 800.0, 1200.0, 20000.0]
    values = [0.49, 0.317, 0.32, 0.3985, 0.4428, 0.3717, 0.3795, 0.5426, 0.5104, 17.2]
    points = along(dict(zip(places, values, strict=True)).__getitem__, places)
    assert judge(shape("exponential"), points).reason.startswith("the curve is exponential")
    result = judge(shape("quadratic", or_less=True), points)
    assert result.verdict is REPRODUCED
    assert "nowhere steeper than a power of 1." in result.reason


def test_points_that_lie_close_together_are_not_steep() -> None:
    """The same with one slow point: 1.6 times from 500 to 600 would be a power of 2.5."""
    places = [200.0, 250.0, 300.0, 350.0, 400.0, 450.0, 500.0, 550.0, 600.0, 800.0, 1200.0, 20000.0]
    values = [0.184, 0.209, 0.296, 0.199, 0.215, 0.251, 0.22, 0.219, 0.346, 0.265, 0.36, 11.4]
    result = judge(shape("quadratic", or_less=True), along(dict(zip(places, values, strict=True)).__getitem__, places))
    assert result.verdict is REPRODUCED
    assert result.reason.endswith("nowhere steeper than a power of 1.2")


@pytest.mark.parametrize(
    ("places", "values", "ends"),
    [
        ([1.0, 2.0, 3.0, 4.0, 8.0], [1.0, 8.0, 9.0, 10.0, 11.0], (0, 2)),  # steep at its beginning
        ([10.0, 20.0, 30.0, 40.0, 60.0, 61.0], [1.0, 1.1, 1.2, 1.3, 1.4, 99.0], (2, 5)),  # at its end
        ([100.0, 150.0, 200.0, 250.0, 300.0], [1.0, 2.0, 2.2, 2.9, 4.5], (0, 4)),  # and from end to end
        ([5.0, 6.0, 7.0, 8.0, 9.0], [1.0, 2.0, 3.0, 4.0, 5.0], (0, 4)),  # too short for any stretch
    ],
)
def test_the_steepest_stretch_may_be_anywhere(places: list[float], values: list[float], ends: tuple[int, int]) -> None:
    first, last = ends
    power = log(values[last] / values[first]) / log(places[last] / places[first])
    assert fitted(list(zip(places, values, strict=True))).steepest == pytest.approx(power)


def test_a_curve_that_no_model_fits_is_weaker_at_most() -> None:
    steps = along(lambda n: 1.0 if n < 6 else 1000.0)
    result = judge(shape("linear"), steps)
    assert result.verdict is WEAKER
    assert result.reason == "the curve is like none of the models, and grows"
    assert judge(shape("linear", direction="grows"), along(lambda n: 1000.0 if n < 6 else 1.0)).verdict is CONTRADICTED


def test_models_that_fit_alike_decide_nothing() -> None:
    # Between 100 and 110 a power of 21 and an exponential are the same line; noise of 5 % is more than their distance.
    places = [100.0, 102.0, 104.0, 106.0, 108.0, 110.0]
    wobble = {f"at_{i}": 1.05 if i % 2 else 0.95 for i in range(6)}
    result = judge(shape("exponential"), along(lambda n: exp(n / 5), places, **wobble))
    assert result.verdict is OPEN
    assert "fits about as well" in result.reason


@pytest.mark.parametrize(
    ("power", "model", "expected"),
    [
        (0, "quadratic", REPRODUCED),
        (1, "quadratic", REPRODUCED),
        (1.5, "quadratic", REPRODUCED),
        (2.2, "quadratic", REPRODUCED),
        (2.4, "quadratic", CONTRADICTED),
        (2, "linear", CONTRADICTED),
        (5, "exponential", REPRODUCED),
    ],
)
def test_at_most_a_model(power: float, model: str, expected: Verdict) -> None:
    assert judge(shape(model, or_less=True), along(lambda n: n**power)).verdict is expected


def test_an_exponential_is_more_than_quadratic() -> None:
    assert judge(shape("quadratic", or_less=True), along(CURVES["exponential"])).verdict is CONTRADICTED


def test_a_shape_needs_five_points_within_the_limits() -> None:
    four = curve("fast", [1.0, 2.0, 4.0, 8.0, None]) + curve("other", [1.0] * 5)
    result = judge(shape("linear"), four)
    assert (result.verdict, result.reason) == (
        OPEN,
        "a shape needs 5 points of n within the limits, not 4",
    )
    five = curve("fast", [1.0, 2.0, 4.0, 8.0, 16.0, None], limit=20.0) + curve("other", [1.0] * 6)
    assert judge(shape("linear"), five).verdict is REPRODUCED


def test_a_point_that_was_cut_off_must_lie_on_the_curve() -> None:
    def cut(values: list[float], limit: float) -> list:
        return curve("fast", [*values, None], limit=limit) + curve("other", [1.0] * 6)

    # 32 is expected of the last point; it took more than 60, or more than 70.
    linear = [1.0, 2.0, 4.0, 8.0, 16.0]
    assert judge(shape("linear"), cut(linear, 60.0)).verdict is REPRODUCED
    left = judge(shape("linear"), cut(linear, 70.0))
    assert left.verdict is WEAKER
    assert "at 32, where it was cut off, it leaves that curve" in left.reason
    assert judge(shape("constant"), cut([1.0] * 5, 3.0)).verdict is CONTRADICTED
    assert judge(shape("quadratic", or_less=True), cut(linear, 70.0)).verdict is CONTRADICTED


def test_a_search_that_fell_back_is_no_point_of_a_curve() -> None:
    records = [record("fast", {"n": n}, plan_seconds=2.0**n, details={"fell_back": float(n > 4)}) for n in range(1, 8)]
    result = judge({**shape("exponential"), "metric": "plan_seconds"}, records)
    assert result.verdict is OPEN
    assert result.reason.endswith("not 4; the search of fast fell back at n 5")


def test_a_point_at_zero_is_left_out() -> None:
    with_zero = [record("fast", {"n": 0}, latency_max=77.0), *along(CURVES["linear"])]
    result = judge(shape("linear"), with_zero)
    assert result.verdict is REPRODUCED
    assert "10 points of n" in result.computation


@pytest.mark.parametrize(("n", "value"), [("five", 1.0), (-1, 1.0), (11, 0.0)])
def test_what_has_no_logarithm_is_not_comparable(n: object, value: float) -> None:
    records = [*along(CURVES["linear"]), record("fast", {"n": n}, latency_max=value)]
    assert judge(shape("linear"), records).verdict is OPEN


def test_points_of_one_axis_value_are_not_a_curve() -> None:
    records = [record("fast", {"n": n, "m": m}, latency_max=1.0) for n in range(1, 7) for m in (1, 2)]
    result = judge(shape("constant"), records)
    assert (result.verdict, result.reason) == (OPEN, "several points have the n 1; a `where` must choose")


@pytest.mark.parametrize("status", [Status.WRONG, Status.ERROR, Status.UNSUPPORTED])
def test_a_curve_with_a_void_cell_is_not_comparable(status: Status) -> None:
    records = [*along(CURVES["linear"]), record("fast", {"n": 11}, status)]
    assert judge(shape("linear"), records).reason == f"fast is {status.value} at n 11"


def test_a_fit_tells_its_exponent_whatever_one_point_does() -> None:
    points = [(n, n**2 * (50.0 if n == 10 else 1.0)) for n in TEN]
    assert fitted(points).power.slope == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "linear", "direction": "falls"}, "what falls is exponential or has no model"),
        ({"model": "constant", "or_less": True}, "or_less needs a model that grows"),
        ({"model": "factorial"}, "constant"),
    ],
)
def test_shapes_that_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claim(**{**shape(), **fields})
