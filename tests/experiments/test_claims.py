"""The form of claims in an experiment file."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.experiments.claiming import claim

RATIO: dict[str, Any] = {"to": "fast"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({**RATIO}, "give one of factor, orders, at_least, at_most, power, direction"),
        ({**RATIO, "factor": 2, "orders": 1}, "give one of factor"),
        ({**RATIO, "factor": 0.5}, "factor 0.5 is below 1: invert the ratio"),
        ({**RATIO, "orders": [5, 3]}, "orders: give the lower end of the range first"),
        ({"direction": "more"}, "direction: an absolute number has none"),
        ({"to_metric": "state_peak", "factor": 2}, "to_metric needs to"),
        ({"between": {"n": [1, 2]}, "slope": {"n": [1, 2]}, "power": 1}, "give either between or slope"),
        ({"slope": {"n": [2, 1]}, "power": 1}, "n: give two sizes above 0, the smaller one first, not 2 and 1"),
        ({"slope": {"n": [1, 2]}, "factor": 2}, "slope: give power, at_least, at_most or direction"),
        ({**RATIO, "power": 2}, "power needs slope"),
        ({**RATIO, "factor": 2, "cause": {"by": "ours", "why": "w"}}, "evidence: give at least one number"),
        (
            {**RATIO, "factor": 2, "cause": {"by": "nobody", "why": "w"}},
            "'paper', 'text silent', 'size', 'ours' or 'unexplained'",
        ),
        (
            {**RATIO, "factor": 2, "cause": {"by": "paper", "why": "w", "grid": ["n"], "mode": {"of": "slow"}}},
            "give one counterfactual, not mode and grid",
        ),
        (
            {**RATIO, "factor": 2, "cause": {"by": "unexplained", "why": "w", "grid": ["n"]}},
            "a counterfactual explains the claim: name its cause",
        ),
        (
            {**RATIO, "factor": 2, "cause": {"by": "paper", "why": "w", "arithmetic": {"formula": "open('x')"}}},
            "neither a number, a name nor one of + - * / **",
        ),
        (
            {**RATIO, "factor": 2, "cause": {"by": "paper", "why": "w", "arithmetic": {"formula": "1 +"}}},
            "formula: '1 +' is no arithmetic",
        ),
        (
            {"slope": {"n": [1, 2]}, "power": 1, "cause": {"by": "size", "why": "w", "law": {"over": "n", "at": 9}}},
            "law: its number has a single size",
        ),
        (
            {"fails": ["slow"], "cause": {"by": "paper", "why": "w", "grid": ["n"]}},
            "grid: a claim about who finishes has no number",
        ),
        ({"fails": []}, "give fails, ends or both"),
    ],
)
def test_what_says_nothing_or_two_things_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        claim(**fields)
    assert message in str(refused.value)


def test_a_cause_in_the_paper_itself_needs_no_number() -> None:
    assert claim(**RATIO, factor=2, cause={"by": "paper", "why": "It says so."}).cause is not None


def test_a_counterfactual_is_evidence_and_unexplained_needs_none() -> None:
    grid = {"by": "text silent", "why": "It depends.", "grid": ["n"]}
    for cause in (grid, {"by": "unexplained", "why": "Longer windows were tried."}):
        assert claim(**RATIO, factor=2, cause=cause).cause is not None
