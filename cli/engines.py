"""`cepbench engines`: the engines that others wrote, what each lacks, and their installation."""

from functools import partial

import click

from cepbench.cli.interrupts import WRONG_USE
from cepbench.cli.lists import as_json
from cepbench.cli.tables import show

NOTHING = "-"
"""In place of a version that is not installed, and of what an engine does not lack."""


@click.command()
@click.argument("action", required=False, type=click.Choice(["install"]), metavar="[install]")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@as_json
@click.pass_context
def engines(context: click.Context, action: str | None, names: tuple[str, ...], as_json: bool) -> None:
    """List the engines that others wrote, or `install` some.

    `cepbench engines install flink` installs Flink into an environment of its own, below the folder that
    CEPBENCH_ENGINES names; by default, it is in your cache. Without a NAME, installs every engine. An engine that is
    installed is left alone, one that is damaged or has another version is replaced, and an installation that was
    stopped leaves nothing behind.
    """
    from cepbench.algorithms.external import installing
    from cepbench.algorithms.external.packages import PACKAGES, Installed, look_up, unavailable
    from cepbench.algorithms.registry import make

    if action is None:
        rows = []
        for package in PACKAGES:
            state, missing = look_up(package), make(package.name).missing()
            version = state.version if isinstance(state, Installed) else None
            row = {"name": package.name, "installed": "no" if version is None else "yes"}
            row |= {"version": version or NOTHING, "license": package.license}
            rows.append(row | {"missing": (missing or NOTHING).removeprefix(unavailable(package, ""))})
        show(rows, as_json)
        return
    if as_json:
        raise click.UsageError("--json goes with the list, not with `install`")
    packages = [installing.package_of(name) for name in dict.fromkeys(names)] or PACKAGES
    failed = False
    for package in packages:
        try:
            click.echo(installing.install(package, partial(click.echo, err=True)))
            reason = make(package.name).missing()
        except installing.NotInstalled as error:
            reason = str(error)
        if reason is not None:
            failed = True
            click.echo(f"cepbench: {reason}", err=True)
    if failed:
        context.exit(WRONG_USE)
