"""SPASS against SASE, A-Seq and Sharon on the same small streams: sequences per second, and ratios of CPU times.

Queries of five types share the sub-sequence of their first types; there is one window. Two-step systems construct every
sequence, so their time grows with the number of matches; the online ones count them.

Run by hand: python benchmarks/spass.py
"""

from __future__ import annotations

import time

import numpy as np

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor
from cepbench.algorithms.registry import ALGORITHMS, make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

TYPES = "ABCDEFGHIJ"
QUERIES = 6
CASES = [
    ("COUNT(*)", "COUNT(*)", "SEQ(A, B, C, D, {last})"),
    ("COUNT(*), equal queries", "COUNT(*)", "SEQ(A, B, C, D, E)"),
    ("COUNT, SUM, MIN", "COUNT(A), SUM(A.x), MIN(C.x)", "SEQ(A, B, C, D, {last})"),
]
EVENTS = (250, 500, 750)
COMPARED = ("sase", "spass", "aseq", "sharon")
REPETITIONS = 3


def uniform_stream(size: int) -> EventBatch:
    """Events of ten types at distinct times."""
    random = np.random.default_rng(1)
    schema = Schema(tuple(TYPES), (Attribute("x", Kind.FLOAT),))
    return EventBatch(
        schema,
        np.arange(size, dtype=np.int64),
        random.integers(0, len(TYPES), size).astype(np.int32),
        {"x": np.floor(random.random(size) * 100)},
        np.arange(size, dtype=np.int64),
    )


def run(name: str, queries: list[str], events: EventBatch) -> tuple[float, Executor, AnswerBuilder]:
    """CPU seconds of one evaluation in one batch, without the plan."""
    workload = compile_workload([parse_query(query) for query in queries], events.schema)
    algorithm = make(name)
    plan = algorithm.plan(workload, Statistics(len(events), len(events), dict.fromkeys(TYPES, 1 / len(TYPES))))
    executor = OneKey(algorithm.operator(plan))
    begin = time.process_time()
    rows = [executor.process(events), executor.finish()]
    seconds = time.process_time() - begin
    answer = AnswerBuilder(workload)
    for found in rows:
        for query, aggregates in found.items():
            answer.add(query, (), aggregates)
    return seconds, executor, answer


def main() -> None:
    names = [name for name in COMPARED if name in {algorithm.name for algorithm in ALGORITHMS}]
    print(f"{'aggregates':<24} {'events':>6} {'M matches':>9} {'M/s':>6}", *(f"{f'{n} s':>10}" for n in names), end=" ")
    print(*(f"{f'{n}/spass':>12}" for n in names if n != "spass"))
    for label, returns, pattern in CASES:
        last = TYPES[4 : 4 + QUERIES]
        queries = [f"q{i}: RETURN {returns} PATTERN {pattern.format(last=t)}" for i, t in enumerate(last)]
        for size in EVENTS:
            events = uniform_stream(size)
            answers = {name: run(name, queries, events)[2].digest() for name in names}  # compiles, too
            assert len(set(answers.values())) == 1, answers
            least = {name: min(run(name, queries, events)[0] for _ in range(REPETITIONS)) for name in names}
            joined = run("spass", queries, events)[1].details()["joined"]
            ratios = (f"{least[name] / least['spass']:>12.4f}" for name in names if name != "spass")
            seconds = (f"{least[name]:>10.5f}" for name in names)
            rate = joined / least["spass"] / 1e6
            print(f"{label:<24} {size:>6} {joined / 1e6:>9.2f} {rate:>6.0f}", *seconds, *ratios, flush=True)


if __name__ == "__main__":
    main()
