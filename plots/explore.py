"""The data of the page that one explores: the curves of a figure, and what is known of each of their points.

`explore.js` draws them. A slice has the panels that show the same cells over the same x axis; beside their metrics it
has those of `METRICS` that the cells have. Its places are the points of all its curves, and each value names its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from cepbench.metrics.figure import Axis, Figure, Panel
from cepbench.metrics.notices import noise, noisiest
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results, brief
from cepbench.metrics.table import machine
from cepbench.metrics.values import value
from cepbench.plots.axes import category
from cepbench.plots.censored import LABELS, NOT_RUN
from cepbench.plots.claims import SIZE
from cepbench.plots.html import packed
from cepbench.plots.notation import words
from cepbench.plots.points import HIGHER_IS_BETTER, METRICS, Curve, Point, coordinates, curves, in_slice, of_metric
from cepbench.plots.style import Style, label

RATIO = re.compile(r"(?P<metric>\S+) of (?P<of>.+) over (?P<over>.+)")


def interactive(results: Results, look: Mapping[str, Style]) -> str:
    """The curves of a figure as compressed JSON."""
    return packed(json.dumps(_document(results, look), separators=(",", ":"), allow_nan=False).encode())


def _document(results: Results, look: Mapping[str, Style]) -> dict[str, Any]:
    figure, records = results.figure, results.records
    names = list(dict.fromkeys((*figure.algorithms, *(record.algorithm for record in records))))
    machines = list(dict.fromkeys(map(machine, records)))
    slices = [
        _slice(figure, panels, [r for r in records if figure.facet is None or r.point.get(figure.facet.name) == facet],
               facet, names, machines)
        for facet, panels in _slices(figure, records)
    ]  # fmt: skip
    return {
        "source": results.source,
        "date": min((record.started[:10] for record in records if record.started), default=""),
        "machines": machines,
        "algorithms": [_algorithm(name, figure, look[name]) for name in names],
        "slices": slices,
        "claims": list(_claims(figure, slices)),
    }


@cache
def bundle() -> str:
    """The script of plotly, which the page carries, compressed."""
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None
    return packed(Path(spec.origin).with_name("package_data").joinpath("plotly.min.js").read_bytes())


def license_of_bundle() -> str:
    """The license of plotly's script."""
    return distribution("plotly").read_text("licenses/LICENSE.txt") or ""


def _algorithm(name: str, figure: Figure, style: Style) -> dict[str, Any]:
    dashes = "longdash" if name in figure.counterfactuals else ",".join(f"{1.5 * part:g}px" for part in style.dashes)
    return {
        "id": name,
        "label": label(name, figure.labels),
        "color": style.color,
        "marker": style.marker,
        "hollow": style.hollow,
        "dash": dashes or "solid",
    }


def _slices(figure: Figure, records: Sequence[Record]) -> Iterator[tuple[Any, list[Panel]]]:
    """The panels that show the same cells over the same axis, of each facet with cells."""
    for facet in coordinates(records, figure.facet) if figure.facet else (None,):
        groups: dict[str, list[Panel]] = {}
        for panel in figure.panels:
            groups.setdefault(repr((figure.x_of(panel), panel.where, panel.algorithms)), []).append(panel)
        for panels in groups.values():
            if any(in_slice(figure, panels[0], record) for record in records):
                yield facet, panels


def _slice(
    figure: Figure,
    panels: Sequence[Panel],
    records: Sequence[Record],
    facet: Any,
    names: Sequence[str],
    machines: Sequence[str],
) -> dict[str, Any]:
    axis, series = figure.x_of(panels[0]), figure.series
    members: dict[str, list[Record]] = {}
    for record in records:
        if in_slice(figure, panels[0], record):
            coordinate = record.point.get(series.name) if series else None
            members.setdefault(repr((record.algorithm, coordinate, record.point[axis.name])), []).append(record)
    places: dict[str, int] = {}
    about = []
    metrics = []
    for panel in (*panels, *_further(panels, [record for cells in members.values() for record in cells])):
        values = []
        for curve in curves(figure, panel, records, facet):
            for point in curve.points:
                key = repr((curve.algorithm, curve.series, point.x))
                cells = members.get(key, [])
                if key not in places and (cells or point in curve.left_out):
                    places[key] = len(places)
                    about.append(_place(names.index(curve.algorithm), curve, point, cells, machines))
                if key in places:
                    values.append(_value(places[key], point))
        metrics.append(_metric(panel, values))
    return {
        "label": _label(figure, panels[0], axis, facet),
        "x": {"name": axis.name, "label": axis.label, "unit": axis.unit, "scale": axis.scale},
        "series": series.label if series else None,
        "heat": panels[0].kind == "heat",
        "where": {name: brief(chosen) for name, chosen in panels[0].where.items()},
        "places": about,
        "metrics": [metric for metric in metrics if metric["values"]],
    }


def _label(figure: Figure, panel: Panel, axis: Axis, facet: Any) -> str:
    """`Events per window; queries 20`: the axis, and what distinguishes the slice."""
    siblings = [sibling.where for sibling in figure.panels if figure.x_of(sibling) == axis]
    distinct = {name: chosen for name, chosen in panel.where.items() if any(w.get(name) != chosen for w in siblings)}
    parts = [panel.title] if panel.title else [f"{name} {brief(chosen)}" for name, chosen in distinct.items()]
    parts += [f"{figure.facet.label} {category(facet)}"] if figure.facet else []
    return "; ".join([axis.label, *parts])


def _further(panels: Sequence[Panel], records: Sequence[Record]) -> list[Panel]:
    """Panels of the other metrics that some cell has, and of the parts of stacked bars."""
    there = {panel.metric for panel in panels if panel.over is None and not panel.parts}
    metrics = METRICS | {part.metric: part.label.capitalize() for panel in panels for part in panel.parts}
    return [
        of_metric(panels[0], metric, text)
        for metric, text in metrics.items()
        if metric not in there and any(value(record, metric) is not None for record in records)
    ]


def _place(number: int, curve: Curve, point: Point, cells: Sequence[Record], machines: Sequence[str]) -> list[Any]:
    noisy = noisiest(cells)
    reason = next((record.cell_reason for record in cells if record.cell_reason), "")
    return [
        number,
        point.x if isinstance(point.x, int | float) and not isinstance(point.x, bool) else category(point.x),
        None if curve.series is None else category(curve.series),
        noise(noisy.load) if noisy else "",
        reason,
        machines.index(machine(cells[0])) if cells else None,
    ]


def _value(place: int, point: Point) -> list[Any]:
    """The median with its interval, or the range of the values if they are too few, and what failed."""
    failures = [[LABELS[failure.status], failure.count, failure.limit] for failure in point.failures]
    numbers: list[Any] = [None, None, None, 0]
    if point.estimate is not None:
        low, high, values = point.estimate.low, point.estimate.high, point.estimate.values
        ends = (values[0], values[-1]) if low is None or high is None else (low, high)
        numbers = [*map(_rounded, (point.estimate.median, *ends)), len(values)]
    coverage = point.estimate.coverage if point.estimate else None
    return [place, *numbers, failures or ([] if point.run else [[NOT_RUN, 1, None]]), coverage]


def _rounded(number: float | None) -> float | None:
    return float(f"{number:.5g}") if number is not None and isfinite(number) else None


def _metric(panel: Panel, values: list[list[Any]]) -> dict[str, Any]:
    over = f" over {label(panel.over)}" if panel.over else ""
    parts = ", sum of its parts" if panel.parts else ""
    return {
        "id": panel.metric + (f"/{panel.over}" if panel.over else "") + ("+" if panel.parts else ""),
        "label": f"{panel.label}{over}{parts}",
        "unit": panel.unit,
        "scale": panel.scale,
        "higher": panel.metric in HIGHER_IS_BETTER,
        "values": values,
        "published": [curve.model_dump(include={"label", "source", "points"}) for curve in panel.published],
    }


def _claims(figure: Figure, slices: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Claimed ratios of two algorithms at a place on the x axis of a slice, for each such slice."""
    for claim, declared in zip(figure.claims, figure.current, strict=False):
        ratio = RATIO.fullmatch(declared.what)
        if claim.claimed is None or ratio is None or claim.text != declared.text:
            continue
        sizes = {size["name"]: size for size in SIZE.finditer(claim.size)}
        for number, part in enumerate(slices):
            at = sizes.get(part["x"]["name"])
            agrees = all(float(sizes[name]["first"]) == float(chosen) for name, chosen in part["where"].items()
                         if name in sizes)  # fmt: skip
            if at is not None and at["last"] is None and agrees:
                yield {
                    **ratio.groupdict(),
                    "view": number,
                    "x": float(at["first"]),
                    "claimed": claim.claimed,
                    "text": claim.text,
                    "expected": claim.expected,
                    "ours": " ".join(words(claim)),
                    "verdict": claim.verdict,
                }
