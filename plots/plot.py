"""`cepbench.plot`: drawings of results and rankings."""

from __future__ import annotations

from pathlib import Path

from cepbench.metrics.advice import Advice
from cepbench.metrics.ranking import Ranking
from cepbench.metrics.results import load_results
from cepbench.plots.draw import all_styles, write_drawings
from cepbench.plots.ranking import write_ranking


def plot(found: str | Path | Ranking | Advice, output: str | Path) -> tuple[Path, ...]:
    """Draws the figures of a results folder, or the ranking of `bench` or `advise`.

    Parameters
    ----------
    found
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
    if isinstance(found, Ranking | Advice):
        return (write_ranking(found, output),)
    everything = load_results(found)
    look = all_styles(everything)
    return tuple(path for one in everything for path in write_drawings(one, Path(output), look).values())
