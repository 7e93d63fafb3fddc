"""`cepbench capabilities`: what each algorithm can evaluate, and why it refuses the rest."""

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cepbench.cli.options import Place, plugins
from cepbench.cli.tables import aligned

if TYPE_CHECKING:
    from cepbench.metrics.capabilities import Capabilities
    from cepbench.verification.language_suite import Asked

BEGIN = "<!-- capabilities: written by `cepbench capabilities --format markdown -o FILE` -->"
END = "<!-- end of capabilities -->"
YES, NO = "yes", "–"


@click.command()
@click.argument("specifications", metavar="[ALGORITHM]...", nargs=-1)
@click.option(
    "-q", "--query", "workload", type=Place(exists=True, dir_okay=False), help="Ask for the queries of this file."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="For csv and json: one row per algorithm and feature or query.",
)
@click.option("-o", "--output", type=Place(dir_okay=False), help="File to write; of a page with marks, only that part.")
@plugins
def capabilities(specifications: tuple[str, ...], workload: Path | None, form: str, output: Path | None) -> None:
    """Show what the algorithms can evaluate, and why not the rest.

    Asks all algorithms, or the ALGORITHMs, such as sharon[max_length=8], for a small query of each feature of the
    language, or for the queries of a file.
    """
    from cepbench.verification.capabilities import capabilities as found_of
    from cepbench.verification.language_suite import SUITE

    capable = found_of(specifications, SUITE if workload is None else _asked(workload))
    content = {"table": table, "markdown": markdown, "csv": _csv, "json": _json}[form](capable)
    if output is None:
        click.echo(content, nl=False)
        return
    from cepbench.metrics.files import write

    write(output, (_within(output, content) if form == "markdown" else content).encode())


def table(capable: "Capabilities") -> str:
    """The matrix for a terminal, with the reasons below."""
    rows = [[row.name, *(NO if name in row.reasons else YES for name in capable.algorithms)] for row in capable.rows]
    parts = [aligned(["", *capable.algorithms], rows)]
    for name in capable.algorithms:
        refused = capable.refusals(name)
        if refused:
            parts.append("\n".join((f"{name} refuses", *(f"  {', '.join(refused[why])}: {why}" for why in refused))))
    parts += [f"{name} cannot run here: {reason}" for name, reason in capable.absent.items()]
    return "\n\n".join(parts) + "\n"


def markdown(capable: "Capabilities") -> str:
    """The matrix as a table of a document, with the reasons below. It is the same on every machine."""
    lines = [_line("", *(f"`{name}`" for name in capable.algorithms)), _line(*["---"] * (len(capable.algorithms) + 1))]
    group = None
    for row in capable.rows:
        if row.group != group:
            group = row.group
            lines.append(_line(f"**{group}**", *[""] * len(capable.algorithms)))
        lines.append(_line(row.name, *(NO if name in row.reasons else YES for name in capable.algorithms)))
    reasons = [
        f"- `{name}`: {why}: _{', '.join(refused)}_"
        for name in capable.algorithms
        for why, refused in capable.refusals(name).items()
    ]
    return "\n".join((*lines, "", "What is refused, and why:", "", *reasons)) + "\n"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _rows(capable: "Capabilities") -> list[dict[str, str | None]]:
    return [
        {
            "group": row.group,
            "name": row.name,
            "algorithm": name,
            "supported": "no" if name in row.reasons else "yes",
            "reason": row.reasons.get(name),
            "workload": row.workload,
        }
        for row in capable.rows
        for name in capable.algorithms
    ]


def _csv(capable: "Capabilities") -> str:
    rows, text = _rows(capable), io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _json(capable: "Capabilities") -> str:
    return json.dumps(_rows(capable), indent=2, ensure_ascii=False) + "\n"


def _asked(file: Path) -> "list[Asked]":
    """The queries of a file, each on its own."""
    from cepbench.queries.printing import to_text
    from cepbench.queries.workloads import load_workload
    from cepbench.verification.language_suite import Asked

    return [Asked(file.name, query.name, to_text(query)) for query in load_workload(file)]


def _within(file: Path, content: str) -> str:
    """A page with `content` between its marks, or `content` alone where there is no such page."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{content}\n{end}{after}" if end else content
