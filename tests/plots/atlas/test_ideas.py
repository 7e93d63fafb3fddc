"""The gains of ideas, on numbers whose gains are known."""

from pathlib import Path

import pytest

from cepbench.metrics.record import Record, Summary
from cepbench.metrics.results import Results
from cepbench.plots.atlas.answers import quantile, span
from cepbench.plots.atlas.ideas import DESIGNS, GRAPHLETS, TRENDS, answer, by_draw, gain, interacts
from tests.plots.conftest import ONE, make_figure, make_record

SECONDS = {
    "greta": 80.0,
    "hamlet[granularity=event]": 40.0,
    GRAPHLETS: 16.0,
    "hamlet[granularity=graphlet]": 8.0,
    "cogra": 8.0,
    "hamlet": 4.0,
}
"""Sums are 10 times as fast, sharing of bursts is twice as fast, and both multiply."""


def results(seconds: dict[str, float], draws: int = 6) -> Results:
    def record(name: str, draw: int) -> Record:
        summary = Summary(service_total=seconds[name] * draw, state_peak=1000 if name == "greta" else 10)
        return make_record(name, {"seed": draw}, summary=summary, memory=True)

    figure = make_figure(
        experiment="atlas-ideas-bus", id="ideas on bus", panels=ONE, claims=(), algorithms=tuple(seconds)
    )
    return Results(Path(), figure, tuple(record(name, draw) for name in seconds for draw in range(1, draws + 1)))


def test_the_gain_of_an_idea_is_its_mean_over_the_levels_of_the_other_one() -> None:
    numbers = by_draw(results(SECONDS), "service_total")
    sums, bursts = (gain(numbers, TRENDS.pairs(idea)) for idea in TRENDS.effects[:2])
    assert sums is not None
    assert bursts is not None
    assert (sums.median, sums.low, sums.high) == pytest.approx((10.0, 10.0, 10.0))
    assert bursts.median == pytest.approx(2.0)
    uneven = gain(by_draw(results({**SECONDS, "hamlet": 1.0}), "service_total"), TRENDS.pairs(TRENDS.effects[0]))
    assert uneven is not None
    assert uneven.median == pytest.approx((10 * 40) ** 0.5)
    assert gain(numbers, TRENDS.pairs(TRENDS.effects[2])) is None


def test_ideas_interact_if_their_gains_differ_beyond_the_intervals() -> None:
    numbers = by_draw(results({**SECONDS, "hamlet": 1.0}), "service_total")
    pairs = TRENDS.pairs(TRENDS.effects[0])
    alone, together = (gain(numbers, [pair]) for pair in pairs[:2])
    assert alone is not None
    assert together is not None
    assert interacts(alone, together)
    assert not interacts(alone, alone)


def test_the_page_has_the_steps_and_the_gains() -> None:
    page = answer([results(SECONDS)])
    assert page is not None
    assert page.short == (
        "In trends: sums 10 times, sharing of bursts 2 times. The product of the effects of the first two ideas lies "
        "within the interval of their joint gain on 1 of 1 workloads."
    )
    [drawn] = page.drawn
    assert drawn.sentence.endswith("to Hamlet at the coarsest granularity, which is 20 times as fast.")
    assert [text.get_text() for text in drawn.drawing.axes[0].texts] == ["×5", "×2", "×2"]
    assert page.rows[0] == ("trends, bus", "sums", "10 times (10 to 10)", "10 times (10 to 10)",
                            "10 times (10 to 10)", "10 times (10 to 10)")  # fmt: skip
    assert "| trends, bus | sharing of bursts | 2 times (2 to 2) |" in page.page("images")
    assert answer([]) is None


def test_every_system_of_a_design_is_in_its_experiments() -> None:
    for design in DESIGNS:
        assert {name for step in design.steps for name in (step.before, step.after)} <= set(design.levels)


def test_numbers_in_words() -> None:
    assert (span([2.0, 1.0]), span([1.0, 1.0001])) == ("1 to 2", "1")
    assert [quantile([3, 1, 2], share) for share in (0.0, 0.5, 0.95)] == [1, 2, 3]


def test_ideas_that_interact_are_drawn() -> None:
    page = answer([results({**SECONDS, "hamlet": 1.0})])
    assert page is not None
    [_, drawn] = page.drawn
    assert [text.get_text() for text in drawn.drawing.axes[0].get_yticklabels()] == [
        "trends, bus: sums", "trends, bus: sharing of bursts",
    ]  # fmt: skip
    assert drawn.sentence == "Where ideas interact: 0 of 2 gain less with the other idea than alone, the others more."
