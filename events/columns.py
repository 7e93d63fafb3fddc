"""Conversion of raw Arrow columns to event columns, with the row of the first invalid value."""

import re
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

CODED = pa.dictionary(pa.int32(), pa.string())
ARROW = {Kind.INT: pa.int64(), Kind.FLOAT: pa.float64(), Kind.STRING: pa.string()}

_SCALED = " (Reading(format='epoch') reads seconds with fractions, in a finer Reading(unit=...))"
_PADDED = r"^[+-]?0[0-9xX]"
_OFFSET = re.compile(r".*z|.*[t ].*[+-]\d\d(:?\d\d)?", re.IGNORECASE)
_WRITTEN: dict[str | None, tuple[pa.DataType, ...]] = {
    None: (pa.int64(), pa.float64()),
    "": (pa.timestamp("ns"),),
    "UTC": (pa.timestamp("ns", "UTC"),),
}
"""The format of times as texts, by the `zone` in which answers show them."""


def times(column: pa.Array, unit: str, place: Place, form: str, shown: str | None) -> NDArray[np.int64]:
    """Times in `unit` as int64[n], 0 <= time < `FOREVER`; `InputError` names the first row without a valid time.

    `form`: how they are written (`events.reading.Reading.format`); `shown`: how answers show them (`zone`).
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
        column = _parsed_times(column, place, shown)
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
        remedy = f"leave such rows out by where='{written(place.name('time'))} < {FOREVER}'"
        if pa.types.is_timestamp(column.type):
            remedy = "choose a coarser Reading(unit=...)"
        raise place.error(index, "time", f"the time {values[index]} is too large; {remedy}")
    return values


def type_names(column: pa.Array, place: Place) -> pa.DictionaryArray:
    """Type names as `CODED` strings; `InputError` names the first row without one. Integers are names too."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if len(column) and not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise InputError(f"{place.file}: column {place.name('type')!r} has type {kind}; expected strings")
    names = coded(column)
    if names.null_count or pc.index(names.dictionary, "").as_py() >= 0:
        missing = pc.fill_null(pc.equal(names.dictionary_decode(), ""), True)
        if pc.any(missing).as_py():
            remedy = f"leave such rows out by where='{written(place.name('type'))} IS NOT NULL'"
            raise place.error(_first(missing), "type", f"the type is empty; {remedy}")
    return names


def coded(column: pa.Array) -> pa.DictionaryArray:
    """A column as `CODED` strings."""
    if not pa.types.is_dictionary(column.type) or column.dictionary.null_count:
        column = pc.cast(column, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), column.dictionary.cast(pa.string()))


def zone(column: pa.Array, form: str) -> str | None:
    """The form of times in answers: None as numbers, "" as timestamps without a zone, otherwise in that zone.

    `column` has some times without nulls; texts are written as the first one, unless `form` is `iso`.
    """
    if pa.types.is_timestamp(column.type):
        return column.type.tz or ""
    if pa.types.is_date(column.type):
        return ""
    if form in EPOCHS or not (_is_text(column.type) or form != AUTO):
        return None
    if form == ISO:
        return "UTC" if any(_OFFSET.fullmatch(str(text).strip()) for text in column.to_pylist()) else ""
    if form != AUTO:
        return "UTC" if "%z" in form or "%Z" in form else ""
    first = pc.utf8_trim_whitespace(column.slice(0, 1))
    return next((shown for shown, kinds in _WRITTEN.items() if any(are(first, kind) for kind in kinds)), None)


def attribute(column: pa.Array, name: str, kind: Kind, place: Place) -> pa.Array:
    """An attribute as int64, float64 or `CODED` strings; nulls stay."""
    if kind is Kind.STRING:
        return coded(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == ARROW[kind]:
        return column
    if _is_text(column.type):
        column = pc.utf8_trim_whitespace(column)
        try:
            numbers, row = pc.cast(column, ARROW[kind]), first_padded(column)
        except pa.ArrowInvalid:
            row = first_other(column, ARROW[kind])
        if row < 0:
            return numbers
        problem = f"{column[row].as_py()!r} is not written as {kind.value}, which the column is"
        raise place.error(row, name, f"{problem}; Reading(text={name!r}) reads texts")
    if kind is Kind.INT and pa.types.is_integer(column.type):
        valid = pc.fill_null(column, 0)
        return pc.if_else(pc.is_valid(column), pa.array(_integers(valid, name, place)), pa.scalar(None, pa.int64()))
    # Large integers become the nearest float where a column mixes both, as everywhere.
    return pc.cast(column, ARROW[kind], safe=False)


def are(column: pa.Array, kind: pa.DataType) -> bool:
    """Whether all texts of a column can be read as `kind`."""
    try:
        pc.cast(column, kind)
    except pa.ArrowInvalid:
        return False
    return True


def first_other(column: pa.Array, kind: pa.DataType) -> int:
    """The first of the texts that cannot be read as `kind`, if there is one, by halves."""
    start, length = 0, len(column)
    while length > 1:
        half = length // 2
        if are(column.slice(start, half), kind):
            start, length = start + half, length - half
        else:
            length = half
    return start


def first_padded(column: pa.Array) -> int:
    """The first of the texts of a column that has leading zeros, as 007, -07 and 0x7, -1 without one."""
    row: int = pc.index(pc.match_substring_regex(column, _PADDED), True).as_py()
    return row


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


def _parsed_times(column: pa.Array, place: Place, shown: str | None) -> pa.Array:
    for kind in _WRITTEN["UTC" if shown else shown]:
        try:
            parsed = pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
        return _whole(column, parsed) if kind == pa.float64() else parsed
    row = first_other(column, kind)
    text = column[row].as_py()
    if any(are(column.slice(row, 1), kind) for kinds in _WRITTEN.values() for kind in kinds):
        problem = "is not written as the times before; expected whole numbers or timestamps"
    else:
        problem = "is not a time; expected a whole number or a timestamp (or a Reading(format=...))"
    raise place.error(row, "time", f"{text!r} {problem}")


def _whole(column: pa.Array, otherwise: pa.Array) -> pa.Array:
    """Numbers such as 5.0 as integers, which keep all digits of the integers beside them."""
    try:
        return pc.cast(pc.replace_substring_regex(column, r"\.0*$", ""), pa.int64())
    except pa.ArrowInvalid:
        return otherwise


def _from_timestamps(column: pa.Array, unit: str, place: Place) -> NDArray[np.int64]:
    values = _numpy(pc.cast(column, pa.int64()))
    have, want = NANOSECONDS[column.type.unit], NANOSECONDS[unit]
    if have >= want:
        factor = have // want
        if len(values) and int(np.abs(values).max()) > (2**63 - 1) // factor:
            index = int(np.argmax(np.abs(values) > (2**63 - 1) // factor))
            raise place.error(index, "time", f"the time is too large in {unit!r}; choose a coarser Reading(unit=...)")
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
