"""Options that several commands share."""

from pathlib import Path

import click

master = click.option("--master", metavar="URL", help="Spark master, such as local[*] or spark://host:7077.")

results = click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
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
