"""What a data set declares: where its raw files are, and Spark SQL for time, type and attributes of its events.

Declarations only: the pipeline reads the files with Spark and evaluates the expressions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepbench.datasets.errors import DatasetError
from cepbench.events.errors import InputError
from cepbench.events.schema import Attribute, Kind, Schema

SQL_TYPES = {Kind.INT: "BIGINT", Kind.FLOAT: "DOUBLE", Kind.STRING: "STRING"}


@dataclass(frozen=True)
class RawColumn:
    """A column of the raw files, in file order, with its Spark SQL type."""

    name: str
    sql_type: str


@dataclass(frozen=True)
class Derived:
    """An attribute of the events and the Spark SQL expression over raw columns that gives its value."""

    name: str
    kind: Kind
    expression: str


@dataclass(frozen=True)
class Dataset:
    """A real stream.

    - `files`: pattern of the raw files below the folder that the user downloaded them to.
    - `format`, `options`, `columns`: how Spark reads them (`spark.read.format(..).options(..).schema(..)`). Rows that
      do not fit the columns become nulls, which are refused where an event needs the value.
    - `time`, `type`: Spark SQL expressions of each event's time stamp (whole, >= 0, in `time_unit`) and type name. They
      must not depend on Spark's session time zone.
    - `attributes`: the other values of an event; window functions see all rows that `filter` keeps.
    - `filter`: Spark SQL condition; rows where it is not true are no events.
    - `order`: attributes that put events of equal time into one order. Such events never precede one another, but
      their positions must not depend on how files are split.
    - `key`: attributes that queries usually partition by; the event store is bucketed by them.
    - `source`, `licence`: whom to cite, and on which terms the data may be had.
    - `note`: what a user should know before trusting a figure made from it.
    """

    name: str
    summary: str
    paper: str
    source: str
    licence: str
    files: str
    columns: tuple[RawColumn, ...]
    time: str
    time_unit: str
    type: str
    attributes: tuple[Derived, ...]
    order: tuple[str, ...]
    key: tuple[str, ...] = ()
    filter: str | None = None
    format: str = "csv"
    options: Mapping[str, str] = field(default_factory=dict)
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

    def schema(self, types: tuple[str, ...] = (), strings: tuple[str, ...] = ()) -> Schema:
        """Schema of the events; the dictionaries are known once the data have been read."""
        attributes = tuple(Attribute(attribute.name, attribute.kind) for attribute in self.attributes)
        return Schema(types, attributes, self.time_unit, strings)

    def raw_schema(self) -> str:
        """The raw columns as the DDL string that Spark's readers take."""
        return ", ".join(f"`{column.name}` {column.sql_type}" for column in self.columns)

    def select(self) -> tuple[str, ...]:
        """Expressions for `selectExpr`, after `filter`: time, type, attributes; types and strings as text."""
        return (
            f"CAST({self.time} AS BIGINT) AS `time`",
            f"CAST({self.type} AS STRING) AS `type`",
            *(f"CAST({a.expression} AS {SQL_TYPES[a.kind]}) AS `{a.name}`" for a in self.attributes),
        )

    def order_by(self) -> tuple[str, ...]:
        """Columns of the selection that give the stream's order."""
        return ("time", *self.order)
