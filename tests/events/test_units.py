"""Durations in the unit of a stream, and sizes in bytes."""

from fractions import Fraction

import pytest

from cepbench.events.errors import InputError
from cepbench.events.units import check_time_unit, in_bytes, in_units, seconds


@pytest.mark.parametrize(
    ("amount", "unit", "stream_unit", "expected"),
    [
        (Fraction(3, 2), "h", "min", 90),
        (Fraction(10), "min", "s", 600),
        (Fraction(1, 3), "h", "s", 1200),
        (Fraction(2), "day", "h", 48),
        (Fraction(120), "s", "min", 2),
        (Fraction(1, 1000), "s", "us", 1000),
        (Fraction(7), "ns", "ns", 7),
    ],
)
def test_lengths_are_exact(amount: Fraction, unit: str, stream_unit: str, expected: int) -> None:
    assert in_units(amount, unit, stream_unit, "WITHIN") == expected


@pytest.mark.parametrize(("amount", "unit"), [(Fraction(90), "s"), (Fraction(1, 3), "min"), (Fraction(61_000), "ms")])
def test_a_length_between_two_units_is_refused(amount: Fraction, unit: str) -> None:
    with pytest.raises(InputError, match=f"^SLIDE .* {unit} is not a whole number of the stream's time unit 'min'"):
        in_units(amount, unit, "min", "SLIDE")


def test_seconds() -> None:
    assert (seconds(90, "min"), seconds(250, "ms"), seconds(2, "day")) == (5400.0, 0.25, 172_800.0)


def test_a_unit_that_streams_do_not_have_is_refused() -> None:
    assert check_time_unit("us") == "us"
    with pytest.raises(InputError, match="unknown time unit 'events'; choose one of ns, us, ms, s, min, h, day"):
        check_time_unit("events")


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("4096", 4096),
        ("7B", 7),
        ("500KB", 500_000),
        ("1.5 kb", 1500),
        ("64MB", 64 * 10**6),
        ("16GB", 16 * 10**9),
        ("500KiB", 500 * 2**10),
        ("64 mib", 64 * 2**20),
        ("1.5GiB", 3 * 2**29),
        (" 0.9 ", 0),
        ("1.000001MB", 1_000_001),
    ],
)
def test_sizes(size: str, expected: int) -> None:
    assert in_bytes(size) == expected


@pytest.mark.parametrize("size", ["", "MB", "-1MB", "12XB", "1e9", "nan", "1TB", "9" * 400, "1 MB B"])
def test_what_is_no_size(size: str) -> None:
    with pytest.raises(ValueError, match=r"^a size such as 4096 \(bytes\), 64MB \(10\^6 bytes each\) or 64MiB"):
        in_bytes(size)
