"""The report: one self-contained page over all figures of a results folder, or of several folders and packs."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cepbench.metrics.capabilities import Capabilities
from cepbench.metrics.figure import FIGURE_FILE, Figure
from cepbench.metrics.files import write
from cepbench.metrics.pack import SUFFIX
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results, figure_order, load_runs, read
from cepbench.metrics.status import Status
from cepbench.metrics.table import frame
from cepbench.plots import changes, validity
from cepbench.plots.agreement import Agreement, groups
from cepbench.plots.capabilities import ANCHOR, HEADING, capability_section
from cepbench.plots.censored import LABELS
from cepbench.plots.changes import changes_section
from cepbench.plots.claims import all_claims, by_paper, verdicts, what_holds
from cepbench.plots.draw import FORMATS, all_styles, write_drawings
from cepbench.plots.effects import effects
from cepbench.plots.html import Cell, Html, join, table, tag, trusted
from cepbench.plots.page import REFRESHING, SCRIPT, STYLE
from cepbench.plots.runs import runs_table
from cepbench.plots.section import ROWS_FILE, anchor, section
from cepbench.plots.style import Style
from cepbench.plots.tables import AGREEMENT_KIND, badge, counted, status_badge
from cepbench.plots.validity import validity_section

TITLE = "cepbench report"
Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


def write_report(
    sources: Path | Sequence[Path],
    out_path: Path,
    capable: Callable[[Iterable[str]], Capabilities] | None = None,
    each: Each = map,
    formats: Sequence[str] = (),
) -> Path:
    """Draws every figure of a results folder, a pack, or several of them, and writes the page; returns `out_path`.

    `capable` returns what the measured algorithms can evaluate, for the last section of the page. `each` applies a
    function to all figures, as `map` does; it may use several processes. The page has the figures as SVG; `formats` are
    further ones that are written beside, and linked.

    Drawings are written beside the cells. For a page outside of the results folder they are written to a folder beside
    the page, since the results may be a read-only archive.

    Equal results give equal bytes. Raises `ResultsError` for a missing folder, an unreadable file or an unwritable one.
    """
    return GrowingReport(sources, out_path, capable, each=each, formats=formats).finish()


def page_of(sources: Sequence[Path]) -> Path:
    """The default path of a page: in the results folder, beside a pack, or, for several sources, `report.html`."""
    if len(sources) > 1:
        return Path("report.html")
    [source] = sources
    if source.is_file():
        return source.with_name(f"{source.name.removesuffix(SUFFIX)}.html")
    return source / "report.html"


class GrowingReport:
    """The report of a running sweep, from its first figure on. A figure is drawn again only if it has changed.

    `planned` are the algorithms of each experiment of the sweep. The other arguments, and the errors, are those of
    `write_report`.
    """

    def __init__(
        self,
        sources: Path | Sequence[Path],
        out_path: Path,
        capable: Callable[[Iterable[str]], Capabilities] | None = None,
        planned: Sequence[Sequence[str]] = (),
        each: Each = map,
        formats: Sequence[str] = (),
    ) -> None:
        self._sources = (sources,) if isinstance(sources, Path) else tuple(sources)
        self._formats = tuple(kind for kind in FORMATS if kind == "svg" or kind in formats)
        self._out_path, self._capable, self._planned, self._each = out_path, capable, planned, each
        self._drawn: dict[Path, _Drawn] = {}
        self._measured = 0

    def add(self, folder: Path) -> bool:
        """Adds the figure of one more experiment, and writes the page with the progress of the sweep.

        Returns False, and writes nothing, if the folder has no figure.
        """
        self._measured += 1
        if not (folder / FIGURE_FILE).is_file():
            return False
        self._draw([read(folder)] if self._drawn else load_runs(self._sources))
        everything = sorted((drawn.results for drawn in self._drawn.values()), key=figure_order)
        self._write(everything, progress=(self._measured, len(self._planned)))
        return True

    def finish(self) -> Path:
        """Writes the complete page, and returns its path."""
        everything = load_runs(self._sources)
        self._draw(everything)
        measured = dict.fromkeys(name for results in everything for name in results.figure.algorithms)
        return self._write(everything, None if self._capable is None else self._capable(measured))

    def _draw(self, everything: Sequence[Results]) -> None:
        look = all_styles([*(drawn.results for drawn in self._drawn.values()), *everything], self._planned)
        before = {folder: drawn.results for folder, drawn in self._drawn.items()}
        changed = [results for results in everything if before.get(results.folder) != results]
        redrawn = [
            results
            for results in changed
            if results.folder not in before or _drawing_of(before[results.folder]) != _drawing_of(results)
        ]
        drawn = {results.folder for results in redrawn}
        work = [
            _Work(
                results,
                None if results.folder in drawn else self._drawn[results.folder].drawings,
                self._place(results),
                look,
                self._formats,
                self._out_path.parent,
            )
            for results in changed
        ]
        for results, (drawings, html) in zip(changed, self._each(_draw, work), strict=True):
            self._drawn[results.folder] = _Drawn(results, drawings, html)

    def _place(self, results: Results) -> Path | None:
        """The folder for the drawings of a figure; None means beside its cells."""
        if not results.source and self._out_path.resolve().is_relative_to(self._sources[0].resolve()):
            return None
        beside = self._out_path.parent / f"{self._out_path.stem}-figures" / results.source
        return beside / results.figure.experiment / results.figure.profile

    def _write(
        self,
        everything: Sequence[Results],
        capable: Capabilities | None = None,
        progress: tuple[int, int] | None = None,
    ) -> Path:
        sections = [self._drawn[results.folder].section for results in by_paper(everything)]
        return write(self._out_path, page(everything, sections, capable, progress).encode())


@dataclass(frozen=True)
class _Drawn:
    results: Results
    drawings: dict[str, Path]  # by format
    section: Html


@dataclass(frozen=True)
class _Work:
    """The figure of an experiment, with its drawings by format, or None if they are to be drawn."""

    results: Results
    drawings: dict[str, Path] | None
    place: Path | None
    look: Mapping[str, Style]
    formats: Sequence[str]
    page_folder: Path


def _draw(work: _Work) -> tuple[dict[str, Path], Html]:
    """The drawings of a figure, with its rows beside them, and its section."""
    results, drawings = work.results, work.drawings
    # A drawing consists of cycles of objects, none of which is garbage before it is written. Collecting garbage takes
    # a third of its time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        if drawings is None:
            drawings = write_drawings(results, work.place, work.look, formats=work.formats)
            rows = frame([results]).dropna(axis="columns", how="all").to_csv(index=False, lineterminator="\n")
            write(drawings["svg"].with_name(ROWS_FILE), rows.encode())
        return drawings, section(results, drawings, work.page_folder)
    finally:
        if collecting:
            gc.enable()


def _drawing_of(results: Results) -> tuple[Figure, list[Record]]:
    """What a drawing shows. Noise is not drawn, and is known exactly only at the end of a sweep."""
    return results.figure, [record.model_copy(update={"load": None, "notices": ()}) for record in results.records]


def page(
    everything: Sequence[Results],
    sections: Sequence[Html],
    capable: Capabilities | None = None,
    progress: tuple[int, int] | None = None,
) -> str:
    """The whole document. With `progress`, it reports how many experiments of the running sweep were measured."""
    runs = len({results.source for results in everything})
    contents = [tag("li", tag("a", "Summary", href="#summary"))]
    contents += [
        tag(
            "li",
            tag(
                "a",
                " ".join(dict.fromkeys((results.figure.id, results.figure.title))),
                href=f"#{anchor(results)}",
            ),
            f" {results.figure.profile}" if _several_profiles(everything) else None,
            f" {results.source}" if runs > 1 else None,
        )
        for results in by_paper(everything)
    ]
    changed = changes_section(everything, anchor)
    threats = validity_section() if any(results.figure.claims for results in everything) else None
    last = None if capable is None else capability_section(capable)
    contents += [] if changed is None else [tag("li", tag("a", changes.HEADING, href=f"#{changes.ANCHOR}"))]
    contents += [] if threats is None else [tag("li", tag("a", validity.HEADING, href=f"#{validity.ANCHOR}"))]
    contents += [] if last is None else [tag("li", tag("a", HEADING, href=f"#{ANCHOR}"))]
    body = tag(
        "body",
        tag("a", "Skip to the figures", href="#main", class_="skip"),
        tag(
            "div",
            tag("nav", tag("h2", "Contents"), tag("ol", contents), aria_label="Contents"),
            tag("main", _summary(everything, progress), list(sections), changed, threats, last, id="main"),
            class_="layout",
        ),
        tag("script", trusted(SCRIPT)),
        None if progress is None else tag("script", trusted(REFRESHING)),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", TITLE),
        tag("style", trusted(STYLE)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _summary(everything: Sequence[Results], progress: tuple[int, int] | None) -> Html:
    records = [record for results in everything for record in results.records]
    runs = len({results.source for results in everything})
    inputs = [group for results in everything for group in groups(results.records)]
    parts = [tag("h1", TITLE, id="summary"), tag("p", _period([record.started for record in records]), class_="meta")]
    if progress is not None:
        parts.append(_progress(*progress))
    if not everything:
        parts.append(tag("p", "There are no results yet: run an experiment first.", class_="warning"))
        return join(parts)
    statuses = {status: sum(record.cell_status is status for record in records) for status in Status}
    disagreeing = sum(group.agreement is Agreement.DISAGREE for group in inputs)
    agreeing = sum(group.agreement is Agreement.AGREE for group in inputs)
    tiles = [
        (len(everything), "figures"),
        (len(records), "cells"),
        *((count, LABELS.get(status, "ok")) for status, count in statuses.items() if count),
        (agreeing, "inputs with equal answers"),
        (disagreeing, "inputs with unequal answers"),
    ]
    if disagreeing or statuses[Status.WRONG]:
        parts.append(
            tag("p", "Some answers are wrong. Their times are not drawn; see the red rows below.", class_="warning")
        )
    # Of all claims, and drawn again with each: a growing page has it at the end, and else takes a third more time.
    drawn = effects(everything) if progress is None else None
    first = (what_holds(everything), drawn, runs_table(everything))
    parts += [part for part in first if part is not None]
    parts.append(tag("ul", [tag("li", tag("b", number), tag("span", text)) for number, text in tiles], class_="tiles"))
    parts += all_claims(everything, anchor)
    parts.append(
        table(
            "Figures",
            ("Figure", "Title", "Profile", *(["Run"] if runs > 1 else []), "Cells", "Answers", "Claims"),
            [_row(results, runs > 1) for results in by_paper(everything)],
            sortable=True,
        )
    )
    return join(parts)


def _progress(measured: int, planned: int) -> Html:
    now = datetime.now(UTC).strftime("%H:%M:%S")
    done = f"{measured} of {planned} experiment{'s' if planned > 1 else ''} so far, at {now} (UTC). "
    return tag("p", done, tag("span", "This page refreshes automatically.", id="refreshing"), class_="running")


def _row(results: Results, with_run: bool) -> list[Cell]:
    figure, records = results.figure, results.records
    answers = [group.agreement for group in groups(records)]
    return [
        Cell(tag("a", figure.id, href=f"#{anchor(results)}")),
        Cell(figure.title, kind="text"),
        Cell(figure.profile),
        *([Cell(results.source)] if with_run else []),
        Cell(
            counted([(status_badge(s), sum(r.cell_status is s for r in records)) for s in Status]), float(len(records))
        ),
        Cell(counted([(badge(a, AGREEMENT_KIND[a]), answers.count(a)) for a in Agreement])),
        Cell(verdicts(figure.claims)),
    ]


def _period(started: Sequence[str]) -> str | None:
    times = sorted(time for time in started if time)
    return f"Measured {times[0]} to {times[-1]} (UTC)." if times else None


def _several_profiles(everything: Sequence[Results]) -> bool:
    return len({results.figure.profile for results in everything}) > 1
