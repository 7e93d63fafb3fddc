"""Both engines find exactly the oracle's matches by whatever valid plan, however batches are cut.

40 workloads of each kind by default; `CEPBENCH_MCEP_CASES=5000` for as many as one likes.
"""

from __future__ import annotations

import os
import pickle
from itertools import pairwise
from random import Random

import pytest

from cepbench.algorithms.answers.matches import digested
from cepbench.algorithms.base import Executor
from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.algorithms.rows import MatchDigests, MatchRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.detection.mcep.engine.plans import all_matches, random_rows, random_tables, random_text
from tests.contract.streams import batch

EACH = 20
FIRSTS = range(0, int(os.environ.get("CEPBENCH_MCEP_CASES", "40")), EACH)
EVENTS = 18


def rows_of(executor: Executor, batches: list[EventBatch], promise: bool, pickled: bool) -> list[Rows]:
    found = []
    for number, one in enumerate(batches):
        later = [int(other.time[0]) for other in batches[number + 1 :] if len(other)]
        found.append(executor.process(one.slice(0, len(one), later[0] if promise and later else None)))
        if pickled:
            executor = pickle.loads(pickle.dumps(executor))
    return [*found, executor.finish()]


def listed(rows: list[Rows], query: int) -> list[tuple[tuple[int, ...], int, int]]:
    found = []
    for part in rows:
        matches = part.get(query)
        if matches is not None:
            assert isinstance(matches, MatchRows)
            assert matches.times is not None
            for (a, b), (first, last) in zip(pairwise(matches.offsets.tolist()), matches.times.tolist(), strict=True):
                found.append((tuple(matches.positions[a:b].tolist()), first, last))
    return sorted(found)


def digest(rows: list[Rows], query: int) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for part in rows:
        matches = part.get(query)
        if matches is not None:
            told = digested(matches) if isinstance(matches, MatchRows) else matches
            assert isinstance(told, MatchDigests)
            for window, count, value in zip(
                told.window.tolist(), told.matches.tolist(), told.digest.tolist(), strict=True
            ):
                before = found.get(window, (0, 0))
                found[window] = before[0] + count, (before[1] + value) % 2**64
    return found


@pytest.mark.parametrize("shape", ["orders", "trees", "searched"])
@pytest.mark.parametrize("first", FIRSTS)
def test_every_plan_finds_the_matches_of_the_oracle(shape: str, first: int) -> None:
    nonempty = 0
    for seed in range(first, first + EACH):
        random = Random(f"{shape} {seed}")
        texts = [random_text(random) for _ in range(random.randint(1, 4))]
        queries = [parse_query(text) for text in texts]
        events = random_rows(random, EVENTS)
        try:
            expected = [all_matches(answer(query, events)) for query in queries]
        except TooManyMatches:
            continue
        stream = batch(events)
        batches = split(stream, random_cuts(random, EVENTS))
        promise, pickled = random.random() < 0.5, random.random() < 0.3
        digests = []
        for summarised in (False, True):
            workload = compile_workload(queries, stream.schema, summarised=summarised)
            executor = DetectionExecutor(workload, random_tables(workload, random, shape), {})
            rows = rows_of(executor, batches, promise, pickled)
            if not summarised:
                found = [listed(rows, number) for number in range(len(queries))]
                assert found == expected, (seed, texts, events)
            digests.append([digest(rows, number) for number in range(len(queries))])
        assert digests[0] == digests[1], (seed, texts)
        nonempty += sum(map(bool, expected))
    assert nonempty > EACH / 2
