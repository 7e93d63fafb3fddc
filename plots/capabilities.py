"""The last section of the report: what each algorithm can evaluate, and the reasons of its refusals."""

from cepbench.metrics.capabilities import Capabilities
from cepbench.plots.html import Cell, Html, table, tag
from cepbench.plots.style import label

ANCHOR = "capabilities"
HEADING = "What each algorithm can evaluate"


def capability_section(found: Capabilities) -> Html:
    """A table per group, a row per feature, and below them the reasons of refusals."""
    heads = ("", *(label(name) for name in found.algorithms))
    groups = list(dict.fromkeys(row.group for row in found.rows))
    tables = [
        table(group, heads, [_row(found, place) for place, row in enumerate(found.rows) if row.group == group])
        for group in groups
    ]
    return tag(
        "section",
        tag("h2", HEADING, id=f"{ANCHOR}-title"),
        tag("p", "Each row was tested with a small workload, shown as its tooltip.", class_="meta"),
        [tag("p", f"{label(name)} cannot run here: {reason}", class_="note") for name, reason in found.absent.items()],
        tables,
        tag("h3", "Reasons"),
        [_reasons(found, name) for name in found.algorithms],
        id=ANCHOR,
        aria_labelledby=f"{ANCHOR}-title",
    )


def _row(found: Capabilities, place: int) -> list[Cell]:
    row = found.rows[place]
    cells = [Cell(tag("span", row.name, title=row.workload), kind="text")]
    for name in found.algorithms:
        refused = name in row.reasons
        cells.append(Cell("–" if refused else "yes", kind="no" if refused else "yes"))
    return cells


def _reasons(found: Capabilities, name: str) -> Html:
    refused = found.refusals(name)
    if not refused:
        return tag("p", tag("strong", label(name)), " refuses none of these.")
    entries = [tag("li", f"{why}: ", tag("span", ", ".join(names), class_="meta")) for why, names in refused.items()]
    total = sum(name in row.reasons for row in found.rows)
    return tag("details", tag("summary", f"{label(name)} refuses {total} of {len(found.rows)}"), tag("ul", entries))
