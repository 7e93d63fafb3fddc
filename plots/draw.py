"""Draws a figure of panels from results, as PDF, SVG and PNG."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from cepbench.metrics.figure import Figure, Panel, Scale
from cepbench.metrics.files import write
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results, ResultsError
from cepbench.metrics.status import Status
from cepbench.metrics.values import status_of
from cepbench.plots.axes import category, fix_ticks
from cepbench.plots.categories import HATCHES, draw_bars, draw_heat, draw_stacks, part_handles
from cepbench.plots.censored import NOT_RUN, legend_handle
from cepbench.plots.lines import draw_lines, limits, measured
from cepbench.plots.points import METRICS, coordinates, curves, in_slice, of_metric, shown
from cepbench.plots.published import published_handles
from cepbench.plots.style import (
    COLUMN_WIDTH,
    COUNTERFACTUAL,
    PAGE,
    TEXT_WIDTH,
    Page,
    Style,
    label,
    paper,
    series_dashes,
    styles,
    variant,
)

FORMATS = ("pdf", "svg", "png")
MAX_COLUMNS = 3
NARROWEST = 1.6  # inches of a panel beside others, so that ticks and labels remain legible
LEGEND_HEIGHT = 0.35  # inches above the panels, if the legend does not need more
HEAT_ROW = 0.19  # inches per algorithm in a heat map
_CANVASES = {"pdf": FigureCanvasPdf, "svg": FigureCanvasSVG, "png": FigureCanvasAgg}
_UNDATED: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None, "ModDate": None}, "svg": {"Date": None}, "png": {}}


@dataclass(frozen=True)
class Selection:
    """The algorithms and panels to draw, by default all, and labels of the axes without their units.

    A panel is named by its letter or its metric; a metric of no panel has the axis of the first one. Cells do not
    change.
    """

    algorithms: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    x_label: str | None = None
    y_label: str | None = None

    def of(self, results: Results) -> Results:
        """The results with the figure of this selection. Raises `ResultsError` for what the figure does not have."""
        if self == Selection():
            return results
        figure, name = results.figure, results.figure.experiment
        panels = _selected(figure, self.panels)
        if self.algorithms:
            measured = tuple(dict.fromkeys((*figure.algorithms, *(record.algorithm for record in results.records))))
            for algorithm in self.algorithms:
                if algorithm not in measured:
                    raise ResultsError(f"{name}: no algorithm {algorithm!r}; choose from {', '.join(measured)}")
            panels = [shown for panel in panels if (shown := self._shown(panel)) is not None]
            if not panels:
                raise ResultsError(f"{name}: no panel shows {', '.join(self.algorithms)}")
            figure = figure.model_copy(update={"algorithms": self.algorithms})
        if self.x_label is not None:
            _check_single("--xlabel", "axes", [figure.x_of(panel).name for panel in panels])
            axes = [figure.x_of(panel).model_copy(update={"label": self.x_label}) for panel in panels]
            panels = [panel.model_copy(update={"x": axis}) for panel, axis in zip(panels, axes, strict=True)]
        if self.y_label is not None:
            _check_single("--ylabel", "metrics", [panel.metric for panel in panels])
            panels = [panel.model_copy(update={"label": self.y_label}) for panel in panels]
        unlettered = tuple(panel.model_copy(update={"letter": ""}) for panel in panels)
        return replace(results, figure=figure.model_copy(update={"panels": unlettered}))

    def _shown(self, panel: Panel) -> Panel | None:
        """The panel with the selected algorithms only; None if it shows others."""
        names = tuple(name for name in self.algorithms if not panel.algorithms or name in panel.algorithms)
        published = tuple(curve for curve in panel.published if curve.of is None or curve.of in names)
        return panel.model_copy(update={"algorithms": names, "published": published}) if names else None


def _selected(figure: Figure, names: Sequence[str]) -> list[Panel]:
    """The panels with these letters or metrics, and those of further metrics; all without any."""
    letters = [panel.letter.strip("()") or chr(97 + number % 26) for number, panel in enumerate(figure.panels)]
    further = [name for name in names if name in METRICS and all(name != panel.metric for panel in figure.panels)]
    for name in names:
        if name.strip("()") not in letters and name not in {*further, *(panel.metric for panel in figure.panels)}:
            listed = dict.fromkeys(f"{a} ({p.metric})" for a, p in zip(letters, figure.panels, strict=True))
            raise ResultsError(f"{figure.experiment}: no panel {name!r}; choose one of {', '.join(listed)}")
    wanted = {name.strip("()") for name in names} | {*names}
    shown = zip(letters, figure.panels, strict=True)
    chosen = [panel for letter, panel in shown if not names or letter in wanted or panel.metric in wanted]
    return chosen + [of_metric(figure.panels[0], name) for name in further]


def _check_single(option: str, what: str, names: Sequence[str]) -> None:
    if len(set(names)) > 1:
        listed = ", ".join(dict.fromkeys(names))
        raise ResultsError(f"{option}: the panels have different {what} ({listed}); choose one of them with --panel")


def all_styles(everything: Sequence[Results], planned: Sequence[Sequence[str]] = ()) -> dict[str, Style]:
    """One style for each algorithm of all figures of a results folder.

    `planned` are the algorithms of figures of the sweep that are not measured yet, so that styles do not change later.
    """
    figures = [*planned, *(_names(results.figure, results.records) for results in everything)]
    # Variants that would look alike in one figure get different styles in all figures.
    alike = {name for names in figures for name in names if sum(variant(rival) == variant(name) for rival in names) > 1}
    keys = {name: name if name in alike else variant(name) for names in figures for name in names}
    chosen = styles(sorted(set(keys.values())))
    return {name: chosen[key] for name, key in keys.items()}


def write_drawings(
    results: Results,
    folder: Path | None = None,
    look: Mapping[str, Style] | None = None,
    page: Page = PAGE,
    formats: Sequence[str] = FORMATS,
    name: str | None = None,
) -> dict[str, Path]:
    """Draws a figure into `folder` (by default beside its cells) as <experiment>.pdf, .svg, .png; paths by format.

    `name` replaces that of the experiment.
    `look`: the styles that all figures of the results share (`all_styles`).
    """
    target = results.folder if folder is None else folder
    drawing = draw(results.figure, results.records, look, page)
    return {
        kind: write(target / f"{name or results.figure.experiment}.{kind}", render(drawing, kind, page))
        for kind in formats
    }


def render(drawing: Drawing, kind: str, page: Page = PAGE) -> bytes:
    """The drawing as a file of this format; equal drawings give equal bytes."""
    buffer = io.BytesIO()
    with paper(page):
        if page.sheet is not None:
            drawing.savefig(buffer, format=kind, metadata=_UNDATED[kind])  # a style sheet may configure savefig
        else:
            _print(drawing, kind, buffer)
    return buffer.getvalue()


def _print(drawing: Drawing, kind: str, buffer: io.BytesIO) -> None:
    """Writes the same bytes as `savefig` in a third less time: `savefig` draws everything twice."""
    canvas: Any = _CANVASES[kind](drawing)
    if kind == "pdf":
        canvas.print_pdf(buffer, metadata=_UNDATED[kind])
    elif kind == "svg":
        canvas.print_svg(buffer, metadata=_UNDATED[kind])
    else:
        dpi = drawing.dpi
        drawing.set_dpi(rcParams["savefig.dpi"])
        # The default compression would take half the time of a drawing, for files that are a sixth smaller.
        canvas.print_png(buffer, pil_kwargs={"compress_level": 3})
        drawing.set_dpi(dpi)


def draw(
    figure: Figure, records: Sequence[Record], look: Mapping[str, Style] | None = None, page: Page = PAGE
) -> Drawing:
    """All panels side by side, a row per facet, and one legend above them."""
    with paper(page):
        return _draw(figure, records, styles(_names(figure, records)) if look is None else look, page)


def _names(figure: Figure, records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys((*figure.algorithms, *(record.algorithm for record in records))))


def _draw(figure: Figure, records: Sequence[Record], look: Mapping[str, Style], page: Page) -> Drawing:
    look = {
        name: replace(style, dashes=COUNTERFACTUAL) if name in figure.counterfactuals else style
        for name, style in look.items()
    }
    facets = coordinates(records, figure.facet) if figure.facet else (None,)
    cells = [(facet, panel) for facet in facets or (None,) for panel in figure.panels]
    mapped = _all_heat(figure)
    columns = 1 if mapped else 2 if len(figure.panels) == 4 else max(1, min(MAX_COLUMNS, len(figure.panels)))
    if page.width is not None:
        columns = min(columns, max(1, int(page.width / NARROWEST)))
    rows = max(1, -(-len(figure.panels) // columns) * len(facets or (None,)))
    height = max(page.height, HEAT_ROW * len(_names(figure, records)) + 0.5) if mapped else page.height
    drawing, grid = grid_of(rows, columns, page.width or (TEXT_WIDTH if mapped else None), height)
    series = coordinates(records, figure.series) if figure.series else ()
    per_facet = rows // len(facets or (None,)) * columns
    for number, (facet, panel) in enumerate(cells):
        place = number // len(figure.panels) * per_facet + number % len(figure.panels)
        axes = grid[place]
        axes.set_visible(True)
        _panel(axes, figure, panel, records, facet, look, series)
        axes.set_title(_title(figure, panel, number, facet, len(cells)), pad=4, loc="left", y=1.0)
    legend = _legend(drawing, figure, records, look, series)
    if legend is not None:
        needed = legend.get_window_extent().height / drawing.dpi
        drawing.set_figheight(height * rows + max(LEGEND_HEIGHT, needed))
    if figure.data:
        drawing.supxlabel(f"Data: {figure.data}", fontsize="small")
    lay_out(drawing)
    return drawing


def grid_of(rows: int, columns: int, width: float | None, height: float) -> tuple[Drawing, list[Axes]]:
    """A drawing with room for a legend above rows of panels, none of which is visible yet.

    `height` of a row, in inches; the `width` is by default that of a column for one panel, and of the text for several.
    """
    drawing = Drawing(
        figsize=(width or (COLUMN_WIDTH if columns == 1 else TEXT_WIDTH), height * rows + LEGEND_HEIGHT),
        layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.03, wspace=0.03, hspace=0.05),
    )
    FigureCanvasAgg(drawing)
    grid = list(drawing.subplots(rows, columns, squeeze=False).flat)
    for axes in grid:
        axes.set_visible(False)
    return drawing, grid


def lay_out(drawing: Drawing) -> None:
    """Computes the layout: otherwise each format computes it again, which takes longer than drawing.

    Minor ticks take no room of their own, but most of the time, since a layout places all ticks repeatedly.
    """
    sides = [side for axes in drawing.axes for side in (axes.xaxis, axes.yaxis)]
    locators = [side.get_minor_locator() for side in sides]
    for side in sides:
        side.set_minor_locator(NullLocator())
    engine = drawing.get_layout_engine()
    assert engine is not None
    engine.execute(drawing)
    drawing.set_layout_engine("none")
    for side, locator in zip(sides, locators, strict=True):
        side.set_minor_locator(locator)


def _panel(
    axes: Axes,
    figure: Figure,
    panel: Panel,
    records: Sequence[Record],
    facet: Any,
    look: Mapping[str, Style],
    series: Sequence[Any],
) -> None:
    metrics = [part.metric for part in panel.parts] or [panel.metric]
    alone = [panel.model_copy(update={"metric": metric, "parts": ()}) for metric in metrics]
    layers = [curves(figure, single, records, facet) for single in alone]
    lines = layers[0]
    numeric = all(
        isinstance(point.x, int | float) and not isinstance(point.x, bool) for line in lines for point in line.points
    )
    axis = figure.x_of(panel)
    categories = coordinates([record for record in records if in_slice(figure, panel, record)], axis)
    if panel.parts:
        draw_stacks(axes, axis, panel, layers, curves(figure, panel, records, facet), look, categories)
    elif panel.kind == "heat":
        draw_heat(axes, axis, panel, lines, figure.labels, categories)
    elif _barred(figure, panel) or not numeric:
        draw_bars(axes, axis, panel, lines, look, series, categories)
    else:
        draw_lines(axes, axis, panel, lines, look, series)
    if not lines:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", va="center", color="#777777")
        axes.xaxis.set_major_locator(NullLocator())
    if panel.kind != "heat" and not any(measured(layer) or limits(layer) for layer in layers):  # no values, no ticks
        axes.yaxis.set_major_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
    fix_ticks(axes.yaxis)
    axes.tick_params(which="minor", labelbottom=False, labelleft=False)


def _title(figure: Figure, panel: Panel, number: int, facet: Any, of: int) -> str:
    letter = f"({chr(97 + number % 26)})" if of > 1 else ""
    if panel.letter and figure.facet is None:
        letter = panel.letter
    parts = []
    if panel.kind == "heat":  # it has no value axis that names the metric
        parts.append(f"{panel.label}, {panel.unit}" if panel.unit == "events/s" else panel.label)
    if figure.facet and facet is not None:
        parts.append(f"{figure.facet.label} = {category(facet, figure.facet.unit)}")
    like = [sibling.where for sibling in figure.panels if figure.x_of(sibling) == figure.x_of(panel)]
    distinct = [
        name for name in panel.where if any(name not in where or where[name] != panel.where[name] for where in like)
    ]
    labels = {axis.name: axis.label for axis in map(figure.x_of, figure.panels)}
    named = [_value_text(name, panel.where[name], labels.get(name)) for name in distinct]
    parts += [panel.title] if panel.title else named
    return " ".join(part for part in (letter, ", ".join(parts)) if part)


def _value_text(name: str, value: Any, label: str | None) -> str:
    """The value of an axis in words: `120 queries` if the axis has a label, otherwise `queries = 120`."""
    return f"{name} = {category(value)}" if label is None else f"{category(value)} {label[0].lower()}{label[1:]}"


def _legend(
    drawing: Drawing, figure: Figure, records: Sequence[Record], look: Mapping[str, Style], series: Sequence[Any]
) -> Legend | None:
    """Algorithms, then values of the series axis, then the signs of the failures that occur.

    The entry of an algorithm has a line if some panel joins its points.
    """
    in_panels = [
        (record, status_of(record, panel.metric))
        for record in records
        for panel in figure.panels
        if shown(figure, panel, record, record.point.get(figure.facet.name) if figure.facet else None)
    ]
    present = {record.algorithm for record, _ in in_panels}
    lined = joined(drawing)
    handles: list[Any] = [
        _algorithm(name, look[name], name in lined, figure)
        for name in _names(figure, records)
        if name in present and not _all_heat(figure)
    ]
    for index, value in enumerate(series):
        text = f"{figure.series.label} = {category(value, figure.series.unit)}" if figure.series else str(value)
        handles.append(_series(index, text, figure))
    handles += published_handles(figure)
    parts = {str(handle.get_label()): handle for panel in figure.panels for handle in part_handles(panel)}
    handles += parts.values()
    failed = {status for _, status in in_panels} - {Status.OK}
    handles += [legend_handle(status) for status in Status if status in failed]
    if any(str(line.get_gid()).endswith(f" {NOT_RUN}") for axes in drawing.axes for line in axes.lines):
        handles.append(legend_handle(None))
    return fitted_legend(drawing, handles)


def joined(drawing: Drawing) -> frozenset[object]:
    """The names of the curves whose points are joined by a line in some panel."""
    return frozenset(line.get_gid() for axes in drawing.axes for line in axes.lines if line.get_linestyle() != "None")


def fitted_legend(drawing: Drawing, handles: Sequence[Any]) -> Legend | None:
    """Adds a legend above the panels with the fewest rows that fit the width; none without handles."""
    room = drawing.get_figwidth() * drawing.dpi
    for columns in range(len(handles), 0, -1):
        legend: Legend = drawing.legend(
            handles=handles,
            loc="outside upper center",
            ncols=columns,
            borderaxespad=0.1,
            columnspacing=1.2,
            handletextpad=0.45,
            handlelength=2.2,
            borderpad=0.2,
        )
        if legend.get_window_extent().width <= room or columns == 1:
            return legend
        legend.remove()
    return None


def _algorithm(name: str, style: Style, joined: bool, figure: Figure) -> Line2D | Patch:
    face = "white" if style.hollow else style.color
    if _all_bars(figure):
        face = style.color if any(panel.parts for panel in figure.panels) else face
        return Patch(facecolor=face, edgecolor=style.color, linewidth=0.8, label=label(name, figure.labels))
    return line_handle(style, label(name, figure.labels), style.line if joined else "none")


def line_handle(style: Style, text: str, line: Any) -> Line2D:
    """The line of an algorithm in a legend."""
    return Line2D([], [], linestyle=line, label=text, **style.look)


def _series(index: int, text: str, figure: Figure) -> Line2D | Patch:
    if _all_bars(figure):
        hatch = HATCHES[index % len(HATCHES)]
        return Patch(facecolor="white", edgecolor="#444444", hatch=hatch, linewidth=0.6, label=text)
    return Line2D([], [], color="#444444", linestyle=(0, series_dashes(index)), label=text)


def _all_bars(figure: Figure) -> bool:
    return all(_barred(figure, panel) for panel in figure.panels)


def _all_heat(figure: Figure) -> bool:
    return all(panel.kind == "heat" for panel in figure.panels)


def _barred(figure: Figure, panel: Panel) -> bool:
    return panel.kind == "bars" or figure.x_of(panel).scale is Scale.CATEGORY
