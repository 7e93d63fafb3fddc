"""The best algorithm at each point: rankings that are computed from the records."""

from collections.abc import Sequence
from itertools import pairwise

from cepbench.metrics.figure import Figure, Panel
from cepbench.metrics.record import Record
from cepbench.plots.axes import category
from cepbench.plots.censored import LABELS
from cepbench.plots.draw import render
from cepbench.plots.html import Cell, Html, drawing, scrolled, table, tag
from cepbench.plots.pareto import draw_trade, trade
from cepbench.plots.points import HIGHER_IS_BETTER, curves
from cepbench.plots.style import label
from cepbench.plots.units import human


def rankings(figure: Figure, records: Sequence[Record]) -> list[Html]:
    """A table per heat map with a row per column of the map, the best algorithm first.

    A figure that reproduces no paper has a table for each panel, also of lines.
    """
    compared = not figure.published
    panels = [panel for panel in figure.panels if figure.facet is None and (compared or panel.kind == "heat")]
    if not panels:
        return []
    tables = [_table(figure, panel, records) for panel in panels]
    return [tag("h3", "Best algorithm at each point"), *tables, *_trades(figure, panels, records)]


def _trades(figure: Figure, panels: Sequence[Panel], records: Sequence[Record]) -> list[Html]:
    """A table and a drawing of time against memory for neighboring panels of both."""
    parts = []
    for time, memory in pairwise(panels):
        medians = trade(figure, time, memory, records)
        if medians is None or not medians.places:
            continue
        rows = []
        for x in medians.places:
            front = ", ".join(label(name, figure.labels) for name in medians.front(x))
            rows.append([category(x), Cell(front or "–", kind="text")])
        title = f"{time.label} against {memory.label[0].lower()}{memory.label[1:]}"
        parts.append(table(title, (figure.x_of(time).label, "Not beaten in both"), rows, sortable=True))
        side = "top" if time.metric in HIGHER_IS_BETTER else "bottom"
        caption = (
            f"{title}, on logarithmic axes: better is towards the {side} left. The line joins the algorithms that no "
            "other one beats in both, by their medians; those that are beaten are pale."
        )
        image = drawing(render(draw_trade(figure, medians), "svg"), f"{caption} The table above names them.")
        parts.append(tag("figure", scrolled(image, "Drawing"), tag("figcaption", caption)))
    return parts


def _table(figure: Figure, panel: Panel, records: Sequence[Record]) -> Html:
    places: dict[object, list[tuple[float, str, float, float]]] = {}
    failed: dict[object, list[str]] = {}
    for curve in curves(figure, panel, records):
        name = label(curve.algorithm, figure.labels)
        name = name if figure.series is None else f"{name} ({figure.series.label} {category(curve.series)})"
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
        ranked.sort(key=lambda entry: entry[0], reverse=panel.metric in HIGHER_IS_BETTER)
        shown = ", ".join(f"{name} {human(value, panel.unit)}" for value, name, *_ in ranked)
        rows.append(
            [category(x), Cell(_best(ranked), kind="text"), Cell(shown or "–", kind="text"), Cell("; ".join(failed[x]))]
        )
    head = ", ".join(part for part in (panel.label, panel.title) if part)
    return table(
        head, (figure.x_of(panel).label, "Best", "From best to worst", "Without a number"), rows, sortable=True
    )


def _best(ranked: Sequence[tuple[float, str, float, float]]) -> str:
    """`COGRA, 1.5 times better than GRETA`, if their intervals (without intervals, their ranges) do not overlap."""
    if not ranked:
        return "none"
    best, name, low, high = ranked[0]
    if len(ranked) == 1:
        return f"{name}, the only one"
    equals = [rival for value, rival, *_ in ranked if value == best]
    if len(equals) > 1:
        return f"{', '.join(equals[:-1])} and {equals[-1]}, equal"
    second, rival, least, most = ranked[1]
    if min(best, second) <= 0:
        return name
    if low <= most and least <= high:
        return f"{name}, within the noise of {rival}"
    factor = max(best, second) / min(best, second)
    return f"{name}, {factor:.2g} times better than {rival}" if factor >= 1.05 else f"{name} and {rival}, equal"
