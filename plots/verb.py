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

    >>> from cepbench import plot
    >>> plot("results", "drawings")

    `output` is a folder for the figures of a results folder, and a file for a ranking. Returns the files. Raises
    `CepbenchError` if the results cannot be read, or if the suffix of the file is not one of a drawing.
    """
    if isinstance(found, Ranking | Advice):
        return (write_ranking(found, output),)
    everything = load_results(found)
    look = all_styles(everything)
    return tuple(path for one in everything for path in write_drawings(one, Path(output), look).values())
