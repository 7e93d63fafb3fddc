"""Rules of verdicts that changed, with their dates: a page lists those that are younger than its first cell."""

from collections.abc import Sequence
from typing import NamedTuple

from cepbench.metrics.results import Results


class Rule(NamedTuple):
    """A change of `experiments/verdicts/`."""

    since: str
    """ISO 8601, UTC."""
    text: str
    reason: str


RULES = (
    Rule(
        "2026-11-29T11:23:15Z",
        "A claim rests on noise, and is open, if it has another verdict without the time that its cells lost. Before, "
        "every claim with a noisy cell was open.",
        "The host is shared: on an otherwise idle machine a fixed piece of work takes up to 1.9 times its best time, "
        "in phases of seconds, so that nine of ten cells are marked as noisy. The rule asks what the noise changes.",
    ),
    Rule(
        "2026-11-29T12:19:50Z",
        "If the time of one of two systems is longer than its work (it is at its floor), their ratio is a bound, "
        "which decides a claim if it lies beyond the band. Before, such a claim was open.",
        "The work takes at most the measured time, so the ratio is at least, or at most, the measured one. Only "
        "bounds that lie beyond the band decide.",
    ),
    Rule(
        "2026-11-29T15:40:00Z",
        "A claim of no difference is open if the interval covers all that counts as none. Before, its median decided.",
        "Such an interval decides nothing: one claim was opposite, with no effect in the middle of its interval.",
    ),
    Rule(
        "2026-11-29T16:30:00Z",
        "A claim of an effect is weaker, and not opposite, if the interval contains no effect.",
        "Its direction is not known then.",
    ),
    Rule(
        "2026-11-29T22:40:00Z",
        "The number of a claim without the time that noisy cells lost is judged by all rules, with its interval. "
        "Before, only its place in the band was.",
        "A claim was open between weaker and opposite, where neither interval excludes no effect.",
    ),
    Rule(
        "2026-11-29T16:15:00Z",
        "A number without any effect is weaker than a claimed direction. Before, such a claim was open.",
        "Equal counts and bytes are exact, and show no effect.",
    ),
    Rule(
        "2026-11-29T15:40:00Z",
        "A cause is shown only by a counterfactual that decides: a grid on which the claim holds somewhere, a law that "
        "reaches the paper's number, a mode or a formula with a verdict. Otherwise the claim is unexplained.",
        "A counterfactual that decides nothing was shown as a demonstration.",
    ),
)


def younger_rules(everything: Sequence[Results]) -> list[Rule]:
    """The rules that changed after the first cell of a figure with claims was measured."""
    claiming = [results for results in everything if results.figure.claims]
    starts = [record.started for results in claiming for record in results.records if record.started]
    return [rule for rule in RULES if rule.since > min(starts)] if starts else []
