"""Sharon under each of its optimizers gives the oracle's rows, and refuses what it cannot evaluate."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pandas as pd
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.algorithms.sequences.sharon.algorithm import Sharon
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference, rows_of
from cepbench.verification.evaluators import OneKey, run
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.sequences.spass.workloads import random_events, random_workload
from tests.contract.streams import batch

OPTIMIZERS = ("sharon", "greedy", "exhaustive", "integer", "none")
SEEDS = range(16)


def planned(
    queries: Sequence[Query], events: Sequence[Mapping[str, Any]], specification: str, rates: Mapping[str, float]
) -> SharingPlan:
    algorithm = make(specification)
    assert isinstance(algorithm, Sharon)
    workload = compile_workload(queries, batch(events).schema)
    return algorithm.plan(workload, Statistics(len(events), 100, rates))


def answers(plan: SharingPlan, events: Sequence[Mapping[str, Any]], random: Random) -> list[pd.DataFrame]:
    """Of every query, over batches that are cut anywhere."""
    workload = plan.workload
    builders = [AnswerBuilder(replace(workload, queries=(replace(query, index=0),))) for query in workload]
    executor = OneKey(Sharon().operator(plan))
    whole = batch(events)
    for piece in split(whole, random_cuts(random, len(whole))):
        for query, rows in executor.process(piece).items():
            builders[query].add(0, (), rows)
        if random.random() < 0.3:
            executor = pickle.loads(pickle.dumps(executor))
    for query, rows in executor.finish().items():
        builders[query].add(0, (), rows)
    return [builder.frame() for builder in builders]


@pytest.mark.parametrize("benefit", ["paper", "executor"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_rows_are_those_of_the_oracle(optimizer: str, benefit: str) -> None:
    shared = 0
    for seed in SEEDS:
        random = Random(f"{seed} {optimizer} {benefit}")
        queries = random_workload(random, random.randint(2, 12))
        events = random_events(random, queries)
        rates = {} if seed % 2 else {name: random.choice((0.1, 0.3, 1.0)) for name in "ABCDEF"}
        try:
            plan = planned(queries, events, f"sharon[optimizer={optimizer}, benefit={benefit}, limit=1]", rates)
        except CepbenchError:
            assert optimizer == "exhaustive"
            continue
        shared += len(plan.shared)
        for query, frame in zip(queries, answers(plan, events, random), strict=True):
            assert difference(answer(query, events, modular=True), frame) is None, (seed, query)
    assert (shared > 0) == (optimizer != "none")


def sharing(text: str, types: str, specification: str = "sharon") -> SharingPlan:
    events = [{"time": i, "type": name, "x": 1, "y": 1.0} for i, name in enumerate(types)]
    queries = [parse_query(f"q{i}: {line}") for i, line in enumerate(text.splitlines())]
    return planned(queries, events, specification, {})


def test_windows_share_within_themselves_only() -> None:
    line = "RETURN COUNT(*) PATTERN SEQ(A, B, C) WITHIN "
    assert len(sharing(f"{line}4 s\n{line}4 s", "ABC").shared) == 1
    assert sharing(f"{line}4 s\n{line}5 s", "ABC").shared == ()
    assert sharing(f"{line}4 s SLIDE 2 s\n{line}4 s", "ABC").shared == ()
    assert sharing(f"{line}4 EVENTS\n{line}4 EVENTS", "ABC").shared == ()


def test_sub_streams_share_within_themselves_only() -> None:
    line = "RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE "
    assert len(sharing(f"{line}[x]\n{line}[x]", "ABC").shared) == 1
    assert sharing(f"{line}[x]\n{line}[x, y]", "ABC").shared == ()


def test_windows_hold_no_more_than_the_stream() -> None:
    """The streams here last 100 seconds."""
    events = [{"time": i, "type": name, "x": 1, "y": 1.0} for i, name in enumerate("ABC")]

    def score(window: str) -> float:
        queries = [parse_query(f"q{i}: RETURN COUNT(*) PATTERN SEQ(A, B, C) {window}") for i in range(2)]
        plan = planned(queries, events, "sharon", dict.fromkeys("ABC", 1.0))
        return plan.details["score"]

    assert score("WITHIN 100 s") == score("WITHIN 5000 s") == score("") == 100 * 300
    assert score("WITHIN 10 s") == 10 * 30


def test_queries_keep_their_numbers() -> None:
    """A part of a workload is planned as it is numbered in the whole."""
    whole = sharing("\n".join(["RETURN COUNT(*) PATTERN SEQ(A, B, C)"] * 3), "ABC")
    part = replace(whole.workload, queries=whole.workload.queries[1:])
    plan = Sharon().plan(part, Statistics())
    assert [sequence.query for sequence in plan.sequences] == [1, 2]
    assert len(plan.shared) == 1


def test_aggregates_may_differ_but_predicates_may_not() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A, B, C)\nRETURN SUM(B.x) PATTERN SEQ(A, B, C)"
    assert len(sharing(text, "ABC").shared) == 1
    assert sharing(f"{text} WHERE B.x > 0", "ABC").shared == ()
    assert len(sharing(f"{text} WHERE B.x > 0".replace("(A, B, C)\n", "(A, B, C) WHERE B.x > 0\n"), "ABC").shared) == 1


def test_more_events_per_window_make_combinations_dearer() -> None:
    """The cubic cost of combining at a middle part outweighs what it saves, unless sub-streams divide the events."""
    events = [{"time": i, "type": "ABCDEF"[i % 6], "x": 1, "y": 1.0} for i in range(60)]
    patterns = ("D, A, B, C, E", "E, A, B, C, F", "F, A, B, C, D")

    def shared(seconds: int, specification: str) -> bool:
        text = [f"q{i}: RETURN COUNT(*) PATTERN SEQ({p}) WITHIN {seconds} s" for i, p in enumerate(patterns)]
        rates = dict.fromkeys("ABCDEF", 1.0)
        return bool(planned([parse_query(line) for line in text], events, specification, rates).shared)

    assert shared(1, "sharon")
    assert not shared(50, "sharon")
    assert shared(50, "sharon[substreams=50]")
    assert shared(1, "sharon[substreams=50]")


def test_kleene_needs_a_length() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 5 s")
    assert "max_length" in str(Sharon().unsupported(query))
    assert Sharon(max_length="4").unsupported(query) is None


@pytest.mark.full
def test_flattened_kleene_counts_are_exact() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A+")
    for size, count in ((64, 2**64 - 1), (65, None)):
        events = batch([{"time": time, "type": "A"} for time in range(size)])
        [row] = rows_of(run(Sharon(max_length="65"), query, [events]))
        assert row["COUNT(*)"] == count
        assert row["overflow"] is (count is None)


def test_matches_longer_than_promised_are_an_error() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A+")
    events = batch([{"time": time, "type": "A"} for time in range(5)])
    with pytest.raises(CepbenchError, match="max_length"):
        run(Sharon(max_length="4"), query, [events])


def test_conjunctions_are_refused() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) AND SEQ(C, D) WITHIN 5 s")
    assert "AND" in str(Sharon().unsupported(query))


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ("optimizer=best", "optimizer is sharon, greedy, exhaustive, integer, random or none"),
        ("benefit=none", "benefit is paper or executor"),
        ("limit=0", "limit is a positive number"),
        ("limit=nan", "limit is a positive number"),
        ("substreams=x", "substreams is a positive number"),
        ("memory=256XB", "memory is a size such as 4096"),
        ("memory=0GB", "memory is at least 1 byte"),
    ],
)
def test_parameters_are_checked(parameters: str, named: str) -> None:
    with pytest.raises(CepbenchError, match=named):
        make(f"sharon[{parameters}]")
