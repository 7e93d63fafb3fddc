"""Claims that were changed after cells had been measured, with the reasons, so that such decisions are visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cepbench.metrics.results import Results
from cepbench.plots.claims import by_paper
from cepbench.plots.html import Cell, Html, join, table, tag

ANCHOR, HEADING = "changes", "Changed after it was measured"
EXPLAINED = (
    "What each claim expects, and at which size, is stored before its first cell is measured. These are the claims "
    "whose expectation or size was changed later, and the reasons."
)
HEADS = ("Figure", "Change", "Claim", "Expected", "Size", "Reason")


def changes_section(everything: Sequence[Results], anchor: Callable[[Results], str]) -> Html | None:
    """A table with a row per change; None without changes."""
    rows = [
        [
            Cell(tag("a", results.figure.id, href=f"#{anchor(results)}")),
            Cell(what),
            Cell(claim.text, kind="claim"),
            Cell(claim.expected),
            Cell(claim.size),
            Cell(" ".join(results.figure.revised) or "No reason is given.", kind="cause"),
        ]
        for results in by_paper(everything)
        for what, claims in (("dropped", results.figure.dropped), ("added", results.figure.added))
        for claim in claims
    ]
    if not rows:
        return None
    parts = [tag("h2", HEADING, id=ANCHOR), tag("p", EXPLAINED, class_="note"), table(HEADING, HEADS, rows)]
    return join(parts)
