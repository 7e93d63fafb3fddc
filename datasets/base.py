"""The declaration of a data set: its raw files, and Spark SQL for time, type and attributes of its events.

Declarations only: the pipeline reads the files with Spark and evaluates the expressions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from cepbench.events.errors import CepbenchError, InputError
from cepbench.events.schema import Attribute, Kind, Schema

FILE = "_file"
"""The raw column that holds the address of the row's file."""

SQL_TYPES = {Kind.INT: "BIGINT", Kind.FLOAT: "DOUBLE", Kind.STRING: "STRING"}


class DatasetError(CepbenchError):
    """A data set that does not exist or is declared wrongly: one line that names the choices."""


@dataclass(frozen=True)
class RawColumn:
    """A column of the raw files with its Spark SQL type."""

    name: str
    sql_type: str


@dataclass(frozen=True)
class RawLayout:
    """One form in which the files of a data set are distributed.

    - `files`: pattern of their names, below the folder that the user downloaded them to.
    - `format`, `options`: how Spark reads them (`spark.read.format(..).options(..)`).
    - `named`: columns are found by name, in any order, among others; otherwise these are all columns, in file order.
    """

    files: str
    columns: tuple[RawColumn, ...]
    format: str = "csv"
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    named: bool = False

    def raw_schema(self) -> str:
        """The raw columns as the DDL string that Spark's readers take."""
        return ", ".join(f"`{column.name}` {column.sql_type}" for column in self.columns)

    def selected(self) -> tuple[str, ...]:
        """The raw columns of a file with named columns, cast to their types; invalid values are null."""
        return tuple(f"try_cast(`{c.name}` AS {c.sql_type}) AS `{c.name}`" for c in self.columns)

    def described(self) -> str:
        """The layout in a line, for a listing."""
        names = ", ".join(column.name for column in self.columns)
        columns = "by name" if self.named else "in this order"
        return f"{self.files}: {self.format}, columns {columns}: {names}"


@dataclass(frozen=True)
class Derived:
    """An attribute of the events and the Spark SQL expression over raw columns that gives its value."""

    name: str
    kind: Kind
    expression: str


@dataclass(frozen=True)
class Ranked:
    """Numbers for the values of raw columns by frequency, 0 for the most frequent one; equally frequent ones by value.

    Several `columns` share their numbers, and their counts add up. Each column c gets a column `c_rank` beside it, or,
    with `names` (a generator and its parameter for the number of types), `c_name`: that generator's type of the same
    number. So the frequent types of a generator's workloads are the frequent ones of the data.
    """

    columns: tuple[str, ...]
    names: tuple[str, str] | None = None


@dataclass(frozen=True)
class Dataset:
    """A real stream.

    - `layouts`: the forms of the raw files, with the same columns in all.
    - `needed`: raw columns that every event has; other rows are dropped.
    - `time`: Spark SQL expression of each event's time stamp (whole, >= 0, in `time_unit`). It must not depend on
      Spark's session time zone.
    - `types`: ways to type events, by name: Spark SQL expressions of a type's name; the first is the default.
    - `attributes`: the other values of an event; window functions range over all rows that are kept.
    - `ranked`: numbers for values, which `types` and `attributes` may use.
    - `filter`: Spark SQL condition; rows where it is not true are not events, and do not count as bad.
    - `faults`: by reason, Spark SQL conditions over raw columns under which a row is bad.
    - `order`: attributes that put events of equal time into one order. Such events never precede one another, but
      their positions must not depend on how files are split.
    - `key`: attributes that queries usually partition by; the event store is bucketed by them.
    - `stand_in`: the generator that imitates this stream; its attributes are here, too, except those that are `absent`,
      by name with the reason.
    - `figures`: for each way to type events, the experiments whose queries run on such a store.
    - `source`, `license`: whom to cite, and the terms of use.
    - `note`: what a user should know before trusting a figure made from it.
    """

    name: str
    summary: str
    paper: str
    source: str
    license: str
    layouts: tuple[RawLayout, ...]
    needed: tuple[str, ...]
    time: str
    time_unit: str
    types: Mapping[str, str]
    attributes: tuple[Derived, ...]
    order: tuple[str, ...]
    key: tuple[str, ...] = ()
    ranked: tuple[Ranked, ...] = ()
    filter: str | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
    stand_in: str | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        try:
            self.schema()
        except InputError as error:
            raise DatasetError(f"data set {self.name}: {error}") from None
        names = [attribute.name for attribute in self.attributes]
        for name in (*self.key, *self.order):
            if name not in names:
                raise DatasetError(f"data set {self.name} has no attribute {name!r}; choose from {', '.join(names)}")

    @property
    def files(self) -> tuple[str, ...]:
        """Patterns of the raw files' names."""
        return tuple(layout.files for layout in self.layouts)

    @property
    def typing(self) -> str:
        """The way in which events are typed."""
        return next(iter(self.types))

    def typed(self, by: str) -> Self:
        """The data set with events typed in another way."""
        if by not in self.types:
            raise DatasetError(f"data set {self.name} is not typed by {by!r}; choose from {', '.join(self.types)}")
        return replace(self, types={by: self.types[by], **self.types})

    def schema(self, types: tuple[str, ...] = (), strings: tuple[str, ...] = ()) -> Schema:
        """Schema of the events; the dictionaries are known once the data have been read."""
        attributes = tuple(Attribute(attribute.name, attribute.kind) for attribute in self.attributes)
        return Schema(types, attributes, self.time_unit, strings)

    def reasons(self) -> dict[str, str]:
        """By reason, conditions over raw columns under which a row is bad; the first that holds is reported."""
        return {
            **{f"no {name}": f"`{name}` IS NULL" for name in self.needed},
            **self.faults,
            "no time": f"({self.time}) IS NULL",
            "a negative time": f"({self.time}) < 0",
        }

    def select(self) -> tuple[str, ...]:
        """Expressions for `selectExpr`, after `filter`: time, type, attributes; types and strings as text."""
        return (
            f"CAST({self.time} AS BIGINT) AS `time`",
            f"CAST({self.types[self.typing]} AS STRING) AS `type`",
            *(f"CAST({a.expression} AS {SQL_TYPES[a.kind]}) AS `{a.name}`" for a in self.attributes),
        )

    def order_by(self) -> tuple[str, ...]:
        """Columns of the selection that give the stream's order."""
        return ("time", *self.order)
