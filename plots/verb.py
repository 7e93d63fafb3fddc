"""`cepbench.plot`: drawings of whatever was measured."""

from __future__ import annotations

from pathlib import Path

from cepbench.metrics.advice import Advice
from cepbench.metrics.ranking import Ranking
from cepbench.metrics.results import load_results
from cepbench.plots.draw import all_styles, write_drawings
from cepbench.plots.ranking import write_ranking


def plot(found: str | Path | Ranking | Advice, output: str | Path) -> tuple[Path, ...]:
    """Draws what was measured: what is `found` in a results folder, or by `bench` or `advise`.

    >>> from cepbench import plot
    >>> plot("results", "drawings")

    Figures of a folder go into the folder `output`, what `bench` or `advise` found to a file of that name.
    Returns the files. Raises `CepbenchError` for results that cannot be read, or a file that is no drawing.
    """
    if isinstance(found, Ranking | Advice):
        return (write_ranking(found, output),)
    everything = load_results(found)
    look = all_styles(everything)
    return tuple(path for one in everything for path in write_drawings(one, Path(output), look).values())
