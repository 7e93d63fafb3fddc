"""`cepbench new`: a first experiment file."""

from pathlib import Path

import click

from cepbench.cli.options import Place


@click.command()
@click.argument("name")
@click.option(
    "--folder",
    type=Place(exists=True, file_okay=False),
    default=Path(),
    help="Folder of the file; by default the current one.",
)
def new(name: str, folder: Path) -> None:
    """Write an experiment file to start from.

    The file is named NAME.yaml; `cepbench run NAME.yaml` runs it.
    """
    from cepbench.experiments.own import write_template

    click.echo(write_template(name, folder))
