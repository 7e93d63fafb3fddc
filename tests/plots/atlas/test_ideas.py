"""The gains of ideas, on numbers whose gains are known."""

from dataclasses import replace
from pathlib import Path

import pytest

from cepbench.metrics.record import Record, Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.atlas.answers import quantile, span
from cepbench.plots.atlas.ideas import (
    DESIGNS,
    GRAPHLETS,
    TRENDS,
    alone_and_together,
    answer,
    by_draw,
    gain,
    interacts,
    predicted,
)
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
    assert (sums.number.median, sums.number.low, sums.number.high) == pytest.approx((10.0, 10.0, 10.0))
    assert bursts.median == pytest.approx(2.0)
    uneven = gain(by_draw(results({**SECONDS, "hamlet": 1.0}), "service_total"), TRENDS.pairs(TRENDS.effects[0]))
    assert uneven is not None
    assert uneven.median == pytest.approx((10 * 40) ** 0.5)
    assert gain(numbers, TRENDS.pairs(TRENDS.effects[2])) is None


def test_ideas_interact_if_their_gains_differ_beyond_the_intervals() -> None:
    numbers = by_draw(results({**SECONDS, "hamlet": 1.0}), "service_total")
    alone, together = alone_and_together(TRENDS, TRENDS.effects[0], numbers)
    assert alone is not None
    assert together is not None
    assert (alone.median, together.median) == pytest.approx((10.0, 40.0))
    assert interacts(alone, together)
    assert not interacts(alone, alone)
    assert not interacts(alone, None)


def test_a_joint_gain_is_predicted_by_what_each_idea_gains_alone() -> None:
    uneven = predicted(TRENDS, by_draw(results({**SECONDS, "hamlet": 1.0}), "service_total"))
    assert uneven is not None
    product, joint = uneven
    assert (product, joint.median) == pytest.approx((20.0, 80.0))
    assert predicted(TRENDS, by_draw(results(SECONDS, draws=2), "service_total")) is None  # without an interval


def test_a_system_that_was_stopped_bounds_a_gain() -> None:
    whole = results(SECONDS)
    stopped = [
        r.model_copy(update={"status": Status.TIMEOUT, "summary": Summary(), "limit_seconds": 100.0})
        if r.algorithm == "greta" and r.point["seed"] > 1 else r
        for r in whole.records
    ]  # fmt: skip
    numbers = by_draw(replace(whole, records=tuple(stopped)), "service_total")
    alone = gain(numbers, [("greta", "cogra")])
    assert alone is not None
    assert (alone.bound, alone.text) == (True, "≥ 3.65 times")
    assert gain(numbers, [("cogra", "greta")]).number.values == pytest.approx((0.1,))  # type: ignore[union-attr]


def test_the_page_has_the_steps_and_the_gains() -> None:
    page = answer([results(SECONDS)])
    assert page is not None
    assert page.short == (
        "In trends: sums 10 times, sharing of bursts 2 times, graphlets 5 times. The product of what the first two "
        "ideas gain alone lies within the interval of their joint gain on 1 of 1 workloads; on the others the ideas "
        "interact."
    )
    [drawn] = page.drawn
    assert drawn.sentence.endswith("to Hamlet at the coarsest granularity, which is 20 times as fast.")
    assert [text.get_text() for text in drawn.drawing.axes[0].texts] == ["×5", "×2", "×2"]
    ten = "10 times (10 to 10)"
    assert page.rows[0] == ("trends, bus", "sums", ten, "–", ten, ten, ten, "6")
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
