"""Scales, ticks and labels of one axis."""

from collections.abc import Sequence
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis as Side
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
    SymmetricalLogLocator,
)

from cepbench.metrics.figure import Axis, Panel, Scale
from cepbench.metrics.results import brief
from cepbench.plots.units import human, step, tick

Which = Literal["x", "y"]

MAX_LABELS = 6  # the most tick labels that fit a column of a paper
FEWEST = 3  # labels of a logarithmic axis that show its scale
WIDE_LETTERS = 38  # letters of a line in the label of the x axis of a small panel
LINE_LETTERS = 25  # letters of a line in the label of a value axis, which fit the height of a panel
MAX_LETTERS = 30  # letters in all tick labels of a small panel, including blanks between them
SMALL_PANEL = 7.0 / 3  # inches: its width
SIDE = 0.55  # inches of it for the ticks and the label of the value axis


def scale_value_axis(axes: Axes, panel: Panel, values: Sequence[float], limits: Sequence[float] = ()) -> None:
    """Sets scale, limits, ticks and label of the y axis for `values`, and for the `limits` of failed runs.

    A logarithmic axis has no zero: with one, it becomes linear below the smallest positive value.
    """
    values = [*values, *limits]
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if panel.scale == "linear":
        axes.set_ylim(0 if low >= 0 else low * 1.08, high * (1.14 if high in limits else 1.08) if high > 0 else 1.0)
        _linear_ticks(axes.yaxis, max(abs(low), abs(high)), panel.label, panel.unit)
        return
    positive = [value for value in values if value > 0] or [1.0]
    if low <= 0:
        axes.set_yscale("symlog", linthresh=min(positive), linscale=0.4)
        axes.set_ylim(low * 2 if low < 0 else -0.15 * min(positive), max(positive) * 2)
        axes.yaxis.set_major_locator(SymmetricalLogLocator(linthresh=min(positive), base=10.0))
    else:
        axes.set_yscale("log")
        bottom, top = _padded_decades(low, high)
        axes.set_ylim(bottom, max(top, high * (top / bottom) ** 0.16 if high in limits else 0.0))  # room for its label
        _log_ticks(axes.yaxis, *axes.get_ylim())
    axes.yaxis.set_major_formatter(_formatter(panel.unit))
    _label(axes.yaxis, panel.label, "" if panel.unit in ("s", "B") else panel.unit)


def scale_sweep_axis(axes: Axes, axis: Axis, values: Sequence[float]) -> None:
    """Sets scale and ticks of a numeric x axis. Ticks are at swept values that have room for a label."""
    positive = all(value > 0 for value in values)
    logarithmic = axis.scale is Scale.LOG and positive and bool(values)
    if logarithmic:
        axes.set_xscale("log")
        low, high = min(values), max(values)
        margin = (high / low) ** 0.06 if high > low else 2.0
        axes.set_xlim(low / margin, high * margin)
    elif values:
        span = max(values) - min(values) or abs(values[0]) or 1.0
        axes.set_xlim(min(values) - 0.06 * span, max(values) + 0.06 * span)
    places = _spread(sorted(values), logarithmic, axis.unit, fitting(axes, MAX_LETTERS))
    if places:
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_minor_locator(FixedLocator([value for value in values if value not in places]))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(_formatter(axis.unit))
    _label(axes.xaxis, axis.label, "" if axis.unit in ("s", "B") else axis.unit)


def category_axis(axes: Axes, axis: Axis, values: Sequence[Any]) -> None:
    """One tick per value, at 0, 1, 2, ..."""
    axes.set_xlim(-0.6, max(len(values), 1) - 0.4)
    printed = [category(value, axis.unit) for value in values]
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(values)))))
    axes.set_xticks(range(len(values)), printed)
    turned(axes, printed, fitting(axes, 34))
    _label(axes.xaxis, axis.label, "" if axis.unit in ("s", "B") else axis.unit)


def fitting(axes: Axes, letters: int, width: float = SMALL_PANEL, side: float = SIDE) -> int:
    """The letters that fit below a panel if that many fit below one of this `width`; no more than those.

    `side`: inches of the width for what is left of the panel.
    """
    place, drawing = axes.get_subplotspec(), axes.get_figure(root=True)
    if place is None or drawing is None:
        return letters
    inches = drawing.get_figwidth() / place.get_gridspec().ncols * len(place.colspan)
    return max(6, int(letters * min(1.0, (inches - side) / (width - side))))


def fix_ticks(side: Side) -> None:
    """Fixes the ticks of an axis to those within its limits.

    The limits must be final, and the number of ticks may not depend on the size of the panel. Matplotlib creates,
    formats and places also the ticks that a locator returns beyond the limits: half of those of a logarithmic axis.
    """
    low, high = sorted(side.get_transform().transform(side.get_view_interval()))
    margin = (high - low) * 1e-6
    for which in ("major", "minor"):
        locator = getattr(side, f"get_{which}_locator")()
        if not isinstance(locator, NullLocator):
            places = side.get_transform().transform(ticks := locator())
            inside = [tick for tick, place in zip(ticks, places, strict=True) if low - margin <= place <= high + margin]
            getattr(side, f"set_{which}_locator")(FixedLocator(inside))


def turned(axes: Axes, printed: Sequence[str], letters: int) -> None:
    """Rotates the labels of the x axis if they have too many letters in total."""
    if sum(map(len, printed)) > letters:
        for text in axes.get_xticklabels():
            text.set(rotation=25, ha="right", rotation_mode="anchor")


def category(value: Any, unit: str = "") -> str:
    """The value of an axis as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return tick(float(value), unit) if isinstance(value, int | float) else brief(value)


def _padded_decades(low: float, high: float) -> tuple[float, float]:
    """Limits with a margin, at least a decade apart, so that noise does not look like a trend."""
    if high / low < 10:
        center = (low * high) ** 0.5
        low, high = center / 10**0.5, center * 10**0.5
    margin = (high / low) ** 0.06
    return low / margin, high * margin


def _log_ticks(side: Side, low: float, high: float) -> None:
    decades = log10(high / low)
    whole = floor(log10(high) + 1e-9) - ceil(log10(low) - 1e-9) + 1
    if decades < 2.2 or whole < FEWEST:
        side.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0) if decades < 1.5 else (1.0, 3.0), numticks=12))
    else:
        side.set_major_locator(LogLocator(base=10, numticks=MAX_LABELS + 1))
    side.set_minor_locator(LogLocator(base=10, subs=(2, 3, 4, 5, 6, 7, 8, 9) if decades < 5 else (1.0,), numticks=99))
    side.set_minor_formatter(NullFormatter())


def _linear_ticks(side: Side, largest: float, label: str, unit: str) -> None:
    """Sets the ticks of a linear axis, with one prefix for the whole axis, which its label names."""
    factor, printed = step(largest, unit)
    side.set_major_locator(MaxNLocator(5))
    if unit in ("s", "B"):
        side.set_major_formatter(FuncFormatter(lambda value, _: human(value / factor, "", 4)))
        _label(side, label, printed)
    else:
        side.set_major_formatter(_formatter(unit))
        _label(side, label, unit)


def _formatter(unit: str) -> FuncFormatter:
    return FuncFormatter(lambda value, _: tick(value, unit))


def _label(side: Side, label: str, unit: str) -> None:
    text = f"{label} ({unit})" if unit else label
    # The label of the x axis has at most two lines: more would take the height of the panel.
    below = max(fitting(side.axes, WIDE_LETTERS), len(text) // 2 + 5)
    side.set_label_text("\n".join(wrap(text, LINE_LETTERS if side is side.axes.yaxis else below)))


def _spread(values: Sequence[float], logarithmic: bool, unit: str, most: int) -> list[float]:
    """The sorted swept values whose labels of together at most so many letters do not overlap.

    The first and the last value are always among them.
    """
    distinct = sorted(set(values))
    if len(distinct) < 2:
        return list(distinct)
    at = {value: log10(value) if logarithmic else value for value in distinct}
    letters = {value: len(tick(value, unit)) for value in distinct}
    span = (at[distinct[-1]] - at[distinct[0]]) * 0.999

    def apart(left: float, right: float) -> bool:
        wide = ((letters[left] + letters[right]) / 2 + 1) / most
        return at[right] - at[left] >= span * max(wide, 1 / MAX_LABELS)

    first, *between, last = distinct
    kept = [first]
    for value in between:
        if apart(kept[-1], value) and apart(value, last):
            kept.append(value)
    return [*kept, last]
