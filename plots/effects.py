"""The effects that the papers claim against the measured ones, on logarithmic axes: of all papers, and of each."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullFormatter

from cepbench.metrics.figure import RATIO, ClaimResult, Verdict
from cepbench.metrics.results import Results
from cepbench.plots.conclusions import largest
from cepbench.plots.draw import render
from cepbench.plots.html import Html, tag
from cepbench.plots.html import drawing as image
from cepbench.plots.style import COLUMN_WIDTH, label, paper, styles
from cepbench.plots.units import human

BAND = 2.0
DRAWN = 5
"""The most effects that are drawn of a paper."""
WRAPPED = 48
"""Characters in a line of the name of an effect."""
ALTERNATIVE = (
    "The effect that the paper claims against the measured effect, a point per claim. The numbers are in the tables "
    "below."
)


def effects(everything: Sequence[Results]) -> Html | None:
    """The figure of all claimed ratios; None if there are none."""
    drawing = draw_effects(everything)
    if drawing is None:
        return None
    caption = (
        "Claimed and measured effects. On the diagonal they are equal; the band is from half to twice the "
        "claimed effect. Bars are intervals of our numbers; arrows are bounds, where a limit was reached."
    )
    return tag("figure", image(render(drawing, "svg"), ALTERNATIVE, narrow=True), tag("figcaption", caption))


def draw_effects(everything: Sequence[Results]) -> Drawing | None:
    """Claimed ratios on the x axis and measured ones on the y axis, by system; None without claimed ratios."""
    claims_of: dict[str, list[ClaimResult]] = {}
    for results in everything:
        for claim in results.figure.claims:
            if (claim.claimed or 0) >= 1 and (claim.measured or 0) > 0:
                claims_of.setdefault(results.figure.experiment.partition("-")[0], []).append(claim)
    if not claims_of:
        return None
    with paper():
        drawing = Drawing(figsize=(1.5 * COLUMN_WIDTH, 1.1 * COLUMN_WIDTH), layout="constrained")
        axes = drawing.subplots()
        axes.set(xscale="log", yscale="log", xlabel="Claimed (times)", ylabel="Measured (times)")
        ends = [claim.claimed or 1.0 for claims in claims_of.values() for claim in claims]
        span = [min(ends) / 1.6, max(ends) * 1.6]
        axes.fill_between(span, [x / BAND for x in span], [x * BAND for x in span], color="#dddddd", linewidth=0)
        axes.plot(span, span, color="#888888", linewidth=0.8)
        axes.axhline(1, color="#888888", linewidth=0.6, linestyle=":")
        look = styles(claims_of)
        for system, claims in claims_of.items():
            style = look[system]
            axes.plot([], [], style.marker, color=style.color, markersize=4, label=label(system))
            for claim in claims:
                x, y = claim.claimed or 1.0, claim.measured or 1.0
                bound = claim.bound
                if not bound or (claim.low and claim.high):
                    axes.plot([x, x], [claim.low or y, claim.high or y], color=style.color, linewidth=0.8)
                axes.plot(
                    [x], [y], color=style.color, marker=("v" if claim.low is None else "^") if bound else style.marker,
                    markersize=4, linestyle="none", markerfacecolor="white" if bound else style.color,
                )  # fmt: skip
        axes.set_xlim(span[0], span[1])
        for scale in (axes.xaxis, axes.yaxis):
            scale.set_major_formatter(lambda number, _: human(number))
            scale.set_minor_formatter(NullFormatter())
        axes.legend(ncols=1, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return drawing


def effects_of(experiment: str, claims: Sequence[ClaimResult]) -> Html | None:
    """The largest effects that a paper claims, with the measured ones and the counterfactuals; None without any."""
    drawing = draw_effects_of(experiment, claims)
    if drawing is None:
        return None
    text = "The largest effects that the paper claims, the measured ones, and those of the counterfactuals."
    return tag("figure", image(render(drawing, "svg"), text))


def draw_effects_of(experiment: str, claims: Sequence[ClaimResult]) -> Drawing | None:
    """A row per claimed ratio, on one axis: the paper's number, ours with its interval, and the counterfactual."""
    shown = largest([claim for claim in claims if (claim.claimed or 0) >= 1 and (claim.measured or 0) > 0], DRAWN)
    if not shown:
        return None
    system = experiment.partition("-")[0]
    style = styles([system])[system]
    with paper():
        drawing = Drawing(figsize=(1.5 * COLUMN_WIDTH, 0.55 + 0.52 * len(shown)), layout="constrained")
        axes = drawing.subplots()
        axes.set(xscale="log", ylim=(len(shown) - 0.5, -0.5))
        axes.axvline(1, color="#888888", linewidth=0.6, linestyle=":")
        for row, claim in enumerate(shown):
            claimed, ours, other = claim.claimed or 1.0, claim.measured or 1.0, claim.counterfactual
            axes.plot([claimed, ours], [row, row], color="#dddddd", linewidth=3, zorder=0)
            if not claim.bound or (claim.low and claim.high):
                axes.plot([claim.low or ours, claim.high or ours], [row, row], color=style.color, linewidth=0.9)
            axes.plot([claimed], [row], "o", color="#444444", markersize=5, markerfacecolor="white")
            sign = ("<" if claim.low is None else ">") if claim.bound else "o"
            inside = "white" if claim.verdict is Verdict.OPEN else style.color
            axes.plot([ours], [row], sign, color=style.color, markersize=4, markerfacecolor=inside)
            if other is not None and other.unit == RATIO and other.measured:
                axes.plot([other.measured], [row], "D", color="#444444", markersize=3.5)
        axes.set_yticks(range(len(shown)), [fill(claim.text.removesuffix("."), WRAPPED) for claim in shown])
        axes.tick_params(axis="y", length=0)
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, 0.8), max(high, 12))
        axes.xaxis.set_major_formatter(lambda number, _: f"{human(number)}×")
        axes.xaxis.set_minor_formatter(NullFormatter())
        names = [("o", "white", "#444444", "paper"), ("o", style.color, style.color, "here"),
                 ("D", "#444444", "#444444", "counterfactual")]  # fmt: skip
        if any(claim.verdict is Verdict.OPEN for claim in shown):
            names.insert(2, ("o", "white", style.color, "here, undecided"))
        for marker, inside, edge, name in names:
            axes.plot([], [], marker, color=edge, markerfacecolor=inside, markersize=4, label=name)
        axes.legend(ncols=len(names), loc="lower center", bbox_to_anchor=(0.3, 1.0), frameon=False, handletextpad=0.1)
    return drawing
