"""`cepbench.plot`: drawings of results, and of the rankings of `bench` and `advise`."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogLocator, NullLocator

from cepbench.metrics.advice import Advice
from cepbench.metrics.files import write
from cepbench.metrics.ranking import Ranking
from cepbench.metrics.results import ResultsError, load_results
from cepbench.plots.draw import FORMATS, all_styles, render, write_drawings
from cepbench.plots.style import label, paper, styles
from cepbench.plots.units import human

ROW = 0.26
"""The height of a row in inches."""


def plot(results: str | Path | Ranking | Advice, output: str | Path) -> tuple[Path, ...]:
    """Draws the figures of a results folder, or the ranking of `bench` or `advise`.

    Parameters
    ----------
    results
        A results folder, or the result of `bench` or `advise`.
    output
        A folder for the figures of a results folder; a file (PDF, SVG or PNG) for a ranking.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    CepbenchError
        If the results cannot be read, or if the suffix of the file is not that of a drawing.

    Examples
    --------
    >>> from cepbench import plot
    >>> plot("results", "drawings")
    """
    if isinstance(results, Ranking | Advice):
        return (write_ranking(results, output),)
    everything = load_results(results)
    look = all_styles(everything)
    return tuple(path for figure in everything for path in write_drawings(figure, Path(output), look).values())


def write_ranking(ranking: Ranking | Advice, file: str | Path) -> Path:
    """Draws a ranking to a file; its suffix selects the format. Raises `ResultsError` for an unknown suffix."""
    path = Path(file)
    if path.suffix.lstrip(".") not in FORMATS:
        raise ResultsError(f"{path}: a drawing is called FILE.pdf, FILE.svg or FILE.png")
    with paper():
        drawing = _drawing(ranking)
    write(path, render(drawing, path.suffix.lstrip(".")))
    return path


def _drawing(ranking: Ranking | Advice) -> Drawing:
    """The shortest time is on top. An algorithm without a time has its status; those that refused are omitted."""
    rows: list[tuple[str, str, float | None, float | None, float | None]] = []
    if isinstance(ranking, Ranking):
        rows += [(e.algorithm, e.status.value, e.seconds, e.low, e.high) for e in ranking.entries]
    else:
        rows += [(c.algorithm, c.ended, c.seconds, c.seconds_low, c.seconds_high) for c in ranking.candidates]
    rows = [row for row in rows if row[1] != "unsupported"]
    look = styles([name for name, *_ in rows])
    drawing = Drawing(figsize=(4.5, 0.7 + ROW * max(1, len(rows))), layout="constrained")
    axes = drawing.subplots()
    axes.set_xscale("log")
    times = [seconds for _, status, seconds, *_ in rows if seconds and status == "ok" and seconds < float("inf")]
    least, most = min(times, default=1.0) / 3, max(times, default=1.0) * 10
    for place, (name, status, seconds, low, high) in enumerate(rows):
        if status != "ok" or not seconds or seconds == float("inf"):
            axes.text(least * 1.1, place, status if status != "ok" else "would not finish", va="center", fontsize=7)
            continue
        axes.plot(seconds, place, "o", color=look[name].color, markersize=5)
        end = seconds
        if low is not None and high is not None:
            end = min(high, most)
            axes.plot([max(low, least), end], [place, place], color=look[name].color, linewidth=1)
        axes.text(end * 1.08, place, human(seconds, "s"), va="center", fontsize=7)
    axes.set_xlim(least, most)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if most < 1000 * least else (1.0,)))
    axes.xaxis.set_major_formatter(lambda value, place: human(value, "s"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks(range(len(rows)), [label(name) for name, *_ in rows])
    axes.invert_yaxis()
    predicted = isinstance(ranking, Advice) and any(c.tried and not c.measured for c in ranking.candidates)
    axes.set_xlabel("Time of the whole stream" + (", measured or predicted" if predicted else ""))
    return drawing
