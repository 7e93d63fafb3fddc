"""One figure of the report: drawing, claims, agreement, cells, workload, stream, environment."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from cepbench.metrics.figure import CELLS_FOLDER, FIGURE_FILE, Figure
from cepbench.metrics.notices import Notice, counted, noise, noisiest
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results, cell_name
from cepbench.metrics.statistics import CONFIDENCE
from cepbench.metrics.status import Status
from cepbench.metrics.values import WORK, is_memory
from cepbench.plots import provenance, tables
from cepbench.plots.agreement import Agreement, groups
from cepbench.plots.claims import claims_table, in_units, paper_of
from cepbench.plots.draw import MAX_COLUMNS
from cepbench.plots.explore import interactive
from cepbench.plots.html import Html, drawing, join, scrolled, tag
from cepbench.plots.lines import FLOOR
from cepbench.plots.points import curves
from cepbench.plots.published import published_notes
from cepbench.plots.style import Style, label
from cepbench.plots.units import human

ROWS_FILE = "cells.csv"
"""Beside the drawings: all cells of the figure as a table (docs/measurement.md, Export)."""
MOST_LINES = 60
"""Of a workload on the page; the first ones show how hundreds of generated queries look."""

LISTED = 5
FLOOR_LINE = "The thin dotted line is the shortest time of any of them with one event per window."


def anchor(results: Results) -> str:
    """The anchor of a figure of a run on the page."""
    parts = (results.figure.experiment, results.figure.profile, results.source)
    return "-".join(part for part in parts if part).replace(" ", "-")


def heading(figure: Figure) -> str:
    """The number of a paper's figure and the title, or the name of a user's own experiment."""
    return _named(figure) if figure.title == figure.id else f"{_named(figure)} · {figure.title}"


def _named(figure: Figure) -> str:
    return f"Figure {figure.id}" if figure.paper else figure.id


def section(
    results: Results, drawings: dict[str, Path], page_folder: Path, look: Mapping[str, Style], file: str = ""
) -> Html:
    """The section of one figure. `drawings` by format; links are relative to `page_folder`.

    `look`: the styles of the algorithms; `file`: the text of the experiment.
    """
    figure, records = results.figure, results.records
    head = anchor(results)
    of = f", run {results.source}" if results.source else ""
    return tag(
        "section",
        tag("h2", heading(figure), id=f"{head}-title"),
        tag("p", f"{figure.experiment}, profile {figure.profile}{of}. {figure.paper}", class_="meta"),
        tables.provenance(records),
        notices(records),
        _drawing(results, drawings, page_folder),
        _files(results, drawings, page_folder),
        _departures(figure),
        _claims(figure),
        _agreement(figure, records),
        _cells(records),
        _workload(figure),
        _repetition(results, file),
        _environment(figure, records),
        id=head,
        class_="figure",
        data_key=f"{figure.experiment} {figure.profile}",
        data_paper=paper_of(figure),
        data_curves=interactive(results, look),
        aria_labelledby=f"{head}-title",
    )


def alternative(figure: Figure, records: Sequence[Record]) -> str:
    """The alternative text of the drawing, for screen readers."""
    panels = "; ".join(f"{panel.letter} {panel.label}".strip() for panel in figure.panels)
    algorithms = ", ".join(label(name, figure.labels) for name in figure.algorithms)
    axes = ", ".join(dict.fromkeys(figure.x_of(panel).label for panel in figure.panels))
    failed = sum(record.cell_status is not Status.OK for record in records)
    return (
        f"{panels} over {axes} for {algorithms}. {len(records)} cells, {failed} without a valid result. "
        "The numbers are in the rows of the figure."
    )


def share(record: Record) -> float:
    """The service time on one event per window as a share of that of the cell; 0 if unknown."""
    floor, total = record.summary.floor_total, record.summary.service_total
    return floor / total if record.status is Status.OK and floor is not None and total else 0.0


def notices(records: Sequence[Record]) -> Html | None:
    """Warnings about overhead, noise and empty answers; None without any."""
    lines = []
    large = sorted((record for record in records if share(record) > 1 / WORK), key=share, reverse=True)
    if large:
        named = [f"{cell_name(record.algorithm, record.point)} ({share(record):.0%})" for record in large[:LISTED]]
        more = f" and {len(large) - LISTED} more" if len(large) > LISTED else ""
        lines.append(
            f"With one event per window the algorithm would take more than a tenth of the time, in {len(large)} cells: "
            f"{', '.join(named)}{more}."
        )
    counts, worst = counted(records), noisiest(records)
    if worst is not None:
        lines.append(
            f"{counts[Notice.NOISY]} of {len(records)} cells are noisy because other work ran on the machine; "
            f"{cell_name(worst.algorithm, worst.point)} most: {noise(worst.load)}."
        )
    if Notice.EMPTY in counts:
        lines.append(f"{counts[Notice.EMPTY]} of {len(records)} cells have an empty answer: no window has a match.")
    lost = [record for record in records if record.lost]
    if lost:
        lines.append(
            f"In {len(lost)} of {len(records)} cells a worker was lost, and the cell was measured again; "
            f"{cell_name(lost[0].algorithm, lost[0].point)}: {lost[0].lost[-1]}."
        )
    slots = Counter(_slots(record) for record in records)
    del slots[None]
    if len(slots) > 1:
        counts_of = [f"{count} in {cells} cells" for count, cells in sorted(slots.items(), reverse=True)]
        lines.append(f"The number of slots (workers side by side) changed during the run: {', '.join(counts_of)}.")
    return tag("div", join([tag("p", line) for line in lines]), class_="warning") if lines else None


def _slots(record: Record) -> int | None:
    """The slots that Spark had for a cell; None if unknown, or if the experiment varies them."""
    slots = record.provenance.get("spark", {}).get("defaultParallelism")
    return None if slots is None or "slots" in record.configuration else int(slots)


def _drawing(results: Results, drawings: dict[str, Path], page_folder: Path) -> Html:
    figure, records = results.figure, results.records
    narrow = min(len(figure.panels), MAX_COLUMNS) == 1 and figure.panels[0].kind != "heat"
    svg = drawings["svg"].read_bytes()
    text = alternative(figure, records)
    file = tag("img", src=_relative(drawings["svg"], page_folder), alt=text)
    return tag(
        "figure",
        scrolled([drawing(svg, text, narrow), tag("noscript", file)], "Drawing"),
        tag("figcaption", tag("strong", f"{_named(figure)}. "), figure.caption),
        tag("p", " ".join(_notes(figure, records, f'id="{FLOOR}"'.encode() in svg)), class_="note"),
    )


def _notes(figure: Figure, records: Sequence[Record], floor: bool) -> list[str]:
    """Notes on how to read the drawing, only on what occurs in it; `floor`: one event per window has a line."""
    facets = {record.point.get(figure.facet.name) if figure.facet else None for record in records}
    drawn = [curve for facet in facets for panel in figure.panels for curve in curves(figure, panel, records, facet)]
    points = [point for curve in drawn for point in curve.points]
    coverages = [point.estimate.coverage for point in points if point.estimate and point.estimate.coverage]
    single = "workers" if any(record.round > 1 for record in records) else "runs"
    notes = []
    if any(point.estimate and len(point.estimate.values) > 1 for point in points):
        over = " and ".join((single, *(f"values of {axis}" for axis in figure.draws)))
        notes.append(f"Each point is the median over {over}.")
    if floor:
        notes.append(FLOOR_LINE)
    if coverages:
        percent = int(100 * min(CONFIDENCE, *coverages) + 0.5)
        notes.append(f"Bars are {percent} % confidence intervals of the median from order statistics.")
    elif any(len(point.measured) > 1 for point in points):
        notes.append(f"Dots are the single {single}, which are too few for an interval.")
    notes += published_notes(figure)
    if figure.counterfactuals:
        notes.append("Long dashes: counterfactuals, which show why claims do not hold.")
    failures = [failure for point in points for failure in point.failures]
    if any(failure.limit is not None for failure in failures):
        limits = sorted({f.limit for f in failures if f.status is Status.TIMEOUT and f.limit is not None})
        notes.append(
            f"Arrows are at the time limit ({', '.join(human(limit, 's') for limit in limits)}): the true "
            "value is beyond."
            if limits
            else "Signs at a limit: the true value is beyond."
        )
    if all(panel.kind == "heat" for panel in figure.panels):
        notes.append("Darker colors are better. A sign replaces a missing number; the legend names its cause.")
    elif any(failure.limit is None for failure in failures):
        notes.append("Signs on the gray rail have no value on this axis; the legend names their cause.")
    if any(curve.left_out for curve in drawn):
        notes.append("A dash on the rail: the experiment does not run this algorithm at this point.")
    if any(record.status is Status.WRONG for record in records):
        notes.append("Times of wrong answers are not drawn.")
    if len({is_memory(panel.metric) for panel in figure.panels}) > 1:
        notes.append("Time and memory come from separate runs.")
    return notes


def _files(results: Results, drawings: dict[str, Path], page_folder: Path) -> Html:
    targets = {kind.upper(): path for kind, path in drawings.items()}
    targets |= {"Rows (CSV)": drawings["svg"].with_name(ROWS_FILE)}
    if results.folder.is_dir():  # those in a pack have no files to link
        targets |= {"Figure JSON": results.folder / FIGURE_FILE, "Cells": results.folder / CELLS_FOLDER}
    links = []
    for text, path in targets.items():
        links.append(tag("a", text, href=_relative(path, page_folder) + ("/" if path.is_dir() else "")))
    return tag("p", links, class_="files")


def _relative(path: Path, page_folder: Path) -> str:
    return quote(Path(os.path.relpath(path, page_folder)).as_posix())


def _departures(figure: Figure) -> list[Html]:
    if not figure.departures and not figure.published:
        return []
    head = tag("h3", "Departures from the paper's workload")
    if not figure.departures:
        return [head, tag("p", "None.", class_="note")]
    return [head, tables.departures(figure.departures)]


def _claims(figure: Figure) -> list[Html]:
    head = tag("h3", f"Claims, at the profile {figure.profile}")
    return [head, claims_table(in_units(figure))] if figure.claims else []


def _agreement(figure: Figure, records: Sequence[Record]) -> list[Html]:
    inputs = groups(records)
    if not inputs:
        return []
    counts = {kind: sum(group.agreement is kind for group in inputs) for kind in Agreement}
    text = ", ".join(f"{kind}: {count}" for kind, count in counts.items() if count)
    return [
        tag("h3", "Agreement of answers"),
        tag(
            "details",
            tag("summary", f"{len(inputs)} inputs ({text})"),
            tables.agreement(figure, inputs),
            open=counts[Agreement.DISAGREE] > 0 or len(inputs) <= 12,
        ),
    ]


def _cells(records: Sequence[Record]) -> list[Html]:
    if not records:
        return [tag("h3", "Cells"), tag("p", "Nothing has been measured yet.", class_="note")]
    return [tag("h3", "Cells"), tag("p", tables.statuses(records))]


def _workload(figure: Figure) -> list[Html]:
    parts = [tag("h3", "Workload and stream")]
    if figure.workload:
        lines = figure.workload.splitlines()
        more = [f"… {len(lines) - MOST_LINES} more lines in {FIGURE_FILE}"] if len(lines) > MOST_LINES else []
        parts.append(tag("pre", tag("code", "\n".join([*lines[:MOST_LINES], *more]))))
    if figure.stream:
        parts.append(tag("p", figure.stream))
    return parts if len(parts) > 1 else []


def _repetition(results: Results, file: str) -> list[Html]:
    """The commands that measure and draw the figure again, and its experiment file."""
    name, profile, source = *results.figure.key, results.folder.parents[1].name
    commands = (
        f"cepbench run {name} --profile {profile}",
        f"cepbench plot {name} --results {source} --format pdf --output .",
    )
    parts = [tag("h3", "Repeat it"), tag("pre", tag("code", "\n".join(commands)))]
    if file:
        parts.append(tag("details", tag("summary", f"Experiment file {name}.yaml"), tag("pre", tag("code", file))))
    return parts


def _environment(figure: Figure, records: Sequence[Record]) -> list[Html]:
    entries = provenance.flat(figure.environment) | provenance.common(records)
    if not entries:
        return []
    return [tag("h3", "Environment"), tag("details", tag("summary", f"{len(entries)} entries"), tables.pairs(entries))]
