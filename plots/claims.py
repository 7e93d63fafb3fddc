"""The verdicts on the claims of the papers: the table at the top of the page, and the table of a figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from cepbench.metrics.figure import Axis, ClaimResult, Counterfactual, Evidence, Figure, Verdict
from cepbench.metrics.results import Results
from cepbench.plots.conclusions import LINES, NAMES, class_of, conclusions, demonstrated, rank
from cepbench.plots.effects import effects_of
from cepbench.plots.html import Cell, Html, join, table, tag
from cepbench.plots.notation import between, in_unit_of, spoken, words
from cepbench.plots.style import label
from cepbench.plots.tables import badge, counted
from cepbench.plots.units import human, plain

KIND = {
    Verdict.HOLDS: "good",
    Verdict.STRONGER: "good",
    Verdict.WEAKER: "mid",
    Verdict.OPPOSITE: "bad",
    Verdict.OPEN: "",
}
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
SIZE = re.compile(rf"\b(?P<name>\w+) (?P<first>{NUMBER})(?: to (?P<last>{NUMBER}))?(?=,| \(|$)")
PART_ORDER = re.compile(r"10\^(\d+\.\d+)")
BOUND = re.compile(rf"^(at most|at least) ({NUMBER})$")
EDGE = "at an edge"
ENDS = "The ends of the interval have different verdicts: another run may give another one."
HEADS = ("Claim", "Paper", "Ours", "Verdict", "Noise and draws", "Why")
GROWTH = "Growth is shown as n^1.9; exponential growth is judged as steeper than cubic, at least n^3."
EXPLAINED = (
    "A claim holds if our number, a median, lies in the band of the claim: from half of a factor (at least its square "
    "root) to twice the factor, an order of magnitude ± 0.5, an exponent ± 0.3. Beyond the band it is stronger or "
    "weaker; it is opposite if the effect has the other direction, and open if its interval reaches from no effect to "
    "the band, or if a limit, an incomplete search, times that are not of work, noise or the size leave it undecided. "
    f"{GROWTH} The class of a claim that does not hold is its cause: the paper disagrees with itself or its code, its "
    "text is silent on what decides, the size is too small, or the difference is ours; it is arithmetic if a formula "
    "demonstrates the cause. A cause is shown by a counterfactual, another number of this run, in which the "
    "paper's appears or is excluded. A cause without one, or whose "
    "counterfactual does not decide, is presumed, and its claim unexplained. A "
    "claim is marked as at an edge if the ends of its interval have different verdicts: another run may give another "
    "one."
)


def systems(everything: Sequence[Results], anchor: Callable[[Results], str], complete: bool = True) -> Html | None:
    """A card per system of a paper, of its first run, with the three lines; None without claims of papers.

    If the sweep is `complete`, its largest effects are drawn, which takes a third of the time of a growing page.
    """
    cards = []
    for name, figures in by_system(_claiming(everything)).items():
        if figures[0].figure.published:
            of_run = [results for results in figures if results.source == figures[0].source]
            claims = [(anchor(results), claim) for results in of_run for claim in in_units(results.figure)]
            title, _, paper = name.partition(" · ")
            texts = conclusions([claim for _, claim in claims])
            lines = [
                _line(head, text, [pair for pair in claims if pair[1].verdict in kinds])
                for (head, kinds), text in zip(LINES, texts, strict=True)
            ]
            drawn = effects_of(of_run[0].figure.experiment, [claim for _, claim in claims]) if complete else None
            names = names_of(figures)
            about = tag("p", paper, class_="meta"), tag("p", names, class_="note") if names else None
            cards.append(tag("article", tag("h3", title), about, lines, drawn))
    return tag("div", cards, class_="systems") if cards else None


def _line(head: str, text: str, claims: Sequence[tuple[str, ClaimResult]]) -> Html:
    """One of the three lines; opened, all of its claims, with the anchors of their figures."""
    if not claims:
        return tag("p", badge(head, ""), f" {text}")
    items = [
        tag("li", tag("a", claim.text, href=f"#{place}"), f" {claim.verdict}: {words(claim)[0]} for {claim.expected}. ",
            tag("span", claim.why or claim.reason, class_="meta"))
        for place, claim in sorted(claims, key=lambda pair: rank(pair[1]))
    ]  # fmt: skip
    return tag("details", tag("summary", badge(head, KIND[claims[0][1].verdict]), f" {text}"), tag("ul", items))


def all_claims(everything: Sequence[Results], anchor: Callable[[Results], str]) -> Html | None:
    """The rules, and all claims of all figures in a table per system, by class; None without claims."""
    claiming = _claiming(everything)
    several = len({results.source for results in claiming}) > 1
    heads = ("Figure", *(["Run"] if several else []), *HEADS)
    parts = [tag("p", EXPLAINED, class_="note")]
    for name, figures in by_system(claiming).items():
        pairs = [(results, claim) for results in figures for claim in in_units(results.figure)]
        rows = [
            [
                Cell(tag("a", results.figure.id, href=f"#{anchor(results)}")),
                *([Cell(results.source)] if several else []),
                *row(claim),
            ]
            for results, claim in sorted(pairs, key=lambda pair: rank(pair[1]))
        ]
        counts = verdicts([claim for results in figures for claim in results.figure.claims])
        parts.append(tag("details", tag("summary", f"{name} ", counts), table(name, heads, rows, sortable=True)))
    return join(parts) if claiming else None


def claims_table(results: Sequence[ClaimResult]) -> Html:
    """The claims of one figure, by class."""
    return table(
        "Claims of the paper against these measurements", HEADS, [row(claim) for claim in sorted(results, key=rank)]
    )


def row(claim: ClaimResult) -> list[Cell]:
    """The cells of a claim, one for each of `HEADS`."""
    return [
        Cell(join([claim.text, " ", tag("span", f"({claim.source})", class_="meta")]), kind="claim"),
        Cell(claim.expected),
        Cell(join([number(claim), tag("div", f"at {claim.size}", class_="meta")]), claim.measured),
        Cell(
            join([badge(claim.verdict, KIND[claim.verdict]), _class(claim)]), float(list(Verdict).index(claim.verdict))
        ),
        Cell(join([tag("div", line, title=ENDS if line == EDGE else None) for line in noise_and_draws(claim)])),
        Cell(join(_why(claim)), kind="cause"),
    ]


def _class(claim: ClaimResult) -> Html | None:
    """The class of a claim that does not hold, below its verdict."""
    return tag("div", class_of(claim), class_="meta") if class_of(claim) != claim.verdict else None


def noise_and_draws(claim: ClaimResult) -> list[str]:
    """What a reader should know before relying on a verdict: an edge, noisy cells, and the share of draws."""
    lines = [EDGE] if claim.edge else []
    if claim.noisy:
        calm = "" if claim.calm is None else f"; {in_unit_of(claim, claim.calm)} without it"
        lines.append(f"noise in {claim.noisy} of {claim.cells} cells{calm}")
    return [*lines, *filter(None, [claim.share])]


def in_units(figure: Figure) -> list[ClaimResult]:
    """The claims of a figure, with units and labels of its axes in their sizes, and words for metrics and systems."""
    shown = (figure.series, figure.facet, *map(figure.x_of, figure.panels), figure.x)
    axes = {axis.name: axis for axis in shown if axis}
    return [
        claim.model_copy(
            update={
                "size": _size_in_units(claim.size, axes),
                "expected": _expected_in_units(claim, figure),
                "reason": spoken(claim.reason, figure),
                "number": spoken(claim.number, figure),
                "counterfactual": claim.counterfactual
                and claim.counterfactual.model_copy(update={"what": spoken(claim.counterfactual.what, figure)}),
                "evidence": tuple(
                    number.model_copy(update={"what": spoken(_what_in_units(number.what, axes), figure)})
                    for number in claim.evidence
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


def cause_of(claim: ClaimResult) -> str:
    """The cause of a claim in a few words; one that is not demonstrated is presumed. Empty if it needs none."""
    if demonstrated(claim):
        return claim.cause if class_of(claim) in (claim.cause, *Verdict) else f"{class_of(claim)}, {claim.cause}"
    if claim.cause and claim.cause != "unexplained":
        return f"unexplained; presumed: {claim.cause}"
    return "unexplained" if claim.cause or claim.verdict in (Verdict.WEAKER, Verdict.OPPOSITE) else ""


def counterfactual(shown: Counterfactual) -> str:
    """A counterfactual in words: `with search=enumerate: 4.1 times, holds`."""
    if shown.kind == "grid" and shown.points:
        where = f", {shown.region}" if shown.region else ""
        numbers = f"; its numbers are {between(shown)}" if shown.low is not None else ""
        return f"{shown.what}: holds at {shown.held} of {shown.points} points{where}{numbers}"
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


def names_of(figures: Sequence[Results]) -> str:
    """A sentence on the method of a system and the names of its variants; empty for our own figures."""
    return NAMES.get(_system(figures[0].figure), "") if figures[0].figure.published else ""


def paper_of(figure: Figure) -> str:
    """`GRETA · Poppe et al., PVLDB 2017`: the system and the paper of a figure."""
    return f"{label(_system(figure))} · {figure.paper.partition(';')[0] if figure.published else 'our own claims'}"


def _expected_in_units(claim: ClaimResult, figure: Figure) -> str:
    """`at most 25 ms` for `at most 0.025`, `16 times` for `10^1.2 times`; names of systems in words."""
    bound = BOUND.match(claim.expected)
    if bound is None:
        return spoken(PART_ORDER.sub(lambda order: plain(10 ** float(order[1]), 2), claim.expected), figure)
    number = float(bound[2])
    return f"{bound[1]} {in_unit_of(claim.model_copy(update={'measured': number}), number)}"


def _size_in_units(size: str, axes: Mapping[str, Axis]) -> str:
    """`stream rate 20000 to 50000 events/s` for `rate 20000 to 50000`."""
    return SIZE.sub(lambda match: _labelled(match, axes), size)


def _what_in_units(what: str, axes: Mapping[str, Axis]) -> str:
    quantity, at, size = what.partition(" at ")
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
    if cause := cause_of(claim):
        parts.append(tag("div", tag("strong", f"{cause.capitalize()}{': ' if claim.why else '.'}"), claim.why))
        if claim.counterfactual is not None:
            parts.append(tag("div", counterfactual(claim.counterfactual)))
    if claim.reason:
        parts.append(tag("div", f"{claim.reason[0].upper()}{claim.reason[1:]}."))
    if claim.number or claim.evidence:
        shown = [tag("div", f"{shown.what}: ", number(shown)) for shown in claim.evidence]
        records = f", from {claim.cells} cells" if claim.cells else ""
        quantity = tag("div", f"{claim.number} at {claim.size}{records}")
        parts.append(tag("details", tag("summary", "Numbers"), quantity, shown, class_="meta"))
    return parts
