"""Claims that were changed after cells had been measured, and why: what is decided after the fact has to be visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cepbench.metrics.results import Results
from cepbench.plots.claims import by_paper
from cepbench.plots.html import Cell, Html, join, table, tag

ANCHOR, HEADING = "changes", "Changed after it was measured"
EXPLAINED = (
    "The number that a claim is about, what the claim expects of it, and at which size, are stored before the first "
    "cell is measured. Here are the claims of which one of these was changed later, and the reasons."
)
HEADS = ("Figure", "Change", "Claim", "Number", "Expected", "Size", "Reason")


def changes_section(everything: Sequence[Results], anchor: Callable[[Results], str]) -> Html | None:
    """A row per change; None if there is none."""
    rows = [
        [
            Cell(tag("a", results.figure.id, href=f"#{anchor(results)}")),
            Cell(what),
            Cell(claim.text, kind="claim"),
            Cell(claim.what),
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
