"""The section of the report on claims that were changed after the first cell was measured, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cepbench.metrics.results import Results
from cepbench.plots.claims import by_paper
from cepbench.plots.html import Cell, Html, join, table, tag

ANCHOR, HEADING = "changes", "Changed after it was measured"
EXPLAINED = (
    "The number, the expectation and the size of each claim are stored before the first cell is measured. This table "
    "lists claims in which one of them was changed later, with the reasons."
)
HEADS = ("Figure", "Change", "Claim", "Number", "Expected", "Size", "Reason")


def changes_section(everything: Sequence[Results], anchor: Callable[[Results], str]) -> Html | None:
    """A table with a row per change; None without changes."""
    rows = []
    for results in by_paper(everything):
        figure = results.figure
        changed = [("dropped", claim) for claim in figure.dropped] + [("added", claim) for claim in figure.added]
        if not changed and not figure.revised:
            continue
        link = Cell(tag("a", figure.id, href=f"#{anchor(results)}"))
        reason = Cell(" ".join(figure.revised) or "No reason is given.", kind="cause")
        rows += [
            [
                link,
                Cell(what),
                Cell(claim.text, kind="claim"),
                *map(Cell, (claim.what, claim.expected, claim.size)),
                reason,
            ]
            for what, claim in changed
        ] or [[link, Cell("run or rules"), *map(Cell, ("all", "", "", "")), reason]]
    if not rows:
        return None
    parts = [tag("h2", HEADING, id=ANCHOR), tag("p", EXPLAINED, class_="note"), table(HEADING, HEADS, rows)]
    return join(parts)
