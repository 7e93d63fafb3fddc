"""`cepbench.plot`: drawings of whatever was measured."""

from __future__ import annotations

from pathlib import Path

from cepbench.metrics.advice import Advice
from cepbench.metrics.ranking import Ranking
from cepbench.metrics.results import load_results
from cepbench.plots.draw import all_styles, write_drawings
from cepbench.plots.ranking import write_ranking


def plot(found: str | Path | Ranking | Advice, output: str | Path) -> tuple[Path, ...]:
    """Draws the figures of a results folder into the folder `output`, or what `bench` or `advise` found to that file.

    Returns the files. Raises `CepbenchError` for results that cannot be read, or a file that is no drawing.
    """
    if isinstance(found, Ranking | Advice):
        return (write_ranking(found, output),)
    everything = load_results(found)
    look = all_styles(everything)
    return tuple(path for one in everything for path in write_drawings(one, Path(output), look).values())
