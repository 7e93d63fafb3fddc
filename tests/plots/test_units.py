from math import inf, nan

import pytest

from cepbench.plots.units import human, plain, tick


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (10_000, "", "10 k"),
        (1_000_000, "", "1 M"),
        (0, "", "0"),
        (0.05, "", "0.05"),
        (999, "", "999"),
        (999.96e-3, "s", "1 s"),
        (0.25, "s", "250 ms"),
        (2e-6, "s", "2 µs"),
        (0, "s", "0 s"),
        (100, "s", "100 s"),
        (1.25e6, "B", "1.25 MB"),
        (512, "B", "512 B"),
        (310_000, "events/s", "310 k events/s"),
        (None, "s", "–"),
        (inf, "s", "∞"),
        (nan, "s", "not a number"),
        (-5, "", "-5"),
    ],
)
def test_human(number, unit, text):
    assert human(number, unit) == text


def test_a_tick_leaves_the_unit_of_counts_to_the_label():
    assert tick(1e6, "events/s") == "1 M"
    assert tick(1e-3, "s") == "1 ms"
    assert [tick(value, "ms") for value in (1125, 1500, 4000, 11250)] == [
        "1\u202f125",
        "1\u202f500",
        "4\u202f000",
        "11\u202f250",
    ]


def test_plain():
    assert [plain(value) for value in (312.4, 0, 27.31, 123456.0, 2.5e12)] == [
        "312.4",
        "0",
        "27.31",
        "123\u202f500",
        "2.5e+12",
    ]
