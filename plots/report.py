"""The report: one self-contained page over all figures of a results folder, or of several folders and packs."""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cepbench.metrics.capabilities import Capabilities
from cepbench.metrics.figure import FIGURE_FILE, Figure
from cepbench.metrics.files import write
from cepbench.metrics.pack import SUFFIX
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results, figure_order, load_runs, read
from cepbench.metrics.table import frame
from cepbench.plots.claims import by_paper
from cepbench.plots.draw import FORMATS, all_styles, write_drawings
from cepbench.plots.html import Html
from cepbench.plots.page import page
from cepbench.plots.section import ROWS_FILE, section
from cepbench.plots.style import Style

Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


def write_report(
    sources: Path | Sequence[Path],
    out_path: Path,
    capable: Callable[[Iterable[str]], Capabilities] | None = None,
    each: Each = map,
    formats: Sequence[str] = (),
    files: Mapping[str, Path] = MappingProxyType({}),
) -> Path:
    """Draws every figure of a results folder, a pack, or several of them, and writes the page; returns `out_path`.

    `capable` returns what the measured algorithms can evaluate, for the last section of the page. `each` applies a
    function to all figures, as `map` does; it may use several processes. The page has the figures as SVG; `formats` are
    further ones that are written beside, and linked. `files` are those of experiments, by name; a pack has its own.

    Drawings are written beside the cells. For a page outside of the results folder they are written to a folder beside
    the page, since the results may be a read-only archive.

    Equal results give equal bytes. Raises `ResultsError` for a missing folder, an unreadable file or an unwritable one.
    """
    return GrowingReport(sources, out_path, capable, each=each, formats=formats, files=files).finish()


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

    `planned` are the algorithms of each experiment of the sweep, and `missing` has a line for each without data. The
    other arguments, and the errors, are those of `write_report`.
    """

    def __init__(
        self,
        sources: Path | Sequence[Path],
        out_path: Path,
        capable: Callable[[Iterable[str]], Capabilities] | None = None,
        planned: Sequence[Sequence[str]] = (),
        each: Each = map,
        formats: Sequence[str] = (),
        files: Mapping[str, Path] = MappingProxyType({}),
        missing: Sequence[str] = (),
    ) -> None:
        self._sources = (sources,) if isinstance(sources, Path) else tuple(sources)
        self._formats = tuple(kind for kind in FORMATS if kind == "svg" or kind in formats)
        self._out_path, self._capable, self._planned, self._each = out_path, capable, planned, each
        self._files = files
        self._missing = missing
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
                results.file or self._file(results.figure.experiment),
            )
            for results in changed
        ]
        for results, (drawings, html) in zip(changed, self._each(_draw, work), strict=True):
            self._drawn[results.folder] = _Drawn(results, drawings, html)

    def _file(self, experiment: str) -> str:
        return self._files[experiment].read_text() if experiment in self._files else ""

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
        return write(self._out_path, page(everything, sections, capable, progress, self._missing).encode())


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
    file: str


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
        return drawings, section(results, drawings, work.page_folder, work.look, work.file)
    finally:
        if collecting:
            gc.enable()


def _drawing_of(results: Results) -> tuple[Figure, list[Record]]:
    """The figure and records as drawn: without noise, which is known exactly only at the end of a sweep."""
    return results.figure, [record.model_copy(update={"load": None, "notices": ()}) for record in results.records]
