"""Times in a given format, as exact timestamps."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cepbench.events.errors import InputError
from cepbench.events.place import Place
from cepbench.events.reading import EPOCHS, ISO
from cepbench.events.units import NANOSECONDS

_FRACTIONS = {"s": 9, "ms": 6, "us": 3, "ns": 0}
"""Decimal places of a number of the unit down to nanoseconds."""
_BOUND = float(2**63)
_DIGITS = r"[+-]?\d{4}"
_CALENDAR = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_LATEST = 10**11 * NANOSECONDS["s"]
"""The year 5138."""
_SAMPLE = 1000
_FIRST, _LAST = (pd.Timestamp(end, unit="ns", tz="UTC") for end in (1 - 2**63, 2**63 - 1))
"""The times that nanoseconds in 64 bits express."""


def timestamps(column: pa.Array, form: str, place: Place) -> pa.Array:
    """Times without nulls, written in `form` (one of `EPOCHS`, `ISO` or a pattern), as timestamps of nanoseconds, UTC.

    Timestamps stay what they are. Raises `InputError` for the first row in another format.
    """
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return column
    if form in EPOCHS:
        return _epochs(column, EPOCHS[form], form, place)
    texts = pc.cast(column, pa.string()).to_pandas()
    times = parsed(texts, form)
    bad = times.isna().to_numpy()
    if form == ISO:
        bad = bad | ~texts.str.match(_DIGITS).to_numpy(dtype=bool)  # pandas also accepts the word "now"
    if bad.any():
        index = int(np.argmax(bad))
        expected = "a time in ISO 8601" if form == ISO else f"written as {form}"
        raise place.error(index, "time", f"{texts.iloc[index]!r} is not {expected} (Reading(format=...))")
    return pa.array(times.dt.tz_localize(None).to_numpy())


def misread(time: NDArray[np.int64], unit: str) -> str | None:
    """The reason why numbers, in order, cannot be meant as times in `unit`, and the option that reads them, or None.

    They are digits of dates, or after the year 5000 in `unit` and not in a finer one.
    """
    texts = [str(number) for number in (*time[:_SAMPLE], *time[-1:])]
    pattern = _CALENDAR.get(len(texts[0])) if texts else None
    if pattern is not None and all(len(text) == len(texts[0]) and "1900" <= text[:4] < "2100" for text in texts):
        dates = pd.to_datetime(pd.Series(texts), format=pattern, errors="coerce")
        if dates.notna().all():
            return f"{texts[0]} looks like a date, read in {unit!r}; Reading(format={pattern!r}) reads dates"
    latest = [name for name in ("ms", "us", "ns") if texts and int(texts[-1]) * NANOSECONDS[name] <= _LATEST]
    if latest and int(texts[-1]) * NANOSECONDS[unit] > _LATEST:
        return (
            f"{texts[-1]} {unit!r} is after the year 5000; Reading(unit={latest[0]!r}) reads numbers of {latest[0]!r}"
        )
    return None


def by_pattern(column: pa.Array, pattern: str) -> pa.Array:
    """Texts as timestamps in UTC; null where the pattern does not fit. Raises `InputError` for an invalid pattern."""
    return pa.array(parsed(pc.cast(column, pa.string()).to_pandas(), pattern), pa.timestamp("ns", "UTC"))


def parsed(texts: "pd.Series[str]", form: str) -> "pd.Series[pd.Timestamp]":
    """Texts as times of nanoseconds in UTC; null if not written in `form`, or before 1678 or after 2261.

    Raises `InputError` for an invalid pattern.
    """
    try:
        times = pd.to_datetime(texts, format="ISO8601" if form == ISO else form, utc=True, errors="coerce")
        return times.where(times.between(_FIRST, _LAST)).dt.as_unit("ns")  # pandas 3 parses years up to 9999
    except ValueError as error:
        raise InputError(f"time format {form!r} is not a pattern: {str(error).splitlines()[0]}") from None


def _epochs(column: pa.Array, unit: str, form: str, place: Place) -> pa.Array:
    """Numbers of `unit` since 1970. Texts are exact to the nanosecond, floats as exact as floats are."""
    if pa.types.is_integer(column.type):
        times = _scaled(pc.cast(column, pa.decimal128(20, 0)), unit)
    elif pa.types.is_floating(column.type):
        times = _from_floats(column, unit)
    else:
        times = _scaled(column, unit)
    if times is None:
        bad = next(row for row in range(len(column)) if _epoch_fails(column.slice(row, 1), unit))
        problem = f"{column[bad].as_py()!r} is not a number of {unit!r} since 1970 (Reading(format={form!r}))"
        raise place.error(bad, "time", problem)
    return times


def _epoch_fails(value: pa.Array, unit: str) -> bool:
    return (_from_floats(value, unit) if pa.types.is_floating(value.type) else _scaled(value, unit)) is None


def _scaled(column: pa.Array, unit: str) -> pa.Array | None:
    """Numbers as text or decimals; None if one is not a number, or has digits below a nanosecond."""
    try:
        exact = pc.cast(column, pa.decimal128(27, _FRACTIONS[unit]))
        scaled = pc.multiply(exact, pa.scalar(Decimal(NANOSECONDS[unit]), pa.decimal128(10, 0)))
        return pc.cast(pc.cast(scaled, pa.int64()), pa.timestamp("ns"))
    except pa.ArrowInvalid:
        return None


def _from_floats(column: pa.Array, unit: str) -> pa.Array | None:
    """Floats, rounded to the finest decimal place that floats of their size distinguish."""
    values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    scale = NANOSECONDS[unit]
    if not (np.isfinite(values).all() and (np.abs(values) * scale < _BOUND).all()):
        return None
    if not len(values):
        return pa.array([], pa.timestamp("ns"))
    apart = max(1.0, float(np.spacing(np.abs(values).max())) * scale)  # nanoseconds
    step = 10 ** int(np.ceil(np.log10(apart)))
    nanoseconds = np.rint(values * (scale / step)).astype(np.int64) * step
    return pc.cast(pa.array(nanoseconds), pa.timestamp("ns"))
