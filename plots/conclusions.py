"""What became of a paper, in three lines: what holds, what does not and why, and what is undecided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from math import log

from cepbench.metrics.figure import ClaimResult, Counterfactual, Verdict
from cepbench.plots.notation import words
from cepbench.plots.units import human

NAMED = 2
"""Claims that hold and are named in a line."""
CLASSES = {
    "paper": "the paper disagrees with itself or its code",
    "text silent": "the text is silent",
    "size": "too small here",
    "arithmetic": "arithmetic",
    "ours": "ours differs",
    "unexplained": "unexplained",
}
"""Why a claim does not hold, by its class."""
NAMES = {
    "cet": "CET constructs trends from a graph of events, depth-first (M-CET), breadth-first (T-CET), or by graphlets "
    "(H-CET); BL is the baseline without a graph.",
    "cogra": "COGRA aggregates trends by type, by pattern or mixed, where GRETA does so by event.",
    "core": "CORE keeps matches in compact sets, and enumerates them afterwards.",
    "gloria": "Gloria plans by the lightest path through a graph of choices, of which it prunes some; Greedy takes the "
    "lightest step each time.",
    "greta": "GRETA aggregates trends along the edges of a graph of events, without constructing them.",
    "hamlet": "Hamlet shares the Kleene closures of several queries, and decides for each burst of events.",
    "mcep": "MCEP searches for one plan of all patterns by simulated annealing (SA) or tabu search (TS), which change "
    "one edge (EDGE) or k patterns (VERTEX) at a time; RE only reorders, SH only shares (SH-RR as SPASS, SH-MDT as "
    "MOTTO), and the trivial plan does neither.",
    "sharon": "Sharon chooses which sub-patterns of many sequences to count once; A-Seq counts each query by itself, "
    "and SPASS shares matches instead of counts.",
}
"""A sentence on the method of each system, with the names of variants and rivals in its claims."""
OUTCOMES = {
    "reached": ("reaches", "reach", "the paper's number with another setting, size or count"),
    "missed": ("has", "have", "a counterfactual that does not reach it"),
    "unexplained": ("is", "are", "unexplained"),
}
"""Outcomes of the counterfactuals of claims that do not hold: a verb for one claim, one for several, and the rest."""
REASONS = {
    "cut off by a limit": "cut off by a limit",
    "the interval reaches": "the interval is too wide",
    "mostly fixed costs": "too fast to time, mostly fixed costs",
    "the interval covers": "the interval is too wide",
    "noisy cells lost": "noise changes the verdict",
    "the search of": "the optimizer reached its limit",
    "was not measured": "another size was measured",
    "did not finish": "no system finished",
    "measured on request": "it needs an engine that was not run",
    "fewer than two sizes": "another size was measured",
    "no point has": "another size was measured",
}
"""Why a claim is open, by words of its reason."""


LINES = (
    ("holds", (Verdict.HOLDS, Verdict.STRONGER)),
    ("does not", (Verdict.WEAKER, Verdict.OPPOSITE)),
    ("undecided", (Verdict.OPEN,)),
)
"""The lines, by the verdicts of their claims."""


def conclusions(claims: Sequence[ClaimResult]) -> tuple[str, str, str]:
    """The text of each of `LINES` on the claims of a paper."""
    hold, fail, undecided = ([claim for claim in claims if claim.verdict in verdicts] for _, verdicts in LINES)
    inside = [claim for claim in hold if claim.verdict is Verdict.HOLDS]
    beyond = len(hold) - len(inside)
    counts = [f"{len(of)} of {len(claims)}" for of in (inside, fail, undecided)]
    counts[0] += f", and {beyond} beyond the paper's number" if beyond else ""
    texts = _holding(inside or hold), _failing(fail, {claim.text for claim in hold}), _undecided(undecided)
    first, second, third = (f"{count}{f': {text}' if text else ''}" for count, text in zip(counts, texts, strict=True))
    return first, second, third


def class_of(claim: ClaimResult) -> str:
    """The class of a claim: its verdict if it holds or is open, and otherwise why it does not hold.

    A cause without counterfactual that demonstrates it is presumed, and its claim unexplained.
    """
    if claim.verdict in (Verdict.HOLDS, Verdict.OPEN) or (claim.verdict is Verdict.STRONGER and not claim.cause):
        return str(claim.verdict)
    if not demonstrated(claim) or claim.counterfactual is None:
        return "unexplained"
    return "arithmetic" if claim.counterfactual.kind == "arithmetic" else claim.cause


def demonstrated(claim: ClaimResult) -> bool:
    """Whether a counterfactual demonstrates the cause of a claim.

    The claim holds at a point of its grid, or at the size to which its law leads; a mode or a formula has a verdict.
    """
    shown = claim.counterfactual
    if shown is None or not claim.cause:
        return False
    if shown.kind == "grid":
        return shown.held > 0
    if shown.kind == "law":
        return shown.verdict in (Verdict.HOLDS, Verdict.STRONGER)
    return shown.verdict not in (None, Verdict.OPEN)


def outcome(claim: ClaimResult) -> str:
    """The outcome of the counterfactual of a claim that does not hold, one of `OUTCOMES`."""
    if not demonstrated(claim) or claim.counterfactual is None:
        return "unexplained"
    shown = claim.counterfactual
    holds = shown.kind == "grid" or shown.verdict in (Verdict.HOLDS, Verdict.STRONGER)
    return "reached" if holds else "missed"


def outcomes(claims: Sequence[ClaimResult], classes: bool = False) -> str:
    """`3 reach the paper's number with another setting, size or count, and 1 is unexplained`, perhaps with classes."""
    parts = []
    for name, (one, several, rest) in OUTCOMES.items():
        counts = Counter(class_of(claim) for claim in claims if outcome(claim) == name)
        number = counts.total()
        if number:
            causes = [
                f"{text}{f' {counts[key]}' if len(counts) > 1 else ''}" for key, text in CLASSES.items() if counts[key]
            ]
            why = f" ({', '.join(causes)})" if classes and name != "unexplained" else ""
            parts.append(f"{number} {one if number == 1 else several} {rest}{why}")
    *most, last = parts or [""]
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} and {last}" if most else last


def rank(claim: ClaimResult) -> tuple[int, int]:
    """The place of a claim in a table: by class and, within a class, by verdict."""
    classes = (Verdict.HOLDS, Verdict.STRONGER, *CLASSES, Verdict.OPEN)
    return classes.index(class_of(claim)), list(Verdict).index(claim.verdict)


def largest(claims: Sequence[ClaimResult], most: int) -> list[ClaimResult]:
    """The claims of the largest effects, decided ones first; of equal texts only one."""
    order = sorted(claims, key=lambda claim: (claim.verdict is Verdict.OPEN, -(claim.claimed or 0), claim.edge))
    return list({claim.text: claim for claim in reversed(order)}.values())[::-1][:most]


def _holding(claims: Sequence[ClaimResult]) -> str:
    """The largest effects, if possible of claims that are not at an edge."""
    shown = largest([claim for claim in claims if not claim.edge] or claims, NAMED)
    named = [f"{_sentence(claim)}{_numbers(claim)}" for claim in shown]
    return f"{'; '.join(named)}." if named else ""


def _failing(claims: Sequence[ClaimResult], held: Collection[str]) -> str:
    """The outcomes of claims, and the widest miss with and without a cause, if possible of texts that nowhere hold."""
    if not claims:
        return ""
    opposite = sum(claim.verdict is Verdict.OPPOSITE for claim in claims)
    named: dict[str, str] = {}
    for of in ([c for c in claims if demonstrated(c)], [c for c in claims if not demonstrated(c)]):
        if of:
            claim = max([c for c in of if c.text not in {*held, *named}] or of, key=_miss)
            shown = claim.counterfactual if demonstrated(claim) else None
            more = f"; {shortly(shown)}" if shown is not None else ""
            named.setdefault(claim.text, f"{_sentence(claim)}{_numbers(claim, more)}.")
    direction = f"{opposite} opposite; " if opposite else ""
    return f"{direction}{outcomes(claims, classes=True)}. {' '.join(named.values())}"


def _miss(claim: ClaimResult) -> tuple[bool, float]:
    """The distance of a claim from the paper's number: opposite claims first, then by their ratio."""
    distance = 0.0
    if claim.claimed and claim.measured and claim.measured > 0 and not claim.bound:
        distance = abs(log(claim.measured / claim.claimed))
    return claim.verdict is Verdict.OPPOSITE, distance


def _undecided(claims: Sequence[ClaimResult]) -> str:
    counts = Counter(map(_reason, claims))
    parts = [f"{reason} ({count})" for reason, count in counts.most_common()]
    return f"{'; '.join(parts)}." if parts else ""


def _reason(claim: ClaimResult) -> str:
    return next((short for words_in, short in REASONS.items() if words_in in claim.reason), claim.reason)


def _sentence(claim: ClaimResult) -> str:
    return claim.text.removesuffix(".")


def _numbers(claim: ClaimResult, more: str = "") -> str:
    """` (9.7 times, paper: 18 times)`; a claim without a number has no such part."""
    if claim.measured is None:
        return f" ({more.removeprefix('; ')})" if more else ""
    return f" ({words(claim)[0]}, paper: {claim.expected}{more})"


def shortly(shown: Counterfactual) -> str:
    """A counterfactual in a few words, with its number; whether that is the paper's, a reader sees beside it."""
    if shown.kind == "grid":
        return f"holds at {shown.held} of {shown.points} points of a grid"
    if shown.measured is None:
        return shown.what
    size = re.search(r"over ([\w .]+?) of .*, at (\S+)$", shown.what)
    law = f"extrapolated to {size[1]} {human(float(size[2]))}" if size else "extrapolated"
    mode = re.sub(r":.*|, without .*?(?=, in |$)", "", shown.what)
    said = {"law": law, "arithmetic": "by arithmetic"}.get(shown.kind, mode)
    value, interval = words(shown)
    return f"{value}{f' ({interval})' if interval and shown.kind == 'law' else ''} {said}"
