"""The gains of ideas, on numbers whose gains are known."""

from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from cepbench.metrics.record import Record, Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.atlas.answers import mean_of_ratios, quantile, span
from cepbench.plots.atlas.ideas import (
    DESIGNS,
    GRAPHLETS,
    SEQUENCES,
    TIME,
    TRENDS,
    alone_and_together,
    answer,
    by_draw,
    gain,
    interacts,
    measured,
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
    numbers = by_draw(results(SECONDS), TIME)
    sums, bursts = (gain(numbers, measured(TRENDS, idea, numbers)) for idea in TRENDS.effects[:2])
    assert sums is not None
    assert bursts is not None
    assert (sums.median, sums.ends) == (pytest.approx(10.0), pytest.approx((10.0, 10.0)))
    assert bursts.median == pytest.approx(2.0)
    numbers = by_draw(results({**SECONDS, "hamlet": 1.0}), TIME)
    uneven = gain(numbers, measured(TRENDS, TRENDS.effects[0], numbers))
    assert uneven is not None
    assert uneven.median == pytest.approx((10 * 40) ** 0.5)
    assert gain(numbers, measured(TRENDS, TRENDS.effects[2], numbers)) is None


def test_ideas_interact_if_their_gains_differ_beyond_the_intervals() -> None:
    numbers = by_draw(results({**SECONDS, "hamlet": 1.0}), TIME)
    alone, together = alone_and_together(TRENDS, TRENDS.effects[0], numbers)
    assert alone is not None
    assert together is not None
    assert (alone.median, together.median) == pytest.approx((10.0, 40.0))
    assert interacts(alone, together)
    assert not interacts(alone, alone)
    assert not interacts(alone, None)


def test_a_joint_gain_is_predicted_by_the_gains_of_both_ideas_alone() -> None:
    assert predicted(TRENDS, by_draw(results(SECONDS), TIME))
    # Sums gain 10 alone, and bursts 2: 20 is not the 80 of both.
    assert predicted(TRENDS, by_draw(results({**SECONDS, "hamlet": 1.0}), TIME)) is False
    assert predicted(TRENDS, by_draw(results(SECONDS, draws=2), TIME)) is None  # without an interval


def test_a_system_that_was_stopped_bounds_a_gain() -> None:
    whole = results(SECONDS)
    stopped = [
        r.model_copy(update={"status": Status.TIMEOUT, "summary": Summary(), "limit_seconds": 100.0})
        if r.algorithm == "greta" and r.point["seed"] > 1 else r
        for r in whole.records
    ]  # fmt: skip
    numbers = by_draw(replace(whole, records=tuple(stopped)), TIME)
    texts = [
        shown and shown.text for shown in (gain(numbers, [("greta", "cogra")]), gain(numbers, [("cogra", "greta")]))
    ]
    assert texts == ["≥ 3.65 times", "≤ 0.28 times"]
    assert gain(numbers, [("greta", "greta")]) is None
    page = answer([replace(whole, records=tuple(stopped))])
    assert page is not None
    assert page.short.startswith("In trends, times as fast: sums ≥ ")
    assert "×≥ " in page.drawn[0].drawing.axes[0].texts[0].get_text()


def test_an_idea_after_which_no_work_is_left_gains_all_of_it() -> None:
    def with_edges(record: Record) -> Record:
        edges = {"greta": 50.0, "hamlet[granularity=event]": 25.0}.get(record.algorithm, 0.0)
        return record.model_copy(update={"summary": record.summary.model_copy(update={"details": {"edges": edges}})})

    whole = results(SECONDS)
    page = answer([replace(whole, records=tuple(map(with_edges, whole.records)))])
    assert page is not None
    assert [row[3] for row in page.rows[:2]] == ["all", "2 times (2 to 2)"]  # no work is left to share with sums
    assert mean_of_ratios([(1.0, 0.0), (4.0, 1.0)]) == inf
    assert mean_of_ratios([(0.0, 1.0)]) == 0.0


def test_work_is_compared_on_the_systems_of_the_times() -> None:
    """SPASS counts no updates, so that the work of sharing alone is unknown."""
    seconds = {"sase": 8.0, "spass": 4.0, "aseq": 2.0, "sharon[optimizer=greedy]": 1.0}
    whole = results(seconds)
    records = [
        r if r.algorithm == "spass"
        else r.model_copy(update={"summary": r.summary.model_copy(update={"details": {"updates": 9.0}})})
        for r in whole.records
    ]  # fmt: skip
    figure = whole.figure.model_copy(update={"experiment": "atlas-sequences-shops"})
    page = answer([replace(whole, figure=figure, records=tuple(records))])
    assert page is not None
    assert [row[:4] for row in page.rows] == [
        ("sequences, bus", "prefix counters", "4 times (4 to 4)", "1 times (1 to 1)"),
        ("sequences, bus", "sharing of sub-sequences", "2 times (2 to 2)", "–"),
    ]
    assert SEQUENCES.work == ("details.updates", "details.combinations")


def test_the_page_has_the_steps_and_the_gains() -> None:
    page = answer([results(SECONDS)])
    assert page is not None
    assert page.short == (
        "In trends, times as fast: sums 10 (bus), sharing of bursts 2 (bus), graphlets 5 (bus).\n\n"
        "The product of what the first two ideas of a family gain alone lies within the interval of what both "
        "gain, give or take 5 %, on 1 of 1 workloads."
    )
    [drawn] = page.drawn
    assert drawn.sentence.endswith("trends from GRETA to Hamlet at the coarsest granularity 20 times.")
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
    names = {text.get_text() for text in drawn.drawing.axes[0].get_yticklabels()}
    assert names == {"trends, bus: sums", "trends, bus: sharing of bursts"}
    assert drawn.sentence == "Where ideas interact: 0 of 2 gain less with the other idea than alone, the others more."
