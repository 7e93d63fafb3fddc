"""The executor's benefit model predicts the updates that the executor counts."""

import numpy as np
import pytest

from cepbench.algorithms.registry import make
from cepbench.algorithms.sequences.sharon import Sharon
from cepbench.algorithms.sequences.sharon.optimizer import ExecutorBenefit
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

PATTERNS = ("ABCDEF", "ABCDGH", "CDEFGH", "HCDEA", "GABCD", "EFGAB")
SECONDS, WINDOWS, TYPES = 300, 8, "ABCDEFGH"


def stream() -> EventBatch:
    random = np.random.default_rng(24)
    count = SECONDS * WINDOWS * 6
    time = np.sort(random.integers(0, SECONDS * WINDOWS, count))
    kind = random.integers(0, len(TYPES), count).astype(np.int32)
    position = np.arange(count)
    for array in (time, kind, position):
        array.flags.writeable = False
    return EventBatch(Schema(tuple(TYPES), (), "s", ()), time, kind, {}, position)


@pytest.mark.parametrize("slide", [SECONDS // 10, SECONDS])
@pytest.mark.parametrize("optimizer", ["none", "greedy"])
def test_prediction(optimizer: str, slide: int) -> None:
    events = stream()
    window = f"WITHIN {SECONDS} s SLIDE {slide} s"
    queries = [
        parse_query(f"q{i}: RETURN COUNT(*) PATTERN SEQ({', '.join(p)}) {window}") for i, p in enumerate(PATTERNS)
    ]
    workload = compile_workload(queries, events.schema)
    rates = dict.fromkeys(TYPES, 6 / len(TYPES))  # events per second
    sharon = make(f"sharon[optimizer={optimizer}, benefit=paper]")
    assert isinstance(sharon, Sharon)
    plan = sharon.plan(workload, Statistics(len(events), SECONDS * WINDOWS, rates))
    assert (len(plan.shared) > 0) == (optimizer != "none")

    model = ExecutorBenefit(plan.sequences, [SECONDS] * 6, rates, [SECONDS // slide] * 6)
    users = {s: candidate for candidate in plan.shared for s in candidate.sequences}
    predicted = sum(model.computation(users[s], s) if s in users else model.not_shared(s) for s in range(6))
    predicted += sum(model.pattern_cost(candidate) for candidate in plan.shared)

    executor = OneKey(sharon.operator(plan))
    executor.process(events)
    executor.finish()
    assert predicted == pytest.approx(executor.details()["updates"] / WINDOWS, rel=0.15)
