"""The tables under a figure of the report: departures, agreement, cells, provenance."""

from collections.abc import Mapping, Sequence
from typing import Any

from cepbench.metrics.figure import Departure, Figure
from cepbench.metrics.record import Record
from cepbench.metrics.status import Status
from cepbench.plots.agreement import Agreement, Group
from cepbench.plots.axes import category
from cepbench.plots.censored import LABELS
from cepbench.plots.html import Cell, Content, Html, join, table, tag
from cepbench.plots.provenance import differences
from cepbench.plots.style import label

DIGEST = 8  # characters shown of a digest

STATUS_KIND = {
    Status.OK: "good",
    Status.TIMEOUT: "mid",
    Status.OUT_OF_MEMORY: "mid",
    Status.UNSUPPORTED: "",
    Status.WRONG: "bad",
    Status.ERROR: "bad",
}
AGREEMENT_KIND = {Agreement.AGREE: "good", Agreement.DISAGREE: "bad", Agreement.ALONE: "", Agreement.NONE: ""}


def badge(text: str, kind: str) -> Html:
    """A colored word; the color adds no information to the word."""
    return tag("span", text, class_=f"badge {kind}".strip())


def status_badge(status: Status) -> Html:
    """The status of a cell."""
    return badge(LABELS.get(status, "ok"), STATUS_KIND[status])


def counted(entries: Sequence[tuple[Html, int]]) -> Html:
    """The badges that occur, with their counts; a dash without any."""
    shown = [[tag("span", text, f" {count}", class_="count"), " "] for text, count in entries if count]
    return join(shown or ["–"])


def statuses(records: Sequence[Record]) -> Html:
    """The statuses of cells, with their counts."""
    return counted([(status_badge(status), sum(r.cell_status is status for r in records)) for status in Status])


def departures(entries: Sequence[Departure]) -> Html:
    """The departures from the workload of the paper, with their reasons."""
    items = [tag("li", f"{entry.what}: ", tag("span", entry.reason, class_="meta")) for entry in entries]
    return tag("ul", items, class_="departures")


def agreement(figure: Figure, groups: Sequence[Group]) -> Html:
    """The algorithms that returned the same answer for each input, and its digest; rows that disagree are red."""
    names = list(dict.fromkeys((*figure.algorithms, *(name for group in groups for name in group.digests))))
    points = [group.point for group in groups]
    axes = [name for name in dict.fromkeys(name for point in points for name in point) if _varies(name, points)]
    rows: list[list[Content]] = []
    for group in groups:
        row: list[Content] = [_coordinate(group.point.get(axis)) for axis in axes]
        for name in names:
            digests = group.digests.get(name, ())
            failed = [status for status in group.statuses.get(name, ()) if status is not Status.OK]
            agreed = group.agreement is Agreement.AGREE
            shown = ["✓" if agreed else tag("code", digest[:DIGEST], title=digest) for digest in digests]
            parts = [part for item in (*shown, *map(status_badge, failed)) for part in (" ", item)][1:]
            differs = group.agreement is Agreement.DISAGREE and bool(digests or Status.WRONG in failed)
            row.append(Cell(join(parts) if parts else "–", kind="differs" if differs else ""))
        overflow = [" ", badge("overflow", "mid")] if group.overflow else []
        same = {digest for digests in group.digests.values() for digest in digests}
        shared = [" ", tag("code", next(iter(same))[:DIGEST])] if len(same) == 1 else []
        rows.append(
            [
                *row,
                Cell(
                    join([badge(group.agreement, AGREEMENT_KIND[group.agreement]), *shared, *overflow]),
                    sort=str(group.agreement),
                ),
            ]
        )
    return table(
        "Answers of the algorithms on the same input, with their digest",
        (*axes, *map(label, names), "Answers"),
        rows,
        sortable=True,
    )


def provenance(records: Sequence[Record]) -> Html | None:
    """A warning with the keys of the environment in which records differ; None without any."""
    differing = differences(records)
    if not differing:
        return None
    rows = [
        [key, Cell(join([tag("div", tag("code", text), f" in {count} cells") for text, count in values.items()]))]
        for key, values in differing.items()
    ]
    return tag(
        "div",
        tag("strong", "Not all cells come from the same environment."),
        table("Where records differ", ("Key", "Values"), rows),
        class_="warning",
    )


def pairs(entries: dict[str, str]) -> Html:
    """Keys and values as a definition list."""
    return tag("dl", [[tag("dt", key), tag("dd", text)] for key, text in entries.items()])


def _varies(axis: str, points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an axis has several values, so that it distinguishes rows."""
    return len(points) == 1 or any(point.get(axis) != points[0].get(axis) for point in points)


def _coordinate(coordinate: Content) -> Cell:
    if coordinate is None:
        return Cell("–")
    if isinstance(coordinate, int | float) and not isinstance(coordinate, bool):
        return Cell(category(coordinate), float(coordinate), "number")
    return Cell(category(coordinate), category(coordinate))
