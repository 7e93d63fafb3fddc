"""The reading of your files: their form, the columns of time and type, the format of times, and a condition on rows.

Messages name Python arguments, such as `Reading(time=...)`; the command line replaces them by its options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepbench.events.errors import InputError, listed
from cepbench.events.schema import RESERVED
from cepbench.events.units import check_time_unit

if TYPE_CHECKING:  # the command line imports this
    import pyarrow as pa

AUTO, ISO = "auto", "iso"
EPOCHS = {"epoch": "s", "epoch-ms": "ms", "epoch-us": "us", "epoch-ns": "ns"}
"""Formats of numbers since 1970, optionally with fractions, and the unit in which they are written."""


@dataclass(frozen=True)
class Reading:
    """The reading of a file or DataFrame: columns of time and type, the format of times, and the form of a CSV file.

    Parameters
    ----------
    time, type
        Names of the columns. The column of types is also an attribute, under its own name.
    constant
        The type of all events, for files without a column of types.
    unit
        The stream's unit of time (`events.units.NANOSECONDS`).
    format
        `auto` (whole numbers of `unit`, or timestamps), `iso` (timestamps in any form of ISO 8601), one of `EPOCHS`
        (numbers since 1970, optionally with fractions, scaled to `unit`), or a pattern such as `%d.%m.%Y %H:%M:%S`.
    where
        A condition (`events.conditions`); only rows for which it is true are events. It applies before times are read.
    distinct
        Whether events that are equal in all columns count once.
    text
        Columns that are read as texts although they contain numbers, so that `7` and `7.0` are two keys.
    null
        Values of a CSV file that mean null, in all columns, besides an empty field.
    separator
        The character between the fields of a CSV file; by default the one of `,` `;` `|` and tab in its first row.
    names
        The names of the columns of a CSV file without a heading.
    encoding
        The encoding of a CSV file, such as `latin-1`; by default UTF-8, or UTF-16 if the file begins as such.

    Raises
    ------
    InputError
        If the unit, the format, the condition, the separator or the encoding is invalid.

    Examples
    --------
    >>> import pandas as pd
    >>> from cepbench import Reading, evaluate
    >>> ticks = pd.DataFrame({"ts": [1.5, 2.0], "symbol": ["A", "B"]})
    >>> own = Reading(time="ts", type="symbol", unit="ms", format="epoch")
    >>> evaluate("RETURN COUNT(*) PATTERN SEQ(A, B)", ticks, "cogra", reading=own, notify=str)["COUNT(*)"].tolist()
    [1]
    """

    time: str = "time"
    type: str = "type"
    constant: str | None = None
    unit: str = "s"
    format: str = AUTO
    where: str | None = None
    distinct: bool = False
    text: Sequence[str] = ()
    null: Sequence[str] = ()
    separator: str | None = None
    names: Sequence[str] = ()
    encoding: str | None = None

    def __post_init__(self) -> None:
        for field in ("text", "null", "names"):
            values = getattr(self, field)
            object.__setattr__(self, field, (values,) if isinstance(values, str) else tuple(values))
        check_time_unit(self.unit)
        if self.separator is not None and (len(self.separator.encode()) != 1 or self.separator in '\r\n"'):
            raise InputError(f"separator {self.separator!r}: give one character, such as ';'")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise InputError(
                    f"unknown encoding {self.encoding!r}; choose one of Python, such as latin-1 or utf-16"
                ) from None
        if self.format not in (AUTO, ISO, *EPOCHS) and "%" not in self.format:
            choices = ", ".join((AUTO, ISO, *EPOCHS))
            raise InputError(
                f"unknown time format {self.format!r}; choose {choices} or a pattern such as %d.%m.%Y %H:%M"
            )
        if self.constant == "":
            raise InputError("the type of all events is empty; give a name")
        if self.where is not None:
            from cepbench.events.conditions import check_condition

            check_condition(self.where)

    @property
    def called(self) -> Mapping[str, str]:
        """The input's names of `time` and `type`."""
        return {"time": self.time, "type": self.type}

    @property
    def own_columns(self) -> bool:
        """Whether anything but the unit differs from the default format."""
        return self != Reading(unit=self.unit)

    @property
    def heading(self) -> int:
        """The number of rows of a CSV file before its data; messages count them."""
        return 0 if self.names else 1

    def without_nulls(self, attribute: str, kind: str | None) -> str:
        """The condition that leaves out rows without an attribute, of all types or of type `kind`."""
        from cepbench.events.conditions import written

        condition = f"{written(attribute)} IS NOT NULL"
        if kind is not None and self.constant is None:
            condition += f' OR {written(self.type)} != "{kind}"'
        return condition if self.where is None else f"({self.where}) AND ({condition})".replace("'", '"')

    def check(self, names: Sequence[str], place: str, is_csv: bool = False) -> None:
        """Refuses columns if one is missing (all missing ones are named) or appears twice. Raises `InputError`.

        Also refuses options of CSV files for anything else.
        """
        if not is_csv:
            for option in ("null", "separator", "names", "encoding"):
                if getattr(self, option):
                    raise InputError(f"{place}: Reading({option}=...) is for CSV files")
        wanted = {self.time: "Reading(time=...)"} | (
            {self.type: "Reading(type=...) or Reading(constant=...)"} if self.constant is None else {}
        )
        missing = {name: option for name, option in wanted.items() if name not in names}
        if missing:
            names_missing = " and ".join(map(repr, missing))
            verb = "columns" if len(missing) > 1 else "column"
            raise InputError(
                f"{place}: {verb} {names_missing} {'are' if len(missing) > 1 else 'is'} missing; "
                f"there are {listed(names)}; name it by {' and by '.join(missing.values())}"
                + ("; Reading(separator=...) sets what is between columns" if is_csv and len(names) == 1 else "")
                + (
                    "; Reading(names=...) names them if row 1 has none"
                    if is_csv and any(map(_is_number, names))
                    else ""
                )
            )
        for name in self.text:
            if name not in names:
                raise InputError(f"{place}: column {name!r} of Reading(text=...) is missing; there are {listed(names)}")
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{place}: column {name!r} appears twice; rename one of them")

    def attributes(self, names: Sequence[str]) -> list[str]:
        """The columns that may be attributes."""
        return [name for name in names if name not in ("time", "type", self.time)]

    def shadowed(self, names: Sequence[str]) -> list[str]:
        """Columns that are left out because another one, or a constant, replaces them."""
        used = (self.time, None if self.constant is not None else self.type)
        return [name for name in names if name in RESERVED[:2] and name not in used]

    def columns(self, batch: "pa.RecordBatch") -> "dict[str, pa.Array]":
        """The columns of a batch by name, with those called `time` and `type`."""
        import pyarrow as pa

        raw = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns = {name: raw[name] for name in self.attributes(batch.schema.names)}
        columns["time"] = raw[self.time]
        constant = pa.scalar(self.constant, pa.string())
        columns["type"] = raw[self.type] if self.constant is None else pa.repeat(constant, batch.num_rows)
        return columns


def _is_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


EXPECTED = Reading()
"""Columns `time` and `type`, times in seconds."""


def reading_of(reading: Reading | str, where: str | None = None) -> Reading:
    """A reading; a unit means files with the columns `time` and `type`. Raises `InputError`.

    A condition `where` replaces the reading's own.
    """
    full = Reading(unit=reading) if isinstance(reading, str) else reading
    return full if where is None else replace(full, where=where)
