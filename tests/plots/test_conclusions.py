"""The three lines on a paper, and the classes of claims."""

from typing import Any

import pytest

from cepbench.metrics.figure import ClaimResult, Counterfactual, Verdict
from cepbench.plots.conclusions import class_of, conclusions, largest, outcome, rank, shortly
from cepbench.plots.effects import draw_effects_of

HOLDS, STRONGER, WEAKER, OPPOSITE, OPEN = Verdict


def claim(verdict: Verdict = HOLDS, measured: float | None = None, **more: Any) -> ClaimResult:
    number = {} if measured is None else {"measured": measured, "low": measured, "high": measured, "unit": "x"}
    fields: dict[str, Any] = {"text": "It is fast.", "source": "s", "expected": "9 times", "size": "n 1", **more}
    return ClaimResult(verdict=verdict, **number, **fields)


def shown(kind: Any = "mode", **more: Any) -> Counterfactual:
    return Counterfactual(kind=kind, **{"what": "with k=1", **more})


NINE = {"measured": 8.0, "low": 8.0, "high": 8.0, "unit": "x", "verdict": HOLDS}


def test_a_line_names_the_largest_effects_that_hold() -> None:
    claims = [claim(HOLDS, 2.0, claimed=2.0, text="Small."), claim(STRONGER, 50.0, claimed=9.0, text="Large.")]
    claims += [claim(HOLDS, 3.0, claimed=3.0, text="Medium."), claim(OPEN)]
    assert conclusions(claims)[0] == (
        "2 of 4, and 1 beyond the paper's number: Medium (3 times, paper: 9 times); Small (2 times, paper: 9 times)."
    )


def test_a_line_says_why_claims_do_not_hold_with_a_counterfactual() -> None:
    claims = [
        claim(WEAKER, 2.0, claimed=99.0, text="Unexplained."),
        claim(WEAKER, 2.0, claimed=9.0, text="Read.", cause="paper", counterfactual=shown(**NINE)),
        claim(OPPOSITE, 0.5, cause="size", text="Opposite."),
        claim(WEAKER, 1.0, claimed=9.0, cause="ours", counterfactual=shown(**{**NINE, "verdict": WEAKER})),
    ]
    assert conclusions(claims)[1] == (
        "4 of 4: 1 opposite; 1 reaches the paper's number with another setting, size or count (the paper "
        "disagrees with itself or its code), 1 has a counterfactual that does not reach it (ours differs), "
        "and 2 are unexplained. It is fast (1 times, paper: 9 times; 8 times with k=1). "
        "Opposite (0.5 times, paper: 9 times)."
    )
    assert conclusions(claims[:1])[1] == "1 of 1: 1 is unexplained. Unexplained (2 times, paper: 9 times)."


def test_an_example_of_what_fails_is_one_that_nowhere_holds() -> None:
    claims = [claim(WEAKER, 1.0, claimed=99.0), claim(WEAKER, 2.0, claimed=9.0, text="Near."), claim(HOLDS, 99.0)]
    assert conclusions(claims)[1].endswith("Near (2 times, paper: 9 times).")


def test_equal_texts_are_no_two_examples() -> None:
    shown_cause = claim(WEAKER, 2.0, claimed=9.0, cause="paper", counterfactual=shown(**NINE))
    text = conclusions([shown_cause, claim(WEAKER, 1.0, claimed=9.0)])[1]
    assert text.count("It is fast") == 1


def test_what_holds_at_an_edge_is_no_example() -> None:
    claims = [claim(HOLDS, 9.0, claimed=9.0, edge=True, text="Edge."), claim(HOLDS, 2.0, claimed=2.0, text="Inside.")]
    assert conclusions(claims)[0] == "2 of 2: Inside (2 times, paper: 9 times)."
    assert conclusions(claims[:1])[0].startswith("1 of 1: Edge")


@pytest.mark.parametrize(
    ("counterfactual", "what"),
    [
        (shown(**{**NINE, "verdict": STRONGER}), "reached"),
        (shown(**{**NINE, "verdict": WEAKER}), "missed"),
        (shown("law", **NINE), "reached"),
        (shown("grid", points=3, held=1), "reached"),
        (shown("grid", points=3), "unexplained"),
        (shown(verdict=OPEN), "unexplained"),
    ],
)
def test_what_a_counterfactual_says(counterfactual: Counterfactual, what: str) -> None:
    assert outcome(claim(WEAKER, cause="paper", counterfactual=counterfactual)) == what


def test_a_line_counts_the_reasons_of_open_claims() -> None:
    reasons = ("cut off by a limit; a", "n 9 was not measured", "n 7 was not measured", "a reason of its own")
    assert conclusions([claim(OPEN, reason=reason) for reason in reasons])[2] == (
        "4 of 4: another size was measured (2); cut off by a limit (1); a reason of its own (1)."
    )


def test_lines_without_claims_have_counts() -> None:
    assert conclusions([claim(HOLDS, text="It ends.")]) == ("1 of 1: It ends.", "0 of 1", "0 of 1")


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"verdict": HOLDS, "cause": "size", "counterfactual": shown()}, "holds"),
        ({"verdict": STRONGER}, "stronger"),
        ({"verdict": STRONGER, "cause": "size", "counterfactual": shown("law", **NINE)}, "size"),
        ({"verdict": WEAKER, "cause": "size"}, "unexplained"),
        ({"verdict": WEAKER, "cause": "ours", "counterfactual": shown(**NINE)}, "ours"),
        ({"verdict": OPPOSITE, "cause": "text silent", "counterfactual": shown("arithmetic", **NINE)}, "arithmetic"),
        ({"verdict": WEAKER, "cause": "size", "counterfactual": shown("law", verdict=WEAKER)}, "unexplained"),
        ({"verdict": WEAKER, "cause": "paper", "counterfactual": shown("grid", points=3, held=1)}, "paper"),
        ({"verdict": WEAKER, "cause": "paper", "counterfactual": shown("grid", points=3)}, "unexplained"),
        ({"verdict": WEAKER, "cause": "paper", "counterfactual": shown(verdict=OPEN)}, "unexplained"),
        ({"verdict": OPPOSITE}, "unexplained"),
        ({"verdict": OPEN, "cause": "paper", "counterfactual": shown()}, "open"),
    ],
)
def test_the_class_of_a_claim(fields: dict[str, Any], name: str) -> None:
    assert class_of(claim(**fields)) == name


def test_claims_are_ranked_by_class() -> None:
    claims = [claim(OPEN), claim(WEAKER), claim(WEAKER, cause="paper", counterfactual=shown(**NINE)), claim(HOLDS)]
    assert [class_of(shown) for shown in sorted(claims, key=rank)] == ["holds", "paper", "unexplained", "open"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"kind": "grid", "points": 8, "held": 3}, "holds at 3 of 8 points of a grid"),
        (
            {"kind": "law", "what": "by the law over n of a, at 9", **NINE},
            "8 times extrapolated to n 9",
        ),
        ({"kind": "arithmetic", "what": "by arithmetic, n", **NINE}, "8 times by arithmetic"),
        ({"what": "with k=1, without k=2, in details.paths: x", **NINE}, "8 times with k=1, in details.paths"),
        ({"what": "with k=1: a was not run"}, "with k=1: a was not run"),
    ],
)
def test_a_counterfactual_in_a_few_words(fields: dict[str, Any], text: str) -> None:
    assert shortly(shown(**fields)) == text


def test_equal_texts_are_named_once_and_decided_ones_first() -> None:
    claims = [
        claim(OPEN, 9.0, claimed=99.0, text="Open."),
        claim(HOLDS, 1.0, claimed=5.0),
        claim(HOLDS, 2.0, claimed=7.0),
    ]
    assert [(c.text, c.measured) for c in largest(claims, 5)] == [("It is fast.", 2.0), ("Open.", 9.0)]


def test_five_effects_of_a_paper_are_drawn() -> None:
    other = shown(**NINE)
    claims = [claim(HOLDS, n, claimed=n, text=f"It is {n}.", counterfactual=other) for n in range(2, 9)]
    drawing = draw_effects_of("greta-13.1", [*claims, claim(OPEN, 3.0, claimed=1000.0)])
    assert drawing is not None
    [axes] = drawing.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [f"It is {n}" for n in range(8, 3, -1)]
    assert [text.get_text() for text in drawing.axes[0].get_legend().get_texts()] == ["paper", "here", "counterfactual"]
    assert draw_effects_of("greta-13.1", [claim()]) is None
