"""When does sharing pay? Maps of the gain of sharing, and of who wins, with the contour where it breaks even."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from cepbench.metrics.results import Results
from cepbench.plots.atlas.answers import SAME, TIME, Answer, Drawn, ends, of_question, quantile, span
from cepbench.plots.style import TEXT_WIDTH, label, paper
from cepbench.plots.units import human, plain

PREFIX = "atlas-pays-"
UNSHARED, SHARED = "cogra", "hamlet[sharing=static]"
VISITS, SHARED_VISITS = "hamlet[granularity=event, sharing=never]", "hamlet[granularity=event, sharing=static]"
WORK = ("details.edges", "details.event_visits", "details.snapshots")
"""The metrics whose sum is the work of a record."""
DECIDING = (UNSHARED, SHARED, "hamlet", "gloria")
"""The systems that may win: one that shares nothing, one that always shares, and two that decide."""
WINNERS = ("COGRA", "shared", "Hamlet", "Gloria", "equal")
"""Their names in a map, and that of no clear winner."""
DARK = 0.6
"""The share of the largest gain, in logarithms, from which on its color is dark."""
BACKGROUNDS = ("#ffffff", "#f7d9a8", "#a9cfe8", "#a8dcc9", "#e3bfd3", "#eeeeee")
"""Colors of no winner and of each one."""
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Map:
    """A map over two axes: a row per value of the second axis, a column per value of the first one."""

    results: Results
    first: str
    second: str

    @property
    def columns(self) -> list[float]:
        """The values of the first axis."""
        return sorted({record.point[self.first] for record in self.results.records})

    @property
    def rows(self) -> list[float]:
        """The values of the second axis."""
        return sorted({record.point[self.second] for record in self.results.records})

    def numbers(self, system: str, metrics: Sequence[str]) -> Reals:
        """A number of a system by row and column; NaN where it has none. A time that was cut off is infinite."""
        numbers = np.full((len(self.rows), len(self.columns)), np.nan)
        for record in self.results.records:
            if record.algorithm == system:
                place = self.rows.index(record.point[self.second]), self.columns.index(record.point[self.first])
                if (both := ends(record, metrics)) is not None:
                    numbers[place] = both[1]
        return numbers

    @property
    def gain(self) -> Reals:
        """The gain of sharing in time: infinite or 0 where one side was cut off, NaN where both were."""
        with np.errstate(invalid="ignore"):
            return self.numbers(UNSHARED, TIME) / self.numbers(SHARED, TIME)

    @property
    def pays(self) -> Reals:
        """1 where sharing pays, 0 where it does not, and NaN where that is not known."""
        return paying(self.gain)

    @property
    def gain_of_visits(self) -> Reals:
        """The gain of sharing in time at event granularity."""
        with np.errstate(invalid="ignore"):
            return self.numbers(VISITS, TIME) / self.numbers(SHARED_VISITS, TIME)

    @property
    def gain_in_work(self) -> Reals:
        """The gain of sharing in visits of events and snapshots, at event granularity."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.numbers(VISITS, WORK) / self.numbers(SHARED_VISITS, WORK)

    @property
    def winners(self) -> Mapping[str, int]:
        """The number of points at which each system is the fastest one, and at which two are equally fast."""
        return {name: int((self.fastest == place).sum()) for place, name in enumerate(WINNERS)}

    @property
    def fastest(self) -> NDArray[np.int64]:
        """The number in `WINNERS` of the fastest system, of `equal` if the next one is as fast, -1 where none ended."""
        times = np.stack([self.numbers(system, TIME) for system in DECIDING])
        times[np.isnan(times)] = inf
        best, second = np.sort(times, axis=0)[:2]
        clear = np.where(second > SAME * best, times.argmin(axis=0), len(DECIDING))
        return np.where(np.isfinite(best), clear, -1)


def paying(gain: Reals) -> Reals:
    """1 where a gain is one, 0 where it is none, and NaN where it is not known."""
    return np.where(np.isnan(gain), np.nan, gain > SAME)


AXES = {"queries": ("queries", "share"), "bursts": ("burst", "selectivity"), "windows": ("overlap", "keys")}
WANTED = (1.05, 1.3)
"""The regrets of advice that are wanted, at the median and at the 95th percentile."""
LEAST = 0.05
"""Seconds of the fastest system from which on a wrong choice counts."""
DRAWN = ("queries", "bursts")
"""The maps that are drawn; the pack has all of them."""


def answer(everything: Sequence[Results], regrets: Sequence[tuple[float, float]] = ()) -> Answer | None:
    """The page, with the time of the fastest system and the regret of advice at points of the maps.

    None without results.
    """
    maps = maps_of(everything)
    if not maps:
        return None
    counts = [(shown, _count(shown.gain)) for shown in maps.values()]
    points = [f"{count} points over {' and '.join(_labels(shown))}" for shown, count in counts if count]
    faster = f"at {', '.join(points)}" if points else "nowhere, since at no point either ended,"
    visits = (
        "Where each event visits those before it, as in GRETA, it is faster at "
        f"{_counts(shown.gain_of_visits for shown in maps.values())} points, and visits fewer events and snapshots at "
        f"{_counts(shown.gain_in_work for shown in maps.values())} of those at which both ways ended."
    )
    drawn = tuple(_drawn(name, shown) for name, shown in maps.items() if name in DRAWN)
    return Answer(
        "sharing",
        "When does sharing pay?",
        f"Sharing all that can be shared is faster than sharing nothing {faster} where sums are kept, as by "
        f"COGRA. {visits}{_advised(regrets)}",
        drawn,
        (
            "Map",
            "Points",
            "Gain of sharing sums",
            "Of sharing visits",
            "In visits",
            *(f"{label(system)} is fastest" for system in DECIDING),
            "Several are",
            "Loss of Hamlet's choice",
        ),
        tuple(_row(name, shown) for name, shown in maps.items()),
        "The gain of sharing sums is the time of COGRA, which shares nothing, over that of Hamlet where it always "
        "shares; that of sharing visits is the time of Hamlet at event granularity where it never shares over that "
        "where it always does, and in visits it is counted in events and snapshots that are visited. The loss of a "
        "choice is the time of Hamlet where it decides for each burst over the shorter of the two, median and 95th "
        "percentile; below 1 it is faster than both. A gain is 0 or ∞ where the limit of time stopped one of the two. "
        "Times that differ by less than 5 % count as equal.",
    )


def _count(gain: Reals) -> str:
    """`14 of 72`, the points at which there is a gain, of those at which it is known; empty if it is nowhere known."""
    pays = paying(gain)[~np.isnan(gain)]
    return f"{int(pays.sum())} of {len(pays)}" if len(pays) else ""


def _counts(gains: Iterable[Reals]) -> str:
    """`14 of 72, 3 of 64`."""
    return ", ".join(_count(gain) or "none known" for gain in gains)


def _advised(regrets: Sequence[tuple[float, float]]) -> str:
    """A sentence on the regret of the algorithms that `cepbench advise` chose; empty without points."""
    long = [regret for seconds, regret in regrets if seconds >= LEAST]
    if not long:
        return ""
    wanted = f"{WANTED[0]:g} and {WANTED[1]:g} are wanted"
    return (
        f" Following `cepbench advise`, asked for a few seconds that are not counted, takes {_quantiles(long)} "
        f"({wanted}; the most is {_gain(max(long))}) at the {len(long)} of {len(regrets)} points whose fastest system "
        f"takes {human(LEAST, 's')} or more, and {_quantiles([regret for _, regret in regrets])} at all of them."
    )


def _quantiles(regrets: Sequence[float]) -> str:
    middle, worst = (_gain(quantile(regrets, share)) for share in (0.5, 0.95))
    return f"{middle} times the time of the fastest system at the median and {worst} times at the 95th percentile"


def maps_of(everything: Sequence[Results]) -> dict[str, Map]:
    """The maps by name."""
    shown = {results.figure.experiment.removeprefix(PREFIX): results for results in of_question(everything, PREFIX)}
    return {name: Map(shown[name], *axes) for name, axes in AXES.items() if name in shown}


def loss(shown: Map) -> Reals:
    """The time of Hamlet's choice over the shorter time of always sharing and of never sharing."""
    shorter = np.fmin(shown.numbers(UNSHARED, TIME), shown.numbers(SHARED, TIME))
    with np.errstate(invalid="ignore"):
        losses: Reals = shown.numbers("hamlet", TIME) / shorter
    return losses


def _row(name: str, shown: Map) -> tuple[str, ...]:
    losses = loss(shown)
    losses = losses[np.isfinite(losses)]
    lost = f"{plain(float(np.median(losses)), 3)}, {plain(quantile(losses.tolist(), 0.95), 3)}" if len(losses) else "–"
    return (
        name,
        str(shown.gain.size),
        *map(_range, (shown.gain, shown.gain_of_visits, shown.gain_in_work)),
        *map(str, shown.winners.values()),
        lost,
    )


def _range(gain: Reals) -> str:
    """`0.5 to 12 times`."""
    gains = gain[~np.isnan(gain)].tolist()
    return f"{span(gains, _gain)} times" if gains else "–"


def _gain(number: float) -> str:
    return "∞" if number == inf else plain(number, 3)


def _drawn(name: str, shown: Map) -> Drawn:
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 2.4), layout="constrained")
        left, right = drawing.subplots(1, 2)
        _heat(left, shown, shown.gain)
        _contour(left, shown.gain, "solid")
        _contour(left, shown.gain_of_visits, "dashed")
        _contour(left, shown.gain_in_work, "dotted")
        left.set_title(
            "gain of sharing sums in time; break-even of sums (line), visits\n(dashed) and their number (dotted)"
        )
        _winners(right, shown)
        right.set_title("the fastest")
    firsts = [_first(shown, row) for row in range(len(shown.rows))]
    crossings = [first for first in firsts if first is not None]
    decided_rows = ~np.isnan(shown.pays).all(axis=1)
    never = int((decided_rows & (np.nansum(shown.pays, axis=1) == 0)).sum())
    first, second = _labels(shown)
    begin = f": from {span(crossings)} on" if crossings else ""
    sentence = (
        f"For {len(crossings)} of {len(firsts)} values of {second} sharing pays up to the largest number of "
        f"{first}{begin}{f'; for {never} it never pays' if never else ''}."
    )
    return Drawn(f"sharing-{name}", drawing, sentence, f"The gain of sharing, and the fastest system, over {name}.")


def _labels(shown: Map) -> tuple[str, str]:
    """The names of both axes."""
    axes = {axis.name: axis.label for axis in (shown.results.figure.x, shown.results.figure.series) if axis}
    first, second = (axes.get(name, name) for name in (shown.first, shown.second))
    return first.lower(), second.lower()


def _first(shown: Map, row: int) -> float | None:
    """The least value of the first axis from which on sharing pays in a row; None if it does not at the largest."""
    if shown.pays[row, -1] != 1:
        return None
    losing = np.flatnonzero(shown.pays[row] == 0)
    return shown.columns[0 if not len(losing) else int(losing[-1]) + 1]


def _heat(axes: Axes, shown: Map, gain: Reals) -> None:
    finite = gain[np.isfinite(gain) & (gain > 0)]
    most = max([1.5, *np.maximum(finite, 1 / finite).tolist()])
    image = axes.imshow(
        np.clip(gain, 1 / most, most), cmap="PuOr", norm=LogNorm(1 / most, most), origin="lower", aspect="auto"
    )
    for (row, column), number in np.ndenumerate(gain):
        if not np.isnan(number):
            dark = number <= most**-DARK or number >= most**DARK
            text = plain(float(number), 2)
            axes.text(column, row, text, ha="center", va="center", fontsize=5, color="white" if dark else "black")
    _ticks(axes, shown)
    assert axes.figure is not None
    numbers = LogLocator(subs=(1, 2, 5))
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.8, ticks=numbers, format=lambda number, _: human(number))
    bar.minorticks_off()


def _contour(axes: Axes, gain: Reals, line: str) -> None:
    """The line on which sharing and not sharing cost the same, in logarithms between the points."""
    finite = np.ma.masked_invalid(np.clip(gain, 1e-3, 1e3))
    if min(gain.shape) > 1 and finite.count() and finite.min() < 1 < finite.max():
        axes.contour(np.ma.log(finite), levels=[0.0], colors="black", linestyles=line, linewidths=1)


def _winners(axes: Axes, shown: Map) -> None:
    best = shown.fastest
    axes.imshow(best, cmap=ListedColormap(BACKGROUNDS), vmin=-1, vmax=len(WINNERS) - 1, origin="lower", aspect="auto")
    for (row, column), winner in np.ndenumerate(best):
        if winner >= 0:
            text = WINNERS[int(winner)]
            axes.text(column, row, text, ha="center", va="center", fontsize=5)
    _ticks(axes, shown)


def _ticks(axes: Axes, shown: Map) -> None:
    figure = shown.results.figure
    axes.set_xticks(range(len(shown.columns)), [f"{x:g}" for x in shown.columns])
    axes.set_yticks(range(len(shown.rows)), [f"{y:g}" for y in shown.rows])
    axes.set_xlabel(figure.x.label)
    axes.set_ylabel(figure.series.label if figure.series else shown.second)
