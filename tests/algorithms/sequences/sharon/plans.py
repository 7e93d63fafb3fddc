"""Sharing plans that are written down, and whether their answers are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cepbench.algorithms.oracle import answer
from cepbench.algorithms.sequences.plan import Candidate, SharingPlan
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload
from cepbench.verification.agreement import difference
from tests.algorithms.sequences.sharon.random_plans import WorkloadCase, answers, beside_negation, empty_plan
from tests.contract.streams import batch

LIMIT = 20_000


def case_of(texts: Sequence[str], events: Sequence[Mapping[str, Any]], cuts: tuple[int, ...] = ()) -> WorkloadCase:
    """Queries on a stream; where it is cut, executors are pickled."""
    return WorkloadCase(parse_workload("\n\n".join(texts)), tuple(events), cuts, bool(cuts), False)


def plan_for(case: WorkloadCase, *patterns: str, arithmetic: str = "modular") -> SharingPlan:
    """The plan that shares patterns of one-letter types: the first occurrence in every sequence that has them, except

    beside a negated type.
    """
    plan = empty_plan(compile_workload(case.queries, batch(case.events).schema, arithmetic))
    shared = []
    for pattern in patterns:
        occurrences = []
        for index, sequence in enumerate(plan.sequences):
            offset = "".join(symbol.type for symbol in sequence.symbols).find(pattern)
            if offset >= 0 and not beside_negation(sequence, offset, offset + len(pattern)):
                occurrences.append((index, offset))
        index, offset = occurrences[0]
        symbols = plan.sequences[index].symbols[offset : offset + len(pattern)]
        shared.append(Candidate(symbols, tuple(occurrences)))
    return replace(plan, shared=tuple(shared))


def wrong(
    case: WorkloadCase, plan: SharingPlan, expected: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> str | None:
    """The difference of a plan's answer from expected rows by query, or from the oracle's; or None."""
    frame = answers(plan, batch(case.events), case)
    for query in case.queries:
        rows = answer(query, case.events, modular=True, limit=LIMIT) if expected is None else expected[str(query.name)]
        names = list(rows[0]) if rows else ["query"]
        found = frame[frame["query"] == query.name][names].reset_index(drop=True)
        reason = difference(rows, found)
        if reason is not None:
            return f"{query.name}: {reason}"
    return None
