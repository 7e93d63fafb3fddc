"""What became of a paper, in three lines: what holds, what does not and why, and what is undecided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

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
    texts = _holding(inside or hold), _failing(fail), _undecided(undecided)
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


def rank(claim: ClaimResult) -> tuple[int, int]:
    """The place of a claim in a table: by class and, within a class, by verdict."""
    classes = (Verdict.HOLDS, Verdict.STRONGER, *CLASSES, Verdict.OPEN)
    return classes.index(class_of(claim)), list(Verdict).index(claim.verdict)


def largest(claims: Sequence[ClaimResult], most: int) -> list[ClaimResult]:
    """The claims of the largest effects, decided ones first; of equal texts only one."""
    order = sorted(claims, key=lambda claim: (claim.verdict is Verdict.OPEN, -(claim.claimed or 0), claim.edge))
    return list({claim.text: claim for claim in reversed(order)}.values())[::-1][:most]


def _holding(claims: Sequence[ClaimResult]) -> str:
    named = [f"{_sentence(claim)}{_numbers(claim)}" for claim in largest(claims, NAMED)]
    return f"{'; '.join(named)}." if named else ""


def _failing(claims: Sequence[ClaimResult]) -> str:
    """The classes with their counts, and the largest effect, if possible one with a counterfactual."""
    if not claims:
        return ""
    counts = Counter(map(class_of, claims))
    classes = ", ".join(f"{text} ({counts[name]})" for name, text in CLASSES.items() if counts[name])
    [claim] = largest([claim for claim in claims if demonstrated(claim)] or claims, 1)
    why = f"; {shortly(claim.counterfactual)}" if demonstrated(claim) and claim.counterfactual is not None else ""
    return f"{classes}. {_sentence(claim)}{_numbers(claim, why)}."


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
