"""Options that several commands share."""

from collections.abc import Callable
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any

import click

from cepbench.events.errors import InputError
from cepbench.events.paths import local_path
from cepbench.pipeline.cluster import SparkCluster, read_settings


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


def cluster(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say which Spark runs tasks; the command gets them as `cluster`."""

    @click.option("--master", metavar="URL", help="Spark master, such as local[*] or spark://host:7077.")
    @click.option("--conf", type=Pair(), multiple=True, metavar="K=V", help="A setting of Spark.")
    @click.option("--settings", type=Place(exists=True, dir_okay=False), help="File of Spark settings: name value.")
    @wraps(command)
    def wrapped(
        *arguments: Any, master: str | None, conf: tuple[tuple[str, str], ...], settings: Path | None, **others: Any
    ) -> None:
        given = {} if settings is None else read_settings(settings)
        command(*arguments, cluster=SparkCluster(master, {**given, **dict(conf)}), **others)

    return wrapped
