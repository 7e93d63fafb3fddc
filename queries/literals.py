"""Numbers, units and names of semantics as a query writes them. Each function raises `ValueError` with a sentence."""

from __future__ import annotations

import math
from fractions import Fraction

from cepbench.queries.model import Number, Semantics

_MOST_CHARACTERS = 400
_LARGEST_LENGTH = 10**18
_MOST_COPIES = 1024

_UNITS = {
    "events": ("event", "events"),
    "ns": ("ns", "nanosecond", "nanoseconds"),
    "us": ("us", "µs", "μs", "microsecond", "microseconds"),
    "ms": ("ms", "msec", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "day": ("d", "day", "days"),
}
"""The canonical unit of a length, and how it may be written (in any case)."""

_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}

_SEMANTICS = {
    "skip-till-any-match": Semantics.ANY,
    "any": Semantics.ANY,
    "skip-till-next-match": Semantics.NEXT,
    "next": Semantics.NEXT,
    "contiguous": Semantics.CONTIGUOUS,
    "cont": Semantics.CONTIGUOUS,
}


def number(text: str) -> Number:
    """An integer of 64 bits, or a finite float."""
    _check_length(text)
    if text.lstrip("+-").isdigit():
        whole = int(text)
        if not -(2**63) <= whole < 2**63:
            raise ValueError("a whole number must fit into 64 bits; write a decimal point for a float")
        return whole
    real = float(text)
    if not math.isfinite(real):
        raise ValueError("the number is too large for a float")
    return real


def count(text: str) -> int:
    """A number of repetitions: the n or m of `P{n,m}`."""
    _check_length(text)
    if int(text) > _MOST_COPIES:
        raise ValueError(f"a pattern is repeated at most {_MOST_COPIES} times by a number; use {{n,}} for any number")
    return int(text)


def amount(numerator: str, denominator: str | None = None) -> Fraction:
    """The exact positive value of `numerator / denominator`, an amount of some unit."""
    value = _fraction(numerator)
    return value if denominator is None else value / _fraction(denominator)


def unit(word: str) -> str:
    """The canonical unit: a key of `events.units.NANOSECONDS`, or `events`."""
    if word.lower() not in _UNIT_OF:
        raise ValueError(
            f"unknown unit {word!r}; choose events, ms, s, sec, seconds, min, minutes, h, hours, day or days"
        )
    return _UNIT_OF[word.lower()]


def semantics(word: str) -> Semantics:
    """The semantics of a name, long or short."""
    meaning = _SEMANTICS.get(word.lower().replace("_", "-"))
    if meaning is None:
        raise ValueError(
            f"unknown semantics {word!r}; choose skip-till-any-match, skip-till-next-match or contiguous "
            "(short: any, next, cont)"
        )
    return meaning


def _fraction(text: str) -> Fraction:
    _check_length(text)
    near = float(text)  # bounds the exponent: an exact 1e999999999 would not fit into memory
    if not 0 < near <= _LARGEST_LENGTH or near < 1 / _LARGEST_LENGTH:
        raise ValueError(f"a length must be positive and at most 10**18, not {text}")
    return Fraction(text)


def _check_length(text: str) -> None:
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"a number may have at most {_MOST_CHARACTERS} characters")
