"""Random streams with many keys, evaluated by one operator of all keys and by an executor per key."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from random import Random

import numpy as np

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, Operator, PerKey, Plan, StateSize
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import Job, plan
from cepbench.pipeline.loop import Loop, into
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

SCHEMA = Schema(
    ("A", "B", "C", "D"),
    (Attribute("g", Kind.INT), Attribute("h", Kind.STRING), Attribute("x", Kind.INT), Attribute("y", Kind.FLOAT)),
    strings=("u", "v", "w"),
)
PATTERNS = (
    "A+", "A", "SEQ(A, B)", "SEQ(A+, B)", "(SEQ(A+, B))+", "SEQ(A+, B?, C+)", "SEQ(A, A+, B)", "SEQ(A, B, C)",
    "SEQ(A, B) OR C+", "SEQ(A, B, C, D)", "SEQ(A, NOT C, B)", "SEQ(NOT C, A+, NOT D, B)", "SEQ(A, B+, NOT C)",
    "A+ AND SEQ(B, C)", "SEQ(A, B) AND SEQ(A, NOT C, B)",
)  # fmt: skip
SEQUENCES = tuple(pattern for pattern in PATTERNS if "+" not in pattern and "AND" not in pattern)
RETURNS = (
    "COUNT(*)", "COUNT(*), COUNT(A)", "SUM(A.x), AVG(A.x)", "SUM(A.y), AVG(A.y)", "MIN(A.x), MAX(A.y)",
    "COUNT(*), COUNT(A), SUM(A.x), AVG(A.y), MIN(A.y), MAX(A.x)",
)  # fmt: skip
WHERE = ("", "A.x > 2", "A.x < NEXT(A).x", "A.x != 0 AND A.y < 0.8")
SPLITS = (("GROUP-BY g", ""), ("GROUP-BY h", "[g]"), ("", "[g, h]"), ("GROUP-BY g, h", ""))


def random_queries(random: Random, algorithm: Algorithm) -> list[str]:
    """Up to three queries that split the stream alike and that the algorithm supports; perhaps none."""
    group, equal = random.choice(SPLITS)
    patterns = SEQUENCES if algorithm.flattens and random.random() < 0.8 else PATTERNS
    queries = []
    for _ in range(random.choice((1, 1, 3))):
        slide = random.choice((1, 2, 3, 5, 10, 40))
        events = f"WITHIN 5 EVENTS SLIDE {random.choice((1, 2, 5, 7))} EVENTS"
        within = random.choice((slide, 2 * slide, 3 * slide + 1, 7 * slide, max(1, slide // 2)))
        window = random.choice((f"WITHIN {within} s SLIDE {slide} s",) * 5 + ("", events))
        where = " AND ".join(filter(None, (equal, random.choice(WHERE))))
        semantics = random.choice(("any", "any", "next", "contiguous"))
        text = (
            f"RETURN {random.choice(RETURNS)} PATTERN {random.choice(patterns)} SEMANTICS {semantics} "
            f"{'WHERE ' + where if where else ''} {group} {window}"
        )
        with suppress(QueryError):  # NEXT(A) where no A follows another
            if algorithm.unsupported(parse_query(text)) is None:
                queries.append(text)
    return queries


def random_pieces(random: Random) -> list[EventBatch]:
    """A stream of few or many keys with many ties, cut anywhere; pieces may have a watermark."""
    size, groups = random.choice((0, 5, 60, 300, 600)), random.choice((1, 3, 20, 200))
    numbers = np.random.default_rng(random.randrange(2**32))
    step = numbers.choice([0, 1, 2, 100], size, p=random.choice(([0.6, 0.3, 0.09, 0.01], [0.05, 0.9, 0.04, 0.01])))
    most = random.choice((5, 5, 2**40))
    events = EventBatch(
        SCHEMA,
        np.cumsum(step).astype(np.int64),
        numbers.integers(0, random.choice((2, 4)), size).astype(np.int32),
        {
            "g": numbers.integers(-groups, groups, size),
            "h": numbers.integers(0, 3, size).astype(np.int32),
            "x": numbers.integers(-most, most, size),
            "y": numbers.random(size),
        },
        np.arange(size, dtype=np.int64),
    )
    share = random.choice((0.0, 0.02, 0.3))
    cuts = [0, *(i for i in range(1, size) if random.random() < share), size]
    pieces = []
    for start, stop in pairwise(cuts):
        later = int(events.time[stop]) if stop < size else int(events.time[-1]) + 7 if size else 7
        earliest = int(events.time[stop - 1]) if stop else 0
        pieces.append(events.slice(start, stop, random.choice((None, later, (earliest + later) // 2))))
    return pieces


def jobs_of(algorithm: Algorithm, texts: Sequence[str], arithmetic: str = "modular") -> tuple[Job, ...]:
    """The jobs of queries."""
    workload = compile_workload([parse_query(text) for text in texts], SCHEMA, arithmetic)
    return plan(workload, algorithm, Statistics()).jobs


def by_executors(algorithm: Algorithm, job: Job, pieces: Sequence[EventBatch]) -> AnswerBuilder:
    """The answer of an executor per key."""
    answer, _ = by_operator(PerKey(partial(one_key, algorithm, job.plan), job.workload), job, pieces)
    return answer


def one_key(algorithm: Algorithm, plan: Plan) -> OneKey:
    """Executes a plan on one key."""
    return OneKey(algorithm.operator(plan))


def by_operator(
    operator: Operator, job: Job, pieces: Sequence[EventBatch], *, pickled: bool = False, look: bool = False
) -> tuple[AnswerBuilder, list[StateSize]]:
    """The answer of an operator, and its state after each call."""
    answer, states = AnswerBuilder(job.workload), list[StateSize]()
    loop, emit = Loop(job, operator), into(answer)
    for piece in pieces:
        for call in loop.calls(piece, apart=look):
            emit(loop.keys, loop.operator.process(call))
            states.append(loop.operator.state())
        if pickled:
            loop.operator = pickle.loads(pickle.dumps(loop.operator))
    loop.finish(emit)
    return answer, states
