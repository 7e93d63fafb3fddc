"""The verdicts on the claims of the papers: the table at the top of the page, and the table of a figure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from cepbench.metrics.figure import EXPONENT, RATIO, SHARE, Axis, ClaimResult, Counterfactual, Evidence, Figure, Verdict
from cepbench.metrics.results import Results
from cepbench.plots.html import Cell, Html, join, table, tag
from cepbench.plots.style import label
from cepbench.plots.tables import badge, counted
from cepbench.plots.units import human, plain

LINES = (
    ("holds", (Verdict.HOLDS, Verdict.STRONGER)),
    ("does not", (Verdict.WEAKER, Verdict.OPPOSITE)),
    ("undecided", (Verdict.OPEN,)),
)
"""The lines on a system: what holds, what does not and why, and what is undecided."""
CAUSES = {
    "paper": "the paper contradicts itself",
    "text silent": "the text is silent",
    "size": "too small here",
    "ours": "ours differs",
    "unexplained": "unexplained",
}
KIND = {
    Verdict.HOLDS: "good",
    Verdict.STRONGER: "good",
    Verdict.WEAKER: "mid",
    Verdict.OPPOSITE: "bad",
    Verdict.OPEN: "",
}
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
SIZE = re.compile(rf"\b(?P<name>\w+) (?P<first>{NUMBER})(?: to (?P<last>{NUMBER}))?(?=,|$)")
ENDS = "The ends of the interval have different verdicts: another run may give another one."
HEADS = ("Claim", "Paper", "Ours", "Verdict", "Cause, or why it is open")
GROWTH = "Growth is shown as n^1.9; exponential growth is judged as steeper than cubic, at least n^3."
EXPLAINED = (
    "A claim holds if our number, a median, lies in the band of the claim: from half of a factor (at least its square "
    "root) to twice the factor, an order of magnitude ± 0.5, an exponent ± 0.3. Beyond the band it is stronger or "
    "weaker; it is opposite if the effect has the other direction, and open if its interval reaches from no effect to "
    "the band, or if a limit, an incomplete search, times that are not of work or the size leave it undecided. "
    f"{GROWTH} Causes: the paper contradicts itself, its text is silent on what decides, "
    "the size is too small, or the difference is ours. A counterfactual demonstrates a cause: the number of this run "
    "in which that of the paper appears, or does not. A cause without one is presumed, and its claim unexplained."
)


def systems(everything: Sequence[Results], anchor: Callable[[Results], str]) -> Html | None:
    """A card per system of a paper, of its first run, with the lines of `LINES`; None without claims of papers."""
    cards = []
    for name, figures in by_system(_claiming(everything)).items():
        if figures[0].figure.published:
            of_run = [results for results in figures if results.source == figures[0].source]
            claims = [(anchor(results), claim) for results in of_run for claim in in_units(results.figure)]
            title, _, paper = name.partition(" · ")
            lines = [_line(head, [pair for pair in claims if pair[1].verdict in kinds]) for head, kinds in LINES]
            cards.append(tag("article", tag("h3", title), tag("p", paper, class_="meta"), lines))
    return tag("div", cards, class_="systems") if cards else None


def _line(head: str, claims: Sequence[tuple[str, ClaimResult]]) -> Html:
    """The number of claims and their causes, or the first claim; opened, all of them."""
    if not claims:
        return tag("p", badge(head, ""), " none")
    first = claims[0][1]
    causes = Counter(_cause(claim) for _, claim in claims)
    why = ", ".join(f"{cause} ({count})" if len(causes) > 1 else cause for cause, count in causes.most_common())
    line = why if first.verdict in (Verdict.WEAKER, Verdict.OPPOSITE) else first.reason or first.text
    items = [
        tag("li", tag("a", claim.text, href=f"#{place}"), f" {claim.verdict}: {words(claim)[0]} for {claim.expected}. ",
            tag("span", claim.why or claim.reason, class_="meta"))
        for place, claim in claims
    ]  # fmt: skip
    summary = tag("summary", badge(head, KIND[first.verdict]), f" {len(claims)}: {line}")
    return tag("details", summary, tag("ul", items))


def _cause(claim: ClaimResult) -> str:
    presumed = ", presumed" if claim.cause not in ("", "unexplained") and claim.counterfactual is None else ""
    return CAUSES[claim.cause or "unexplained"] + presumed


def all_claims(everything: Sequence[Results], anchor: Callable[[Results], str]) -> Html | None:
    """The rules, and all claims of all figures in a table per system; None without claims."""
    claiming = _claiming(everything)
    several = len({results.source for results in claiming}) > 1
    heads = ("Figure", *(["Run"] if several else []), *HEADS)
    parts = [tag("p", EXPLAINED, class_="note")]
    for name, figures in by_system(claiming).items():
        rows = [
            [
                Cell(tag("a", results.figure.id, href=f"#{anchor(results)}")),
                *([Cell(results.source)] if several else []),
                *row(claim),
            ]
            for results in figures
            for claim in ordered(in_units(results.figure))
        ]
        counts = verdicts([claim for results in figures for claim in results.figure.claims])
        parts.append(tag("details", tag("summary", f"{name} ", counts), table(name, heads, rows, sortable=True)))
    return join(parts) if claiming else None


def claims_table(results: Sequence[ClaimResult]) -> Html:
    """The claims of one figure, in the order of the verdicts."""
    return table("Claims of the paper against these measurements", HEADS, [row(claim) for claim in ordered(results)])


def row(claim: ClaimResult) -> list[Cell]:
    """The cells of a claim, one for each of `HEADS`."""
    return [
        Cell(join([claim.text, " ", tag("span", f"({claim.source})", class_="meta")]), kind="claim"),
        Cell(claim.expected),
        Cell(join([number(claim), tag("div", f"at {claim.size}", class_="meta")]), claim.measured),
        Cell(badge(claim.verdict, KIND[claim.verdict]), float(list(Verdict).index(claim.verdict))),
        Cell(join(_why(claim)), kind="cause"),
    ]


def ordered(results: Sequence[ClaimResult]) -> list[ClaimResult]:
    """The claims in the order of the verdicts."""
    rank = {verdict: place for place, verdict in enumerate(Verdict)}
    return sorted(results, key=lambda claim: rank[claim.verdict])


def in_units(figure: Figure) -> list[ClaimResult]:
    """The claims of a figure, with labels and units of its axes in their sizes."""
    shown = (figure.series, figure.facet, *map(figure.x_of, figure.panels), figure.x)
    axes = {axis.name: axis for axis in shown if axis}
    return [
        claim.model_copy(
            update={
                "size": _size_in_units(claim.size, axes),
                "evidence": tuple(
                    number.model_copy(update={"what": _what_in_units(number.what, axes)}) for number in claim.evidence
                ),
            }
        )
        for claim in figure.claims
    ]


def verdicts(results: Sequence[ClaimResult]) -> Html:
    """The number of claims with each verdict."""
    counts = [(verdict, sum(claim.verdict is verdict for claim in results)) for verdict in Verdict]
    return counted([(badge(verdict, KIND[verdict]), count) for verdict, count in counts])


def by_paper(everything: Sequence[Results]) -> list[Results]:
    """The figures grouped by system, systems by name; our own figures come last."""
    return sorted(everything, key=lambda shown: (not shown.figure.published, label(_system(shown.figure)).lower()))


def number(result: ClaimResult | Evidence) -> Html:
    """The number with its interval below; a bound has a sign instead of an interval."""
    shown, interval = words(result)
    return join([shown, tag("div", interval, class_="meta") if interval else None])


def words(result: ClaimResult | Evidence) -> tuple[str, str]:
    """The number and its interval as text; the interval is empty if there is none, and has no unit beside a ratio."""
    if result.measured is None:
        return "–", ""
    show, bare = _notation(result.measured, result.unit)
    if result.bound and result.low and result.high:
        return f"{bare(result.low)} to {show(result.high)}", ""
    if result.bound:
        return f"{'≤' if result.low is None else '≥'} {show(result.measured)}", ""
    if result.low == result.high:
        return show(result.measured), ""
    low = "0" if result.low is None else bare(result.low)
    high = "∞" if result.high is None else bare(result.high)
    return show(result.measured), f"{low} to {high}"


def _notation(measured: float, unit: str) -> tuple[Callable[[float], str], Callable[[float], str]]:
    """How a number like `measured` is written, and how beside another one: 235 times, 6.6 %, 8.3 ms, n^1.9."""
    if unit == EXPONENT:
        return _exponent, _exponent
    if unit in (RATIO, SHARE):
        factor, name = (1.0, "times") if unit == RATIO else (100.0, "%") if measured <= 1 else (1.0, "")
        return (lambda value: f"{plain(factor * value, 3)} {name}".strip()), (lambda value: plain(factor * value, 3))
    return (written := partial(human, unit=unit)), written


def _exponent(value: float) -> str:
    return f"{EXPONENT}{plain(value, 3)}"


def cause_of(claim: ClaimResult) -> str:
    """The cause of a claim in a few words; a cause without counterfactual is presumed. Empty if it needs none."""
    if claim.counterfactual is not None:
        return claim.cause
    if claim.cause and claim.cause != "unexplained":
        return f"unexplained; presumed: {claim.cause}"
    return "unexplained" if claim.cause or claim.verdict in (Verdict.WEAKER, Verdict.OPPOSITE) else ""


def counterfactual(shown: Counterfactual) -> str:
    """A counterfactual in words: `with search=enumerate: 4.1 times, holds`."""
    if shown.kind == "grid" and shown.points:
        where = f", {shown.region}" if shown.region else ""
        return f"{shown.what}: holds at {shown.held} of {shown.points} points{where}"
    if shown.measured is None:
        return shown.what
    value, interval = words(shown)
    value = f"{value} ({interval})" if interval else value
    return f"{shown.what}: {value}" + (f", {shown.verdict}" if shown.verdict else "")


def _system(figure: Figure) -> str:
    """The system of a figure: `greta` for `greta-13.1`."""
    return figure.experiment.partition("-")[0]


def _claiming(everything: Sequence[Results]) -> list[Results]:
    return [results for results in by_paper(everything) if results.figure.claims]


def by_system(figures: Sequence[Results]) -> dict[str, list[Results]]:
    """The figures by the title of their system and paper; our own figures come last."""
    groups: dict[str, list[Results]] = {}
    for results in by_paper(figures):
        groups.setdefault(paper_of(results.figure), []).append(results)
    return groups


def paper_of(figure: Figure) -> str:
    """`GRETA · Poppe et al., PVLDB 2017`: the system and the paper of a figure."""
    return f"{label(_system(figure))} · {figure.paper.partition(';')[0] if figure.published else 'our own claims'}"


def _size_in_units(size: str, axes: Mapping[str, Axis]) -> str:
    """`stream rate 20000 to 50000 events/s` for `rate 20000 to 50000`."""
    return SIZE.sub(lambda match: _labelled(match, axes), size)


def _what_in_units(what: str, axes: Mapping[str, Axis]) -> str:
    quantity, at, size = what.rpartition(" at ")
    return f"{quantity}{at}{_size_in_units(size, axes)}" if at else what


def _labelled(match: re.Match[str], axes: Mapping[str, Axis]) -> str:
    axis = axes.get(match["name"])
    if axis is None:
        return match[0]
    ends = [end for end in (match["first"], match["last"]) if end]
    if axis.unit in ("s", "B"):
        values = " to ".join(human(float(end), axis.unit, digits=4) for end in ends)
    else:
        values = f"{' to '.join(ends)} {axis.unit}".strip()
    return f"{axis.label[0].lower()}{axis.label[1:]} {values}"


def _why(claim: ClaimResult) -> list[Html]:
    parts = []
    if claim.edge:
        parts.append(tag("div", ENDS, class_="meta"))
    if claim.share:
        parts.append(tag("div", f"{claim.share.capitalize()}."))
    if cause := cause_of(claim):
        parts.append(tag("div", tag("strong", f"{cause.capitalize()}{': ' if claim.why else '.'}"), claim.why))
        if claim.counterfactual is not None:
            parts.append(tag("div", counterfactual(claim.counterfactual)))
        parts += [tag("div", f"{shown.what}: ", number(shown), class_="meta") for shown in claim.evidence]
    if claim.reason:
        parts.append(tag("div", claim.reason))
    return parts
