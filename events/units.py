"""Units of time, and the exact conversion of a duration into the unit of a stream."""

from fractions import Fraction

from cepbench.events.errors import InputError

NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "day": 86400 * 10**9,
}


def check_time_unit(unit: str) -> str:
    """`unit` itself, or an `InputError` that lists the units a stream may have."""
    if unit not in NANOSECONDS:
        raise InputError(f"unknown time unit {unit!r}; choose one of {', '.join(NANOSECONDS)}")
    return unit


def in_units(amount: Fraction, unit: str, stream_unit: str, what: str) -> int:
    """`amount` of `unit` as a whole number of `stream_unit`; an `InputError` names `what` if it is not whole."""
    exact = amount * NANOSECONDS[unit] / NANOSECONDS[stream_unit]
    if exact.denominator != 1:
        raise InputError(
            f"{what} {float(amount):g} {unit} is no whole number of the stream's time unit {stream_unit!r} "
            f"({float(exact):g}); choose a multiple of 1 {stream_unit}"
        )
    return int(exact)


def seconds(amount: float, unit: str) -> float:
    """`amount` of `unit` in seconds."""
    return amount * NANOSECONDS[unit] / 1e9
