"""Another plan in mid-stream loses and doubles no match; and when one is looked for."""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.mcep.adaptivity import CHECKED, AdaptivePlanner
from cepbench.algorithms.mcep.migration import AdaptiveExecutor
from cepbench.algorithms.mcep.plan import tables_of
from cepbench.algorithms.mcep.planning.optimiser import PlanningOptions
from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.algorithms.registry import make
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import answer_of
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.mcep.engine.plans import all_matches, random_plan, random_rows, random_text
from tests.algorithms.mcep.engine.test_random_plans import EACH, FIRSTS, listed
from tests.contract.streams import batch

EVENTS = 18


@pytest.mark.parametrize("shape", ["orders", "trees"])
@pytest.mark.parametrize("first", FIRSTS)
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
            return tables_of(workload, random_plan(workload, random, shape))

        planner = AdaptivePlanner(workload, PlanningOptions("re"), 2.0)
        executor = AdaptiveExecutor(planner, *some_tables(), {})
        rows = []
        for piece in split(stream, random_cuts(random, EVENTS)):
            rows.append(executor.process(piece))
            if random.random() < 0.5:
                executor.migrate(some_tables()[0])
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
    whole = batch(changing(12 * CHECKED, change))
    queries = [parse_query(text) for text in TEXTS]
    workload = compile_workload(queries, whole.schema)
    algorithm = make("mcep[plan=re, sharing=prefix, adapt=4]")
    pieces = split(whole, tuple(range(500, len(whole), 500)))
    wanted = answer_of(make("sase"), queries, [whole], summarised=True)
    found = answer_of(algorithm, queries, pieces, summarised=True)
    assert found.matches == wanted.matches > 1000
    assert found.digest() == wanted.digest()

    executor = algorithm.executor(algorithm.plan(workload, Statistics()))
    for piece in pieces:
        executor.process(piece)
    details = executor.details()
    # The first plan knows no statistics; and the sample passes the change in several steps.
    assert details["migrations"] >= migrations
    assert details["migrations"] <= (1 if not change else 4)
    assert details["checks"] > 5
    assert executor.state().bytes < 40 * 8 * len(whole)


def test_adapt_is_a_ratio() -> None:
    with pytest.raises(CepbenchError, match="adapt is a number from 1"):
        make("mcep[adapt=0.5]")
