"""Options that several commands share, and their names in messages."""

import csv
import re
from collections.abc import Callable
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any

import click

from cepbench.events.errors import InputError
from cepbench.events.paths import local_path
from cepbench.events.reading import AUTO, Reading
from cepbench.pipeline.cluster import SparkCluster, read_settings

_OPTION_OF = {
    "time": "--time-column",
    "type": "--type-column",
    "constant": "--type",
    "unit": "--time-unit",
    "format": "--time-format",
    "distinct": "--distinct",
    "text": "--text",
    "null": "--null",
    "separator": "--separator",
    "names": "--no-header",
    "encoding": "--encoding",
}
"""Options by the argument of `Reading` that they set."""


class Place(click.Path):
    """A file or folder; an address of a storage service is refused."""

    def __init__(self, **checks: Any) -> None:
        super().__init__(path_type=Path, **checks)

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | PathLike[str]:
        try:
            local_path(Path(value))
        except InputError as error:
            self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


results = click.option(
    "--results",
    type=Place(file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder of the measured cells, drawings and report.",
)

measured = click.option(
    "--results",
    type=Place(),
    default=Path("results"),
    show_default=True,
    help="Folder of the measured cells, or a pack of them.",
)


class Pair(click.ParamType[tuple[str, str]]):
    """`key=value` as two strings."""

    name = "key=value"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            self.fail(f"{value!r} is not of the form key=value", param, ctx)
        return key.strip(), text.strip()


class Bytes(click.ParamType[int]):
    """A size such as `4 GB`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from cepbench.events.units import in_bytes

        try:
            size = value if isinstance(value, int) else in_bytes(str(value))
        except ValueError as error:
            self.fail(f"expected {error}, not {value!r}", param, ctx)
        if size < 2**28:
            self.fail(f"{value!r} is less than 256 MiB, which a process takes before the first event", param, ctx)
        return size


def _use_plugins(context: click.Context, parameter: click.Parameter, files: tuple[Path, ...]) -> None:
    if files:
        from cepbench.algorithms.plugins import use

        use(files)


plugins = click.option(
    "--plugin",
    multiple=True,
    type=Place(exists=True, dir_okay=False),
    callback=_use_plugins,
    is_eager=True,
    expose_value=False,
    metavar="FILE.py",
    help="File with an algorithm of your own.",
)


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """Options that define how files of events are written; the command gets them as `reading`."""

    @click.option("--time-column", default="time", show_default=True, metavar="NAME", help="Column of the times.")
    @click.option("--type-column", default="type", show_default=True, metavar="NAME", help="Column of the event types.")
    @click.option("--type", "constant", metavar="TYPE", help="Type of all events, of files without such a column.")
    @click.option("--time-unit", default="s", show_default=True, metavar="U", help="Unit of the stream's times.")
    @click.option(
        "--time-format",
        default=AUTO,
        show_default=True,
        metavar="F",
        help="How times are written: auto, iso, epoch (seconds since 1970, optionally with fractions), epoch-ms, "
        "epoch-us, epoch-ns, or a pattern such as '%d.%m.%Y %H:%M:%S'.",
    )
    @click.option("--text", multiple=True, metavar="COLUMN", help="Read a column of numbers as texts; may be repeated.")
    @click.option("--null", multiple=True, metavar="VALUE", help="A value of CSV files that is null; may be repeated.")
    @click.option("--separator", metavar="C", help="Between fields of CSV files; by default found: , ; | or tab.")
    @click.option("--no-header", "names", metavar="A,B", help="Names of the columns of CSV files without a heading.")
    @click.option("--encoding", metavar="E", help="Encoding of CSV files, such as latin-1; by default UTF-8.")
    @wraps(command)
    def wrapped(
        *arguments: Any,
        time_column: str,
        type_column: str,
        constant: str | None,
        time_unit: str,
        time_format: str,
        text: tuple[str, ...],
        null: tuple[str, ...],
        separator: str | None,
        names: str | None,
        encoding: str | None,
        rows: str | None = None,
        distinct: bool = False,
        **others: Any,
    ) -> None:
        if constant is not None and type_column != "type":
            raise click.UsageError("--type and --type-column exclude each other")
        reading = Reading(
            time_column,
            type_column,
            constant,
            time_unit,
            time_format,
            rows,
            distinct,
            text,
            null,
            "\t" if separator in ("\\t", "tab") else separator,
            () if names is None else next(csv.reader([names])),
            encoding,
        )
        command(*arguments, reading=reading, **others)

    return wrapped


arithmetic = click.option(
    "--arithmetic",
    type=click.Choice(["modular", "float"]),
    default="modular",
    show_default=True,
    help="Counts modulo 2^64 with an overflow flag, or 64-bit floats.",
)


def where(command: Callable[..., None]) -> Callable[..., None]:
    """Options on the rows that count, for the `reading` of a command, which also needs the decorator `reading`."""
    rows = click.option(
        "--where",
        "rows",
        metavar="CONDITION",
        help="Rows that count, such as 'delay IS NOT NULL AND delay > 0'; with names of columns, = != < <= > >=, IN, "
        "AND, OR, NOT.",
    )
    distinct = click.option("--distinct", is_flag=True, help="Rows that are equal in all columns count once.")
    return rows(distinct(command))


def cluster(command: Callable[..., None]) -> Callable[..., None]:
    """Options of the Spark cluster that runs tasks; the command gets them as `cluster`."""

    @click.option("--master", metavar="URL", help="Spark master, such as local[*] or spark://host:7077.")
    @click.option("--conf", type=Pair(), multiple=True, metavar="K=V", help="A setting of Spark.")
    @click.option("--settings", type=Place(exists=True, dir_okay=False), help="File of Spark settings: name value.")
    @wraps(command)
    def wrapped(
        *arguments: Any, master: str | None, conf: tuple[tuple[str, str], ...], settings: Path | None, **others: Any
    ) -> None:
        from_file = {} if settings is None else read_settings(settings)
        command(*arguments, cluster=SparkCluster(master, {**from_file, **dict(conf)}), **others)

    return wrapped


def as_options(message: str) -> str:
    """A message of the package with options instead of Python arguments.

    `Reading(time=...)` becomes `--time-column`, `Reading(unit='s')` `--time-unit 's'`, and `where='a'` `--where 'a'`.
    """
    message = re.sub(
        rf"Reading\(({'|'.join(_OPTION_OF)})=(\.\.\.|True|'[^']*'|\"[^\"]*\")\)",
        lambda part: _OPTION_OF[part[1]] + ("" if part[2] in ("...", "True") else f" {part[2]}"),
        message,
    )
    return re.sub(r"\bby where='", "by --where '", message)
