"""Random workloads of event sequences, random valid sharing plans for them, and their answers under a plan."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor
from cepbench.algorithms.engine.event_sequence import Sequence as EventSequence
from cepbench.algorithms.engine.flattening import sequences_of
from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.executor import sequence_operator
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.queries.workloads import parse_workload
from cepbench.verification.evaluators import OneKey
from cepbench.verification.random_cases import random_cuts, split
from tests.contract.streams import batch

TYPES = "ABCDEF"
ITEMS = ("COUNT({})", "MIN({}.x)", "MAX({}.x)", "SUM({}.x)", "AVG({}.x)", "SUM({}.y)", "MAX({}.y)", "AVG({}.y)")
WINDOWS = ("", "WITHIN 8 s", "WITHIN 6 s SLIDE 2 s", "WITHIN 9 s SLIDE 4 s", "WITHIN 3 s SLIDE 5 s",
           "WITHIN 5 s SLIDE 1 s", "WITHIN 12 EVENTS SLIDE 5 EVENTS")  # fmt: skip


@dataclass(frozen=True)
class WorkloadCase:
    """Queries of one partition on one stream, cut into batches."""

    queries: tuple[Query, ...]
    events: tuple[Mapping[str, Any], ...]
    cuts: tuple[int, ...]
    pickled: bool
    promise: bool


def random_workload(random: Random) -> WorkloadCase:
    """Up to 12 queries over 6 types, of 1 to 6 events, and up to 40 events."""
    grouped, negated = random.random() < 0.4, random.random() < 0.3
    windows = random.sample(WINDOWS, random.choice((1, 1, 2)))
    texts = [
        _query(random, grouped=grouped, negated=negated, window=random.choice(windows))
        for _ in range(random.randint(1, 12))
    ]
    events = _events(random, grouped)
    cuts = random_cuts(random, len(events))
    promise = random.random() < 0.5
    return WorkloadCase(parse_workload("\n\n".join(texts)), events, cuts, random.random() < 0.3, promise)


def _query(random: Random, *, grouped: bool, negated: bool, window: str) -> str:
    """A query; one that aggregates a type which it negates has no meaning, and another is drawn."""
    while True:
        text = _any_query(random, grouped=grouped, negated=negated, window=window)
        try:
            parse_query(text)
        except QueryError:
            continue
        return text


def _any_query(random: Random, *, grouped: bool, negated: bool, window: str) -> str:
    length = random.randint(1, 6)
    start = random.randint(0, 5)
    run = [TYPES[(start + i) % 6] for i in range(length)]  # neighbors in a circle, so that queries have much in common
    if random.random() < 0.3:
        run = [random.choice(TYPES) for _ in range(length)]
    parts = run[:1]
    for name in run[1:]:
        if negated and random.random() < 0.2:
            parts.append(f"NOT {random.choice(TYPES)}")
        parts.append(name)
    items = ["COUNT(*)"] if random.random() < 0.7 else []
    items += [random.choice(ITEMS).format(random.choice(run)) for _ in range(random.choice((0, 0, 1, 2)))]
    where = f"WHERE {random.choice(TYPES)}.x > 0" if random.random() < 0.25 else ""
    where = where if where and where[6] in run else ""
    group = "GROUP-BY g" if grouped else ""
    pattern = f"SEQ({', '.join(parts)})" if len(parts) > 1 else parts[0]
    return f"RETURN {', '.join(dict.fromkeys(items or ['COUNT(*)']))} PATTERN {pattern} {where} {group} {window}"


def _events(random: Random, grouped: bool) -> tuple[Mapping[str, Any], ...]:
    time, events = random.choice((0, 3)), []
    ties = random.choice((0.0, 0.3, 0.6))
    for _ in range(random.choice((5, 15, 25, 40))):
        event = {"time": time, "type": random.choice(TYPES), "x": random.randint(-3, 5), "y": random.randint(-8, 8) / 4}
        events.append({**event, "g": random.randint(1, 2)} if grouped else event)
        time += 0 if random.random() < ties else random.choice((1, 1, 1, 2, 4))
    return tuple(events)


def empty_plan(workload: Workload, max_length: int | None = None) -> SharingPlan:
    """Nothing is shared: A-Seq."""
    sequences = tuple(s for query in workload for s in sequences_of(query, max_length))
    return SharingPlan(workload, sequences, (), max_length=max_length)


def random_plan(random: Random, workload: Workload) -> SharingPlan:
    """A valid plan: patterns of any length, each shared by a random choice of its occurrences that are still free."""
    plan = empty_plan(workload)
    found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for index, sequence in enumerate(plan.sequences):
        for begin in range(len(sequence)):
            for end in range(begin + 1, len(sequence) + 1):
                if not beside_negation(sequence, begin, end):
                    found[sequence.symbols[begin:end], sequence.negated[begin : end - 1]].append((index, begin))
    patterns = [pattern for pattern, occurrences in found.items() if len(occurrences) > 1]
    random.shuffle(patterns)
    taken: set[tuple[int, int]] = set()
    shared = []
    for pattern, negated in patterns:
        occurrences = []
        for index, offset in found[pattern, negated]:
            places = {(index, offset + i) for i in range(len(pattern))}
            if random.random() < 0.8 and taken.isdisjoint(places):
                taken |= places
                occurrences.append((index, offset))
        if occurrences:
            shared.append(Candidate(pattern, tuple(occurrences)))
    return SharingPlan(workload, plan.sequences, tuple(shared))


def beside_negation(sequence: EventSequence, begin: int, end: int) -> bool:
    """Whether a negated type stands at one of the borders of these places, which then cannot be shared."""
    before = begin > 0 and sequence.negated[begin - 1]
    return bool(before or (end < len(sequence) and sequence.negated[end - 1]))


def compiled(case: WorkloadCase, arithmetic: str = "modular") -> tuple[Workload, EventBatch]:
    """The workload of a case and its events."""
    events = batch(case.events)
    return compile_workload(case.queries, events.schema, arithmetic), events


def answers(plan: SharingPlan, events: EventBatch, case: WorkloadCase) -> pd.DataFrame:
    """The answer of a plan, with an executor per group."""
    executors: dict[Any, Executor] = {}
    attributes = plan.workload.queries[0].partition
    builder = AnswerBuilder(plan.workload)
    pieces = split(events, case.cuts)
    for number, piece in enumerate(pieces):
        keys = list(zip(*(piece.columns[name].tolist() for name in attributes), strict=True)) or [()] * len(piece)
        following = next((int(later.time[0]) for later in pieces[number + 1 :] if len(later)), None)
        for key in sorted({*keys, *executors}):
            part = piece.take(_places(keys, key))
            executor = executors.setdefault(key, OneKey(sequence_operator(plan)))
            _add(builder, key, executor.process(part.slice(0, len(part), following if case.promise else None)))
            if case.pickled:
                executors[key] = pickle.loads(pickle.dumps(executor))
    for key, executor in executors.items():
        _add(builder, key, executor.finish())
    return builder.frame()


def _places(keys: Sequence[Any], key: Any) -> NDArray[np.int64]:
    return np.array([i for i, other in enumerate(keys) if other == key], np.int64)


def _add(builder: AnswerBuilder, key: Any, rows: Mapping[int, Any]) -> None:
    for query, found in rows.items():
        builder.add(query, key, found)
