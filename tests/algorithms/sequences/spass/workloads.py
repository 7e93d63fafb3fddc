"""Random workloads of event sequences, and SPASS run on them."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pandas as pd

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.sequences.candidates import Candidate, sharing_candidates
from cepbench.algorithms.sequences.spass import Spass
from cepbench.algorithms.sequences.spass.plan import SpassPlan, window_of
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.model import Query, occurrences
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from cepbench.verification.random_cases import random_cuts, split
from tests.contract.streams import batch

TYPES = "ABCDEF"
WINDOWS = ("", "WITHIN 6 s", "WITHIN 8 s SLIDE 3 s", "WITHIN 12 s SLIDE 2 s", "WITHIN 4 s SLIDE 6 s", "WITHIN 9 EVENTS")
BIG = 2**62


def random_workload(random: Random, queries: int) -> list[Query]:
    """Queries of 1 to 6 events with pieces and predicates in common, in one or two windows."""
    types = TYPES[: random.randint(2, len(TYPES))]
    pieces = ["".join(random.choices(types, k=random.randint(2, 4))) for _ in range(3)]
    predicates = {letter: f"{letter}.x > {random.choice((-2, 0))}" for letter in types if random.random() < 0.3}
    windows = random.sample(WINDOWS, random.choice((1, 1, 2)))
    slides = [window + " SLIDE 4 EVENTS" if "EVENTS" in window else window for window in windows]
    return [parse_query(_query(random, f"q{i}", pieces, predicates, random.choice(slides))) for i in range(queries)]


def random_events(random: Random, queries: Sequence[Query]) -> list[dict[str, Any]]:
    """Events of the types of some queries and one more, many simultaneous; some have values whose sums overflow."""
    types = [*sorted({event.type for query in queries for event in occurrences(query.pattern)}), "Z"]
    size = random.choice((5, 15, 25, 35))
    big, ties, time = random.random() < 0.15, random.choice((0.0, 0.3, 0.6)), random.choice((0, 7))
    events = []
    for _ in range(size):
        x = random.choice((-BIG, BIG)) if big and random.random() < 0.5 else random.randint(-3, 6)
        events.append({"time": time, "type": random.choice(types), "x": x, "y": random.randint(-8, 16) / 4})
        time += 0 if random.random() < ties else random.choice((1, 1, 2))
    return events


def run_all(
    plan: SpassPlan, events: Sequence[Mapping[str, Any]], random: Random | None = None
) -> tuple[list[pd.DataFrame], Executor]:
    """The answer of each query, and the spent executor; with `random`, batches are cut and executors pickled."""
    workload = plan.workload
    answers = [AnswerBuilder(_alone(workload, index)) for index in range(len(workload))]
    executor = OneKey(Spass().operator(plan))
    whole = batch(events)
    pieces = split(whole, random_cuts(random, len(whole))) if random is not None else [whole]
    for number, piece in enumerate(pieces):
        following = [other for other in pieces[number + 1 :] if len(other)]
        until = int(following[0].time[0]) if following and random is not None and random.random() < 0.5 else None
        _add(answers, executor.process(piece.slice(0, len(piece), until)))
        if random is not None and random.random() < 0.3:
            executor = pickle.loads(pickle.dumps(executor))
    _add(answers, executor.finish())
    return [answer.frame() for answer in answers], executor


def planned(
    queries: Sequence[Query],
    events: Sequence[Mapping[str, Any]],
    arithmetic: str = "modular",
    algorithm: Spass | None = None,
) -> SpassPlan:
    """The plan of SPASS for a workload, without statistics."""
    workload = compile_workload(queries, batch(events).schema, arithmetic)
    return (algorithm or Spass()).plan(workload, Statistics())


def random_plan(plan: SpassPlan, random: Random) -> SpassPlan:
    """Another valid plan for the same sequences: some sub-sequences, each at some of the places that are left."""
    windows = [window_of(plan.workload[sequence.query]) for sequence in plan.sequences]
    candidates = list(sharing_candidates(plan.sequences, windows))
    random.shuffle(candidates)
    taken: set[tuple[int, int]] = set()
    shared = []
    for candidate in candidates:
        length = len(candidate.pattern)
        free = tuple(
            (sequence, offset)
            for sequence, offset in candidate.occurrences
            if random.random() < 0.7 and taken.isdisjoint((sequence, offset + i) for i in range(length))
        )
        if free and random.random() < 0.7:
            shared.append(Candidate(candidate.pattern, free))
            taken |= shared[-1].places
    return replace(plan, shared=tuple(shared))


def _alone(workload: Workload, index: int) -> Workload:
    """A workload of one query, to which its rows are added."""
    query = replace(workload[index], index=0)
    return replace(workload, queries=(query,))


def _add(answers: list[AnswerBuilder], rows: Rows) -> None:
    for index, found in rows.items():
        answers[index].add(0, (), found)


def _query(random: Random, name: str, pieces: Sequence[str], predicates: Mapping[str, str], window: str) -> str:
    known = "".join(pieces)
    types = "".join(random.choice((*pieces, random.choice(known))) for _ in range(random.randint(1, 3)))[:6]
    types = types[: random.choice((1, 6, 6, 6))]
    named = random.randrange(len(types))
    negated = {at: random.choice("ABZ") for at in range(1, len(types)) if random.random() < 0.1}
    parts = []
    for at, letter in enumerate(types):
        parts += [f"NOT {negated[at]}"] if at in negated else []
        parts.append(f"{letter} this" if at == named else letter)
    pattern = f"SEQ({', '.join(parts)})" if len(parts) > 1 else parts[0]
    name_of_all = "this" if types[named] in negated.values() else types[named]
    items = _items(random.choice(("this", name_of_all)))
    returns = ["COUNT(*)", *(item for item in items if random.random() < 0.3)]
    used = [predicates[letter] for letter in sorted(set(types)) if letter in predicates and random.random() < 0.8]
    where = f"WHERE {' AND '.join(used)}" if used else ""
    return f"{name}: RETURN {', '.join(returns)} PATTERN {pattern} {where} {window}"


def _items(name: str) -> list[str]:
    return [
        f"COUNT({name})",
        f"SUM({name}.x)",
        f"AVG({name}.y)",
        f"MIN({name}.x)",
        f"MAX({name}.y)",
        f"SUM({name}.y)",
    ]
