"""The sources of a page, folders and packs: machine, commit and time of their measurements."""

from collections.abc import Sequence

from cepbench.metrics.kept import SHORT
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.metrics.table import machine
from cepbench.plots.claims import verdicts
from cepbench.plots.html import Cell, Html, table
from cepbench.plots.tables import counted, status_badge


def runs_table(everything: Sequence[Results]) -> Html | None:
    """A row per source: machine, commit, time, cells and verdicts; None if no source has a name."""
    sources = [name for name in dict.fromkeys(results.source for results in everything) if name]
    if not sources:
        return None
    heads = ("Run", "Machine", "Commit", "Measured (UTC)", "Figures", "Cells", "Claims")
    return table("Runs", heads, [_row(name, [r for r in everything if r.source == name]) for name in sorted(sources)])


def _row(name: str, everything: Sequence[Results]) -> list[Cell]:
    records = [record for results in everything for record in results.records]
    times = sorted(record.started for record in records if record.started)
    statuses = [(status_badge(status), sum(record.cell_status is status for record in records)) for status in Status]
    return [
        Cell(name),
        Cell("; ".join(dict.fromkeys(map(machine, records))), kind="text"),
        Cell(", ".join(dict.fromkeys(map(_commit, records)))),
        Cell(f"{times[0]} to {times[-1]}" if times else "", kind="text"),
        Cell(len(everything)),
        Cell(counted(statuses)),
        Cell(verdicts([claim for results in everything for claim in results.figure.claims])),
    ]


def _commit(record: Record) -> str:
    commit = record.provenance.get("commit")
    return f"{str(commit)[:SHORT]}{'+' if record.provenance.get('dirty') else ''}" if commit else "not recorded"
