"""The sources of a page, folders and packs: machine, commit and time of their measurements."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from cepbench.metrics.kept import SHORT
from cepbench.metrics.pack import SUFFIX
from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import Results, figure_order, load_results
from cepbench.plots.claims import verdicts
from cepbench.plots.html import Cell, Html, table
from cepbench.plots.tables import counted, status_badge
from cepbench.plots.units import human


def load_runs(sources: Sequence[Path]) -> tuple[Results, ...]:
    """The results of all sources in the order of the figures and, for one figure, of the sources.

    `Results.source` names the source if there are several or if it is a pack. Raises `ResultsError` like
    `load_results`.
    """
    if len(sources) == 1 and not sources[0].is_file():
        return load_results(sources[0])
    named = zip(names(sources), sources, strict=True)
    found = [replace(results, source=name) for name, source in named for results in load_results(source)]
    return tuple(sorted(found, key=figure_order))


def names(sources: Sequence[Path]) -> list[str]:
    """A short name for each source, of letters, digits, dots and dashes; equal names are numbered."""
    short = [re.sub(r"[^\w.-]+", "-", source.resolve().name.removesuffix(SUFFIX)) for source in sources]
    found: list[str] = []
    for name in short:
        free = (f"{name}-{number}" for number in count(1))
        alone = short.count(name) == 1
        found.append(name if alone else next(one for one in free if one not in found and one not in short))
    return found


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
    statuses = [(status_badge(status), sum(record.status is status for record in records)) for status in Status]
    return [
        Cell(name),
        Cell("; ".join(dict.fromkeys(map(_machine, records))), kind="text"),
        Cell(", ".join(dict.fromkeys(map(_commit, records)))),
        Cell(f"{times[0]} to {times[-1]}" if times else "", kind="text"),
        Cell(len(everything)),
        Cell(counted(statuses)),
        Cell(verdicts([claim for results in everything for claim in results.figure.claims])),
    ]


def _machine(record: Record) -> str:
    origin = record.provenance
    memory = origin.get("memory_bytes")
    parts = (
        origin.get("cpu"),
        f"{origin['cores']} cores" if origin.get("cores") else None,
        human(float(memory), "B") if isinstance(memory, int | float) else None,
        origin.get("system"),
    )
    return ", ".join(str(part) for part in parts if part) or "not recorded"


def _commit(record: Record) -> str:
    commit = record.provenance.get("commit")
    return f"{str(commit)[:SHORT]}{'+' if record.provenance.get('dirty') else ''}" if commit else "not recorded"
