"""`cepbench explain`: why a query has no match, or which events it matches."""

from pathlib import Path

import click

from cepbench.cli.interrupts import time_limit, timeout
from cepbench.cli.options import reading, where
from cepbench.cli.query import asked, input_events, notice, query_text
from cepbench.events.reading import Reading


@click.command()
@asked
@input_events
@click.option(
    "--first",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    metavar="N",
    help="How many events the search for matches looks at; its time grows with the square.",
)
@where
@reading
@timeout
def explain(workload: Path, events: Path, first: int, reading: Reading, timeout: float | None) -> None:
    """Show why a query has no match, or which events it matches.

    A line with `without` names a clause of the query as you wrote it, and the match that there is without it. Where no
    clause is enough, several are named together. Where there is no match without any of them, the events do not come
    in the order of the pattern.

    Then comes the partial match that is furthest (of several the latest that something can follow), and how many events
    could be next: those that pass one condition after another, up to the one that none passes.

    At the end, each event of the pattern has the number of events of its type, of those in partial matches, and of
    those that pass each condition by itself. A condition on two events counts the later one, if it passes with some
    earlier one of its key. `[a]` and GROUP-BY count events that share the values with one of a position before.

    Events are counted in the whole stream. The search sees the first N that matter to the query, and says so where
    it leaves any out, or stops since there are too many partial matches.
    """
    from cepbench.verification.explaining.explain import explain as explained

    with time_limit(timeout):
        click.echo("\n\n".join(map(str, explained(query_text(workload), events, reading, notice, first=first))))
