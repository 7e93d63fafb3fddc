"""The oracle decides which of several algorithms are right, on the first events on which an answer is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.oracle import CannotTally, answer, plain_events, tally
from cepbench.algorithms.plugins import described
from cepbench.events.batch import EventBatch
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkLost, ForkTooLong
from cepbench.queries.model import Query
from cepbench.verification.agreement import LIMIT, case_difference
from cepbench.verification.evaluators import answer_of
from cepbench.verification.random_cases import Case, Rows

SMALLEST = 8
"""Events of the first prefix; each prefix has twice as many as the one before."""
MOST = 1 << 14
"""Events of the longest prefix."""
SECONDS = 10.0


@dataclass(frozen=True)
class Arbitration:
    """On the first `events`, the algorithms in `wrong` differ from the oracle, in this way; the others do not."""

    events: int = 0
    wrong: Mapping[str, str] = field(default_factory=dict)


def arbitrated(
    queries: Sequence[Query], batch: EventBatch, algorithms: Mapping[str, Algorithm], arithmetic: str, memory: int
) -> Arbitration:
    """Compares algorithms with the oracle on growing prefixes of `batch`, until one differs or `SECONDS` have passed.

    This happens in a fork, which may use `memory` bytes: the oracle is slow, and an algorithm may not end.
    """

    def work(clock: Clock) -> None:
        with clock, suppress(Exception):  # too many matches for the oracle, or too little memory
            size = SMALLEST
            while True:
                events = min(size, len(batch))
                wrong = _differing(queries, batch.slice(0, events), algorithms, arithmetic)
                clock.note(Arbitration(events, wrong))
                if wrong or events in (len(batch), MOST):
                    return
                size *= 2

    with Fork(work, memory) as fork, suppress(ForkTooLong, ForkDied, ForkLost):
        fork.result(SECONDS, together=True)
    return fork.notes[-1] if fork.notes else Arbitration()


def _differing(
    queries: Sequence[Query], batch: EventBatch, algorithms: Mapping[str, Algorithm], arithmetic: str
) -> dict[str, str]:
    """The differences of the answers of algorithms from the oracle's, by name; those without one are left out."""
    schema = replace(batch.schema, zone=None)  # times of windows as numbers
    plain = replace(batch, schema=schema)
    case = Case(0, tuple(queries), tuple(plain_events(plain)))
    expected = [_expected(query, case, schema.time_unit, arithmetic == "modular") for query in queries]
    wrong = {}
    for name, algorithm in algorithms.items():
        try:
            reason = case_difference(case, expected, answer_of(algorithm, queries, [plain], arithmetic).frame())
        except Exception as error:
            reason = described(error)
        if reason is not None:
            wrong[name] = reason
    return wrong


def _expected(query: Query, case: Case, time_unit: str, modular: bool) -> Rows:
    with suppress(CannotTally):
        return tally(query, case.events, time_unit, modular=modular)
    return answer(query, case.events, time_unit, modular=modular, limit=LIMIT)
