from fractions import Fraction
from typing import Any

import pytest

from cepbench.events.errors import CepbenchError
from cepbench.generators.parameters import StreamParameters
from cepbench.generators.registry import from_spec


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "stocks",
            {},
            r"unknown generator 'stocks'; choose one of stock, linear_road, cluster, transport, .*, uniform",
        ),
        (
            "stock",
            {"rat": 1},
            r"generator stock has no parameter 'rat'; choose from bars, burst, companies, company_skew, .*",
        ),
        ("stock", {"rate": -1}, r"parameter rate = -1 is not allowed; give a positive number .*, at most 100000000"),
        ("stock", {"rate": "fast"}, r"parameter rate = 'fast' is not allowed; give a positive number"),
        ("stock", {"rate": "1/0"}, r"parameter rate = '1/0' is not allowed"),
        ("stock", {"rate": float("nan")}, r"parameter rate = nan is not allowed"),
        ("stock", {"rate": float("inf")}, r"parameter rate = inf is not allowed"),
        ("stock", {"rate": 0.123456}, r"parameter rate = 0.123456 is not allowed; .* up to four decimals"),
        ("stock", {"rate": 10**9}, r"parameter rate = 1000000000 is not allowed"),
        ("stock", {"rate": None}, r"parameter rate = None is not allowed"),
        ("stock", {"events": 0}, r"parameter events = 0 is not allowed; give a whole number >= 1 and <= 1000000000000"),
        ("stock", {"events": "1.5"}, r"parameter events = '1.5' is not allowed; give a whole number"),
        ("stock", {"events": 1, "duration": 1}, r"generator stock: events and duration exclude each other"),
        ("stock", {"duration": "0.01"}, r"rate and duration make 0 events; 1 to 1000000000000 are allowed"),
        ("stock", {"seed": -1}, r"parameter seed = -1 is not allowed; give a whole number >= 0"),
        (
            "stock",
            {"time_unit": "year"},
            r"parameter time_unit = 'year' is not allowed; give one of ns, us, ms, s, min",
        ),
        ("stock", {"selectivity": 1.1}, r"parameter selectivity = 1.1 is not allowed; give a number >= 0 and <= 1"),
        ("stock", {"selectivity": float("nan")}, r"parameter selectivity = nan is not allowed; give a number >= 0"),
        ("stock", {"sectors": 20}, r"sectors = 20 exceed companies = 19"),
        ("stock", {"replicate": 2, "simultaneous": 100}, r"simultaneous = 100 splits .* choose a multiple of 3"),
        (
            "stock",
            {"typed_by": "price"},
            r"parameter typed_by = 'price' is not allowed; give one of stock, side, company",
        ),
        ("stock", {"typed_by": "company", "companies": 60000, "replicate": 1}, r"120000 types .*; at most 100000"),
        ("cluster", {"simultaneous": 1}, r"simultaneous = 1, but 3000 events/s are 3000 on one time stamp of unit 's'"),
        ("uniform", {"rate": "0.0001", "events": 10**12, "time_unit": "ns"}, r"too late for 64 bits in unit 'ns'"),
        (
            "uniform",
            {"tie_probability": 0.5, "simultaneous": 2},
            r"tie_probability and simultaneous exclude each other",
        ),
        ("uniform", {"groups": 10**8, "group_skew": 1}, r"at most 1000000 groups may be skewed"),
        ("ridesharing", {"types": 21}, r"parameter types = 21 is not allowed; give a whole number >= 2 and <= 20"),
        ("ridesharing", {"burst_distribution": "pareto"}, r"give one of constant, uniform, geometric"),
        ("financial", {"selectivity": 0}, r"selectivity = 0 is not allowed; give a number > 0 and <= 1 .* 1/3500"),
        ("financial", {"selectivity": 1.5}, r"selectivity = 1.5 is not allowed"),
        ("financial", {"selectivity": "1/0"}, r"selectivity = '1/0' is not allowed"),
        ("financial", {"selectivity": 1e-10}, r"selectivity = 1e-10 is not allowed; .* up to nine decimals"),
        (
            "financial",
            {"time_unit": "s"},
            r"rate = 3500 and selectivity = 1/1000 put several relevant events on one time stamp of unit 's'; .* finer",
        ),
        ("financial", {"selectivity": 0.5, "simultaneous": 3}, r"put several relevant .*; lower them or simultaneous"),
        ("linear_road", {"start_rate": 5000}, r"start_rate = 5000 exceeds rate = 4000; the rate only rises"),
        ("linear_road", {"rate": "1/60"}, r"start_rate = 1/60; at least 1/30"),
        ("linear_road", {"events": 10**9}, r"events = 1000000000, but the rise brings 21729600"),
        ("linear_road", {"typed_by": "segment", "accidents": 0.1}, r"accidents have a type of their own"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(CepbenchError, match=message) as refusal:
        from_spec(name, parameters)
    assert "\n" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    ("value", "rate"),
    [(3, 3), (0.1, Fraction(1, 10)), ("500/3", Fraction(500, 3)), ("10000/60", Fraction(500, 3)), ("1e3", 1000)],
)
def test_rates_are_exact(value: float | str, rate: Fraction) -> None:
    assert StreamParameters.model_validate({"rate": value}).rate == rate


def test_text_of_a_command_line_is_understood() -> None:
    text = from_spec("uniform", {"events": "100", "groups": "3", "tie_probability": "0.5", "time_unit": "ms"})
    values = from_spec("uniform", {"events": 100, "groups": 3, "tie_probability": 0.5, "time_unit": "ms"})
    assert text.parameters == values.parameters


def test_duration_times_rate_is_the_number_of_events() -> None:
    assert from_spec("ridesharing", {"duration": 60}).events() == 10_000
    assert from_spec("cluster", {}).events() == 3000 * 3 * 3600
    assert from_spec("stock", {}).events() == 225_000
    assert from_spec("linear_road", {"duration": 10, "rate": 40, "start_rate": 20}).events() == 300


def test_parameters_cannot_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        from_spec("stock", {}).parameters.rate = Fraction(1)
