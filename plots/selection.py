"""A part of a figure for a paper: some of its algorithms and panels, with labels of your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cepbench.metrics.figure import Figure, Panel
from cepbench.metrics.results import Results, ResultsError


@dataclass(frozen=True)
class Selection:
    """The algorithms and panels to draw, by default all, and labels of the axes without their units.

    A panel is named by its letter or its metric. Cells do not change.
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
        panels = _panels(figure, self.panels)
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
            _check_one("--xlabel", "axes", [figure.x_of(panel).name for panel in panels])
            axes = [figure.x_of(panel).model_copy(update={"label": self.x_label}) for panel in panels]
            panels = [panel.model_copy(update={"x": axis}) for panel, axis in zip(panels, axes, strict=True)]
        if self.y_label is not None:
            _check_one("--ylabel", "metrics", [panel.metric for panel in panels])
            panels = [panel.model_copy(update={"label": self.y_label}) for panel in panels]
        unlettered = tuple(panel.model_copy(update={"letter": ""}) for panel in panels)
        return replace(results, figure=figure.model_copy(update={"panels": unlettered}))

    def _shown(self, panel: Panel) -> Panel | None:
        """The panel with the selected algorithms only; None if it shows others."""
        names = tuple(name for name in self.algorithms if not panel.algorithms or name in panel.algorithms)
        published = tuple(curve for curve in panel.published if curve.of is None or curve.of in names)
        return panel.model_copy(update={"algorithms": names, "published": published}) if names else None


def _panels(figure: Figure, names: Sequence[str]) -> list[Panel]:
    """The panels with these letters or metrics; all without any."""
    letters = [panel.letter.strip("()") or chr(97 + number % 26) for number, panel in enumerate(figure.panels)]
    for name in names:
        if name.strip("()") not in letters and all(name != panel.metric for panel in figure.panels):
            listed = dict.fromkeys(f"{a} ({p.metric})" for a, p in zip(letters, figure.panels, strict=True))
            raise ResultsError(f"{figure.experiment}: no panel {name!r}; choose one of {', '.join(listed)}")
    wanted = {name.strip("()") for name in names} | {*names}
    shown = zip(letters, figure.panels, strict=True)
    return [panel for letter, panel in shown if not names or letter in wanted or panel.metric in wanted]


def _check_one(option: str, what: str, names: Sequence[str]) -> None:
    if len(set(names)) > 1:
        listed = ", ".join(dict.fromkeys(names))
        raise ResultsError(f"{option}: the panels have different {what} ({listed}); choose one of them with --panel")
