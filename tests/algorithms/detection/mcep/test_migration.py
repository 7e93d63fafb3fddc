"""Another plan in mid-stream loses and doubles no match; and when one is looked for."""

from __future__ import annotations

import pickle
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.detection.mcep.adaptivity import SECONDS, AdaptiveExecutor, AdaptivePlanner
from cepbench.algorithms.detection.mcep.planning.optimizer import PlanningOptions
from cepbench.algorithms.detection.mcep.planning.selectivities import SampledStatistics
from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.algorithms.registry import make
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import EventSample, Statistics, statistics_of
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, answer_of
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.detection.mcep.engine.plans import all_matches, random_rows, random_tables, random_text
from tests.algorithms.detection.mcep.engine.test_random_plans import EACH, FIRSTS, listed
from tests.contract.streams import batch

EVENTS = 18
SAMPLE = 4096


@pytest.mark.parametrize("shape", ["orders", "trees"])
@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.full
def test_migration_loses_and_doubles_no_match(shape: str, first: int) -> None:
    nonempty = 0
    for seed in range(first, first + EACH):
        random = Random(f"migration {shape} {seed}")
        texts = [random_text(random) for _ in range(random.randint(1, 3))]
        queries = [parse_query(text) for text in texts]
        events = random_rows(random, EVENTS)
        try:
            expected = [all_matches(answer(query, events)) for query in queries]
        except TooManyMatches:
            continue
        stream = batch(events)
        workload = compile_workload(queries, stream.schema)

        def some_tables(workload: Any = workload, random: Random = random) -> Any:
            return random_tables(workload, random, shape)

        planner = AdaptivePlanner(workload, PlanningOptions("re"), 2.0)
        executor = AdaptiveExecutor(planner, some_tables(), {})
        rows = []
        for piece in split(stream, random_cuts(random, EVENTS)):
            rows.append(executor.process(piece))
            if random.random() < 0.5:
                executor.migrate(some_tables())
            if random.random() < 0.2:
                executor = pickle.loads(pickle.dumps(executor))
        rows.append(executor.finish())
        assert [listed(rows, number) for number in range(len(queries))] == expected, (seed, texts, events)
        nonempty += sum(map(bool, expected))
    assert nonempty > EACH / 2


TEXTS = (
    "PATTERN SEQ(A a, B b, C c) WHERE a.x < b.x WITHIN 12 s PER MATCH",
    "PATTERN SEQ(A a, B b, NOT C n) WHERE n.x < 3 WITHIN 9 s PER MATCH",
    "PATTERN SEQ(A a, B b, C c) WHERE a.x < b.x WITHIN 20 events PER MATCH",
    "PATTERN A a AND C c WHERE a.x < c.x WITHIN 9 s PER MATCH",
)


def changing(size: int, change: bool) -> list[dict[str, Any]]:
    """A is rare in the first half and, if there is a `change`, frequent in the second one."""
    random = Random(5)
    weights = ((1, 20, 20), (20, 20, 1) if change else (1, 20, 20))
    return [
        {"time": n, "type": random.choices("ABC", weights[2 * n // size])[0], "x": random.randrange(8)}
        for n in range(size)
    ]


@pytest.mark.parametrize(("change", "migrations"), [(False, 1), (True, 2)])
def test_a_plan_is_exchanged_when_rates_change(change: bool, migrations: int) -> None:
    whole = batch(changing(4 * SAMPLE, change))
    queries = [parse_query(text) for text in TEXTS]
    workload = compile_workload(queries, whole.schema)
    algorithm = make("mcep[plan=re, sharing=prefix, adapt=4]")
    pieces = split(whole, tuple(range(500, len(whole), 500)))
    wanted = answer_of(make("sase"), queries, [whole], summarised=True)
    answers = answer_of(algorithm, queries, pieces, summarised=True)
    assert answers.matches == wanted.matches > 1000
    assert answers.digest() == wanted.digest()

    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    for piece in pieces:
        executor.process(piece)
    details = executor.details()
    # The first plan knows no statistics; and the sample passes the change in several steps.
    assert details["migrations"] >= migrations
    assert details["migrations"] <= (1 if not change else 4)
    assert details["checks"] > 5
    assert all(details[name] > 0 for name in SECONDS)
    assert executor.state().bytes < 40 * 8 * len(whole)


def test_adapt_is_a_ratio() -> None:
    with pytest.raises(CepbenchError, match="adapt is a number from 1"):
        make("mcep[adapt=0.5]")


def test_once_plans_when_a_sample_has_passed_and_never_again() -> None:
    whole = batch(changing(4 * SAMPLE, True))
    queries = [parse_query(text) for text in TEXTS]
    workload = compile_workload(queries, whole.schema)
    algorithm = make(f"mcep[plan=re, adapt=once, sample={SAMPLE // 4}]")
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    for piece in split(whole, tuple(range(500, len(whole), 500))):
        executor.process(piece)
        passed = piece.position[-1] + 1
        details = executor.details()
        assert details["migrations"] == details["checks"] == (passed >= SAMPLE // 4), passed
        if details["migrations"]:
            executor = pickle.loads(pickle.dumps(executor))
    pieces = split(whole, tuple(range(500, len(whole), 500)))
    wanted = answer_of(make("sase"), queries, [whole], summarised=True)
    answers = answer_of(algorithm, queries, pieces, summarised=True)
    assert answers.digest() == wanted.digest()
    assert answers.matches > 1000


@pytest.mark.parametrize("change", [False, True])
def test_a_plan_that_knows_the_stream_is_kept_until_it_changes(change: bool) -> None:
    whole = batch(changing(4 * SAMPLE, change))
    begin = whole.slice(0, 2 * SAMPLE)
    counts = {name: int((begin.type == code).sum()) for code, name in enumerate(begin.schema.types)}
    known = replace(
        statistics_of(counts, int(begin.time[0]), int(begin.time[-1])), sampler=lambda needs: EventSample(begin)
    )
    workload = compile_workload([parse_query(text) for text in TEXTS], whole.schema)
    algorithm = make("mcep[plan=re, adapt=4]")
    plan = pickle.loads(pickle.dumps(algorithm.plan(workload, known)))  # without the sampler
    executor = OneKey(algorithm.operator(plan))
    for place, piece in enumerate(split(whole, tuple(range(512, len(whole), 512)))):
        executor.process(piece)
        if place < 2 * SAMPLE // 512:
            assert executor.details()["migrations"] == 0
    assert (executor.details()["migrations"] > 0) is change
    assert executor.details()["checks"] == 13


def sampled(planner: AdaptivePlanner, weights: list[float], seed: int, size: int = SAMPLE) -> SampledStatistics:
    """The statistics of some events of types T0, T1, ... with these weights."""
    random = Random(seed)
    names = [f"T{n}" for n in range(len(weights))]
    types = random.choices(names, weights, k=size)
    rows = [{"time": n, "type": name, "x": random.random()} for n, name in enumerate(types)]
    return planner.measured([batch(rows)])


def many_types(count: int) -> AdaptivePlanner:
    """A planner of pairs of consecutive types with a condition, that gives up a plan where something doubles."""
    rows = [{"time": n, "type": f"T{n}", "x": 0.5} for n in range(count)]
    texts = [f"PATTERN SEQ(T{n} a, T{n + 1} b) WHERE a.x < b.x WITHIN 9 s PER MATCH" for n in range(0, count, 2)]
    workload = compile_workload([parse_query(text) for text in texts], batch(rows).schema)
    return AdaptivePlanner(workload, PlanningOptions("re"), 2.0)


@pytest.mark.parametrize("count", [4, 60, 400])
def test_chance_is_no_drastic_change_however_many_types_there_are(count: int) -> None:
    planner = many_types(count)
    weights = [1 + n % 7 for n in range(count)]
    samples = [sampled(planner, weights, seed) for seed in range(6)]
    assert not any(planner.is_drastic(one, other) for one in samples for other in samples)


def test_a_plan_from_few_events_says_little() -> None:
    planner = many_types(60)
    few, many = (sampled(planner, [1] * 60, seed, size) for seed, size in ((1, SAMPLE // 16), (2, SAMPLE)))
    assert not planner.is_drastic(few, many)
    assert not planner.is_drastic(many, few)


def test_a_type_that_changes_its_rate_is_drastic() -> None:
    planner = many_types(60)
    before = sampled(planner, [1] * 60, 1)
    for place, factor in ((17, 4), (17, 1 / 20), (59, 4)):
        weights = [1.0] * 60
        weights[place] = factor
        assert planner.is_drastic(before, sampled(planner, weights, 2)), (place, factor)
        assert planner.is_drastic(sampled(planner, weights, 2), before), (place, factor)


def test_a_condition_that_changes_its_selectivity_is_drastic() -> None:
    planner = many_types(2)

    def some(shift: float, seed: int) -> SampledStatistics:
        random = Random(seed)
        rows = [{"time": n, "type": f"T{n % 2}", "x": random.random() + shift * (n % 2)} for n in range(SAMPLE)]
        return planner.measured([batch(rows)])

    assert not planner.is_drastic(some(0, 1), some(0, 2))
    assert planner.is_drastic(some(-0.7, 1), some(0.7, 2))
    assert planner.is_drastic(some(0.7, 1), some(-0.7, 2))


def test_the_sample_is_of_the_latest_events() -> None:
    planner = replace(many_types(2), sample=100)
    pieces = [batch([{"time": n, "type": f"T{n // 200}", "x": 0.0} for n in range(300)])]
    found = planner.measured(pieces)
    assert (found.rates.events, planner.period) == (100, 25)
    assert (found.count("T0"), found.count("T1")) == (0, 100)


@pytest.mark.parametrize("text", ["0", "-4", "some", "1.5"])
def test_sample_is_a_number_of_events(text: str) -> None:
    with pytest.raises(CepbenchError, match=rf"mcep\[sample={text}\]: sample is a whole number from 1 to a million"):
        make(f"mcep[adapt=2, sample={text}]")


def test_only_the_plan_is_made_on_request() -> None:
    whole = batch(changing(SAMPLE, False))
    workload = compile_workload([parse_query(text) for text in TEXTS], whole.schema)
    plan = make("mcep[detect=plan]").plan(workload, Statistics())
    assert plan.unanswered
    assert "detects no matches" in plan.notices[0]
    assert "cost" in plan.details
    answers = answer_of(make("mcep[detect=plan]"), [parse_query(text) for text in TEXTS], [whole], summarised=True)
    assert answers.matches == 0
