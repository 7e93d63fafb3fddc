"""Units of time and of memory, and exact conversions between them."""

import re
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
BYTES = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
}

_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([A-Za-z]*)")


def check_time_unit(unit: str) -> str:
    """`unit` itself, or an `InputError` that lists the units a stream may have."""
    if unit not in NANOSECONDS:
        raise InputError(f"unknown time unit {unit!r}; choose one of {', '.join(NANOSECONDS)}")
    return unit


def in_units(amount: Fraction, unit: str, stream_unit: str, what: str) -> int:
    """`amount` of `unit` as a whole number of `stream_unit`; an `InputError` names `what` if the result
    is not whole.
    """
    exact = amount * NANOSECONDS[unit] / NANOSECONDS[stream_unit]
    if exact.denominator != 1:
        raise InputError(
            f"{what} {float(amount):g} {unit} is not a whole number of the stream's time unit {stream_unit!r} "
            f"({float(exact):g}); choose a multiple of 1 {stream_unit}"
        )
    return int(exact)


def seconds(amount: float, unit: str) -> float:
    """`amount` of `unit` in seconds."""
    return amount * NANOSECONDS[unit] / 1e9


def in_bytes(size: str) -> int:
    """Whole bytes of a size such as `4GB` (10^9 bytes each), `1.5 GiB` (2^30) or `4096`, in any case of letters.

    Raises `ValueError` with a description of a size.
    """
    match = _SIZE.fullmatch(size.strip())
    if match is None or match[2].upper() not in BYTES:
        raise ValueError("a size such as 4096 (bytes), 64MB (10^6 bytes each) or 64MiB (2^20); also with K or G for M")
    return int(Fraction(match[1]) * BYTES[match[2].upper()])
