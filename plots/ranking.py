<<<<<<< HEAD
"""A drawing of `cepbench bench` or `cepbench advise`: a bar per algorithm, and how the others ended."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure as Drawing

from cepbench.metrics.advice import Advice
from cepbench.metrics.files import write
from cepbench.metrics.ranking import Ranking
from cepbench.metrics.results import ResultsError
from cepbench.plots.draw import FORMATS, render
from cepbench.plots.style import label, paper, styles
from cepbench.plots.units import human

ROW = 0.26
"""Inches."""


def write_ranking(found: Ranking | Advice, file: str | Path) -> Path:
    """Draws it to a file, whose name says the format. Raises `ResultsError` for another one."""
    path = Path(file)
    if path.suffix.lstrip(".") not in FORMATS:
        raise ResultsError(f"{path}: a drawing is called FILE.pdf, FILE.svg or FILE.png")
    with paper():
        drawing = _drawing(found)
    write(path, render(drawing, path.suffix.lstrip(".")))
    return path


def _drawing(found: Ranking | Advice) -> Drawing:
    """The shortest time on top. What has no time has its status in place of a bar; what refused is left out."""
    rows: list[tuple[str, str, float | None, float | None, float | None]] = []
    if isinstance(found, Ranking):
        rows += [(e.algorithm, e.status.value, e.seconds, e.low, e.high) for e in found.entries]
    else:
        rows += [(c.algorithm, c.status.value, c.seconds, c.seconds_low, c.seconds_high) for c in found.candidates]
    rows = [row for row in rows if row[1] != "unsupported"]
    look = styles([name for name, *_ in rows])
    drawing = Drawing(figsize=(4.5, 0.7 + ROW * max(1, len(rows))), layout="constrained")
    axes = drawing.subplots()
    axes.set_xscale("log")
    known = [seconds for _, status, seconds, *_ in rows if seconds and status == "ok" and seconds < float("inf")]
    least, most = min(known, default=1.0) / 3, max(known, default=1.0) * 10
    for place, (name, status, seconds, low, high) in enumerate(rows):
        if status != "ok" or not seconds or seconds == float("inf"):
            axes.text(least * 1.1, place, status if status != "ok" else "would not end", va="center", fontsize=7)
            continue
        axes.barh(place, seconds - least, left=least, height=0.7, color=look[name].color)
        end = seconds
        if low is not None and high is not None and high > low:
            end = min(high, most)
            axes.plot([max(low, least), end], [place, place], color="#222222", linewidth=1)
        axes.text(end * 1.08, place, human(seconds, "s"), va="center", fontsize=7)
    axes.set_xlim(least, most)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.xaxis.set_major_formatter(lambda value, place: human(value, "s"))
    axes.set_yticks(range(len(rows)), [label(name) for name, *_ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("Time of the whole stream" + ("" if isinstance(found, Ranking) else ", predicted"))
    return drawing
=======
"""Which algorithm is best where, of a heat map: in words and ranks that are computed from the records."""

from collections.abc import Sequence

from cepbench.metrics.figure import Figure, Panel
from cepbench.metrics.record import Record
from cepbench.plots.axes import category
from cepbench.plots.censored import LABELS
from cepbench.plots.html import Cell, Html, table, tag
from cepbench.plots.points import HIGHER_IS_BETTER, curves
from cepbench.plots.style import label
from cepbench.plots.units import human


def rankings(figure: Figure, records: Sequence[Record]) -> list[Html]:
    """A table per heat map with a row per column of it, the best algorithm first; nothing without heat maps."""
    panels = [panel for panel in figure.panels if panel.kind == "heat" and figure.facet is None]
    if not panels:
        return []
    return [tag("h3", "Which algorithm is best where"), *(_table(figure, panel, records) for panel in panels)]


def _table(figure: Figure, panel: Panel, records: Sequence[Record]) -> Html:
    places: dict[object, list[tuple[float, str, float, float]]] = {}
    failed: dict[object, list[str]] = {}
    for curve in curves(figure, panel, records):
        name = label(curve.algorithm, figure.labels)
        for point in curve.points:
            ranked, others = places.setdefault(point.x, []), failed.setdefault(point.x, [])
            if point.estimate is not None and point.drawn:
                low, high = point.estimate.low, point.estimate.high
                values = point.estimate.values
                ends = (min(values), max(values)) if low is None or high is None else (low, high)
                ranked.append((point.estimate.median, name, *ends))
            elif point.failures:
                others.append(f"{name} ({', '.join(LABELS[failure.status] for failure in point.failures)})")
    rows = []
    for x, ranked in places.items():
        ranked.sort(reverse=panel.metric in HIGHER_IS_BETTER)
        shown = ", ".join(f"{name} {human(value, panel.unit)}" for value, name, *_ in ranked)
        rows.append(
            [category(x), Cell(_best(ranked), kind="text"), Cell(shown or "–", kind="text"), Cell("; ".join(failed[x]))]
        )
    return table(
        panel.label, (figure.x_of(panel).label, "Best", "From best to worst", "Without a number"), rows, sortable=True
    )


def _best(ranked: Sequence[tuple[float, str, float, float]]) -> str:
    """`COGRA, 1.5 times better than GRETA`; only if their intervals, or else their ranges, do not meet."""
    if not ranked:
        return "nobody"
    best, name, low, high = ranked[0]
    if len(ranked) == 1:
        return f"{name}, the only one"
    second, other, least, most = ranked[1]
    if min(best, second) <= 0:
        return name
    if best != second and low <= most and least <= high:
        return f"{name}, not to be told apart from {other}"
    factor = max(best, second) / min(best, second)
    return f"{name}, {factor:.2g} times better than {other}" if factor >= 1.05 else f"{name} and {other}, alike"
>>>>>>> arena
