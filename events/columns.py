"""Conversion of raw Arrow columns to event columns, with the row of the first invalid value."""

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cepbench.events.conditions import written
from cepbench.events.errors import InputError
from cepbench.events.place import Place
from cepbench.events.reading import AUTO, EPOCHS, ISO
from cepbench.events.schema import Kind
from cepbench.events.time_formats import timestamps
from cepbench.events.units import NANOSECONDS
from cepbench.events.windows import FOREVER

ARROW = {Kind.INT: pa.int64(), Kind.FLOAT: pa.float64(), Kind.STRING: pa.string()}

_SCALED = " (Reading(format='epoch') reads seconds with fractions, in a finer Reading(unit=...))"
_NUMBER, _NAIVE, _ZONED = "number", "timestamp", "timestamp with a zone"
_UNKNOWN, _UNKNOWN_ZONED = "unknown", "unknown with a zone"
_OFFSET = re.compile(r".*z|.*[t ].*[+-]\d\d(:?\d\d)?", re.IGNORECASE)
_NOTATIONS = (
    (_NUMBER, pa.int64()),
    (_NUMBER, pa.float64()),
    (_NAIVE, pa.timestamp("ns")),
    (_ZONED, pa.timestamp("ns", "UTC")),
)


def times(column: pa.Array, unit: str, place: Place, form: str = AUTO) -> NDArray[np.int64]:
    """Times in `unit` as int64[n], 0 <= time < `FOREVER`; `InputError` names the first row without a valid time.

    `form`: how they are written (`events.reading.Reading.format`).
    """
    if column.null_count:
        remedy = f"leave such rows out by where='{written(place.name('time'))} IS NOT NULL'"
        raise place.error(_first(pc.is_null(column)), "time", f"the time is null; {remedy}")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
    if form != AUTO:
        column = timestamps(column, form, place)
    elif _is_text(column.type):
        column = _parsed_times(column, place)
    if pa.types.is_date(column.type):
        column = pc.cast(column, pa.timestamp("s" if pa.types.is_date32(column.type) else "ms"))
    if pa.types.is_timestamp(column.type):
        values = _from_timestamps(column, unit, place)
    elif pa.types.is_integer(column.type):
        values = _integers(column, "time", place)
    elif pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        values = _from_floats(_numpy(pc.cast(column, pa.float64())), unit, place)
    else:
        raise InputError(
            f"{place.file}: column {place.name('time')!r} has type {column.type}; expected integers or timestamps"
        )
    if len(values) and values.min() < 0:
        index = int(np.argmax(values < 0))
        raise place.error(index, "time", f"the time {values[index]} is negative")
    if len(values) and values.max() >= FOREVER:
        index = int(np.argmax(values >= FOREVER))
        raise place.error(index, "time", f"the time {values[index]} is too large; choose a coarser time unit")
    return values


def type_names(column: pa.Array, place: Place) -> pa.Array:
    """Type names as strings; `InputError` names the first row without one. Integers are names too."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if len(column) and not (_is_text(column.type) or pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        raise InputError(f"{place.file}: column {place.name('type')!r} has type {column.type}; expected strings")
    names = pc.cast(column, pa.string())
    missing = pc.fill_null(pc.equal(names, ""), True)
    if pc.any(missing).as_py():
        raise place.error(_first(missing), "type", "the type is empty")
    return names


def zone(kind: pa.DataType, written_as: Collection[str], form: str) -> str | None:
    """How answers show times: None as numbers, "" as timestamps without a zone, otherwise in that zone.

    `kind` is the Arrow type of their column, `written_as` the notations of its texts (`notations`).
    """
    if pa.types.is_timestamp(kind):
        return kind.tz or ""
    if pa.types.is_date(kind):
        return ""
    if form in EPOCHS:
        return None
    if form not in (AUTO, ISO):
        return "UTC" if "%z" in form or "%Z" in form else ""
    if _ZONED in written_as or _UNKNOWN_ZONED in written_as:
        return "UTC"
    return "" if form == ISO or _NAIVE in written_as else None


def notations(column: pa.Array) -> dict[str, tuple[int, str]]:
    """The notations of the times of a column: for each, the first row (from 0) that has it, and its text."""
    if not _is_text(column.type):
        texts = column.drop_null()
        return {_NUMBER: (_first(column.is_valid()), str(texts[0]))} if len(texts) else {}
    # Each distinct value, such as "NA", is examined once.
    found = _notations(pc.unique(column.drop_null()))
    return {name: (pc.index(column, pa.scalar(text, column.type)).as_py(), text) for name, text in found.items()}


def _notations(texts: pa.Array) -> dict[str, str]:
    """The first text of each notation, by halves until all texts of a part are written alike."""
    if len(texts) == 0:
        return {}
    for name, kind in _NOTATIONS:
        if _casts(pc.utf8_trim_whitespace(texts), kind):
            return {name: texts[0].as_py()}
    if len(texts) == 1:
        text = texts[0].as_py()
        return {_UNKNOWN_ZONED if _OFFSET.fullmatch(text.strip()) else _UNKNOWN: text}
    half = len(texts) // 2
    return {**_notations(texts[half:]), **_notations(texts[:half])}


def are_times(found: Collection[str]) -> bool:
    """Whether all notations (`notations`) are those of times."""
    return not {_UNKNOWN, _UNKNOWN_ZONED}.intersection(found)


def check_notations(found: Mapping[str, tuple[int, str]], place: Place) -> None:
    """`InputError` for the first row with an invalid time, or with another notation than the rows before it."""
    order = sorted((row, name, text) for name, (row, text) in found.items())
    for index, (row, name, text) in enumerate(order):
        if not are_times((name,)):
            expected = "expected a whole number or a timestamp (or a Reading(format=...))"
            raise place.error(row, "time", f"{text!r} is not a time; {expected}")
        if index > 0:
            raise place.error(
                row, "time", f"{text!r} is not written as the times before; expected whole numbers or timestamps"
            )


def attribute(column: pa.Array, name: str, kind: Kind, place: Place) -> pa.Array:
    """An attribute as int64, float64 or string; nulls stay."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == ARROW[kind]:
        return column
    if kind is not Kind.STRING and _is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
    if kind is Kind.INT and pa.types.is_integer(column.type):
        valid = pc.fill_null(column, 0)
        return pc.if_else(pc.is_valid(column), pa.array(_integers(valid, name, place)), pa.scalar(None, pa.int64()))
    # Large integers become the nearest float where a column mixes both, as everywhere.
    return pc.cast(column, ARROW[kind], safe=False)


def missing(column: pa.Array) -> NDArray[np.bool_] | None:
    """bool[n], where an attribute is null or NaN; None if nowhere."""
    if pa.types.is_floating(column.type):
        mask = pc.is_null(column, nan_is_null=True)
    elif column.null_count:
        mask = pc.is_null(column)
    else:
        return None
    flags = np.asarray(mask.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return flags if flags.any() else None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _parsed_times(column: pa.Array, place: Place) -> pa.Array:
    for _, kind in _NOTATIONS:
        try:
            found = pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
        return _whole(column, found) if kind == pa.float64() else found
    check_notations(notations(column), place)
    return column


def _casts(column: pa.Array, kind: pa.DataType) -> bool:
    try:
        pc.cast(column, kind)
    except pa.ArrowInvalid:
        return False
    return True


def _whole(column: pa.Array, found: pa.Array) -> pa.Array:
    """Numbers such as 5.0 as integers, which keep all digits of the integers beside them."""
    try:
        return pc.cast(pc.replace_substring_regex(column, r"\.0*$", ""), pa.int64())
    except pa.ArrowInvalid:
        return found


def _from_timestamps(column: pa.Array, unit: str, place: Place) -> NDArray[np.int64]:
    values = _numpy(pc.cast(column, pa.int64()))
    have, want = NANOSECONDS[column.type.unit], NANOSECONDS[unit]
    if have >= want:
        factor = have // want
        if len(values) and int(np.abs(values).max()) > (2**63 - 1) // factor:
            index = int(np.argmax(np.abs(values) > (2**63 - 1) // factor))
            raise place.error(index, "time", f"the time is too large in {unit!r}; choose a coarser time unit")
        return values * factor
    whole, rest = np.divmod(values, want // have)
    if rest.any():
        index = int(np.argmax(rest != 0))
        text = pc.cast(column.slice(index, 1), pa.string())[0].as_py()
        raise place.error(index, "time", f"{text} is not a whole number of {unit!r}; choose a finer Reading(unit=...)")
    return whole


def _from_floats(values: NDArray[np.float64], unit: str, place: Place) -> NDArray[np.int64]:
    bad = ~(np.isfinite(values) & (np.abs(values) < 2.0**63) & (np.floor(values) == values))
    if bad.any():
        index = int(np.argmax(bad))
        value = values[index]
        if np.isnan(value):
            raise place.error(index, "time", "the time is null")
        if not np.isfinite(value) or abs(value) >= 2.0**63:
            raise place.error(index, "time", f"the time {value:g} is too large")
        if value < 0:
            raise place.error(index, "time", f"the time {float(value)!r} is negative")
        raise place.error(
            index, "time", f"{float(value)!r} is fractional; times are whole numbers of {unit!r}" + _SCALED
        )
    return values.astype(np.int64)


def _integers(column: pa.Array, name: str, place: Place) -> NDArray[np.int64]:
    if pa.types.is_uint64(column.type):
        values = _numpy(column)
        if len(values) and values.max() >= 2**63:
            index = int(np.argmax(values >= 2**63))
            raise place.error(index, name, f"{values[index]} is beyond 64-bit integers")
    return _numpy(pc.cast(column, pa.int64()))


def _numpy(column: pa.Array) -> NDArray[Any]:
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return array


def _first(mask: pa.Array) -> int:
    return int(np.argmax(mask.to_numpy(zero_copy_only=False)))
