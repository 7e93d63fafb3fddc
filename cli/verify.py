"""`cepbench verify`: random differential tests of algorithms against the oracle."""

from functools import partial
from typing import Any

import click

from cepbench.cli.interrupts import time_limit, timeout
from cepbench.cli.options import plugins
from cepbench.cli.progress import bar, compilation_shown


@click.command()
@click.option("-a", "--algorithm", "specifications", multiple=True, metavar="SPEC", help="Algorithm; by default all.")
@click.option(
    "--cases", type=click.IntRange(min=1), default=500, show_default=True, help="Random cases compared per algorithm."
)
@click.option("--times", type=click.IntRange(min=0), default=0, help="How often to compare every pair of features.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the cases.")
@timeout
@plugins
@click.pass_context
def verify(
    context: click.Context, specifications: tuple[str, ...], cases: int, times: int, seed: int, timeout: float | None
) -> None:
    """Compare algorithms with the oracle.

    Evaluates random workloads of each algorithm's own language on random streams, with batches cut at random places,
    and reports how often features such as negation, ties and overflow were tested together.

    Prints the smallest failing case, and exits with status 1 if there is one.
    """
    from cepbench.algorithms.registry import algorithms, make
    from cepbench.verification.verify import verify as verified

    for kind in () if specifications else algorithms():
        if kind.missing() is not None:
            click.echo(f"{kind.name} is left out: {kind.missing()}")
    chosen = specifications or tuple(kind.name for kind in algorithms() if kind.missing() is None)
    for specification in chosen:
        make(specification)  # an unknown one is refused before the others run
    clean = True
    with time_limit(timeout):
        for specification in chosen:
            with bar("case", specification) as shown, compilation_shown():
                shown.total = cases
                checked = verified(specification, cases, seed, partial(_reach, shown), times=times)
            click.echo(checked)
            clean = clean and checked.clean
        if not clean:
            context.exit(1)


def _reach(shown: Any, done: int) -> None:
    shown.update(done - shown.n)
