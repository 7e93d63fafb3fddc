"""Gloria's executor: throughput of plans that share, or do not, beside GRETA and COGRA, in one run.

Run by hand: python benchmarks/gloria.py [sequences | kleene]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

import numpy as np

from cepbench.algorithms.base import Executor
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.gloria.executor import gloria_sets
from cepbench.algorithms.trends.gloria.plan import GloriaPlan, PlannedSet, QSet, TransitionPlan, WorkloadSharingPlan
from cepbench.algorithms.trends.gloria.template import GloriaTemplate, TypeTransition, template_of
from cepbench.algorithms.trends.snapshots.members import SetMember, members_of
from cepbench.algorithms.trends.snapshots.sets import operator_of_sets
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

QUERIES, FRONT, BACK = 100, 10, 10
CORE = ("C0", "C1", "C2", "C3")
TYPES = (*CORE, *(f"F{n}" for n in range(FRONT)), *(f"B{n}" for n in range(BACK)))
BATCH = 1 << 16


def sequences(window: int) -> list[str]:
    """SEQ of four types that all queries have in common, between two that a tenth of them have."""
    return [
        f"RETURN COUNT(*) PATTERN SEQ(F{n % FRONT}, {', '.join(CORE)}, B{n // FRONT % BACK}) WITHIN {window} s"
        for n in range(QUERIES)
    ]


def kleene(window: int) -> list[str]:
    """A loop over two types that all queries have in common, between the others."""
    return [
        f"RETURN COUNT(*) PATTERN SEQ(F{n % FRONT}, (SEQ(C0, C1))+, B{n // FRONT % BACK}) WITHIN {window} s"
        for n in range(QUERIES)
    ]


def uniform(events: int, seed: int = 0) -> EventBatch:
    """Events of random types, one per second."""
    random = np.random.default_rng(seed)
    schema = Schema(TYPES, (Attribute("x", Kind.INT),))
    numbers = np.arange(events, dtype=np.int64)
    kinds = random.integers(0, len(TYPES), events).astype(np.int32)
    return EventBatch(schema, numbers, kinds, {"x": random.integers(0, 1000, events)}, numbers)


def unshared(template: GloriaTemplate) -> WorkloadSharingPlan:
    """No queries share anything."""
    transitions = template.transitions.items()
    return WorkloadSharingPlan({t: tuple(QSet(frozenset({m})) for m in members) for t, members in transitions})


def together(template: GloriaTemplate, *, reusing: bool) -> WorkloadSharingPlan:
    """All queries share all transitions that several have: by new snapshots of each state, or old ones if they can."""
    plans: dict[TypeTransition, TransitionPlan] = dict(unshared(template).transitions)
    for transition, members in template.transitions.items():
        free = members - template.alone.get(transition, frozenset())
        if len(free) > 1:
            rest = tuple(QSet(frozenset({m})) for m in members - free)
            plans[transition] = (QSet(free, transition.source), *rest)
    changed = reusing
    while changed:
        changed = False
        for transition, [q, *rest] in plans.items():
            for old in _reaching(transition, plans):
                alike = QSet(q.members, old.snapshot)
                if q.snapshot == transition.source != old.snapshot and _whole(alike, transition, plans, template):
                    plans[transition] = (alike, *rest)
                    changed = True
                    break
    return WorkloadSharingPlan(plans)


def _whole(
    q: QSet, after: TypeTransition, plans: dict[TypeTransition, TransitionPlan], template: GloriaTemplate
) -> bool:
    """Whether a Q-set that does not start there comes to a transition by all transitions before it."""
    before = [t for t, members in template.transitions.items() if t.target == after.source and members & q.members]
    starting = q.members & template.start.get(after.source, frozenset())
    return bool(before) and not starting and all(q in plans[t] for t in before)


def _reaching(transition: TypeTransition, plans: dict[TypeTransition, TransitionPlan]) -> Iterable[QSet]:
    return [q for t, q_sets in plans.items() if t.target == transition.source for q in q_sets if q.snapshot]


def looping(template: GloriaTemplate) -> WorkloadSharingPlan:
    """As `together`, with the loop's snapshots of C0 going round it."""
    plans = dict(together(template, reusing=False).transitions)
    for transition, (q, *_) in plans.items():
        if transition.source.type == "C0":
            local = q
    for transition, (q, *rest) in plans.items():
        if transition.source.type == "C1" and q.members == local.members:
            plans[transition] = (local, *rest)
    return WorkloadSharingPlan(plans)


def executor_of(name: str, workload: Workload) -> Executor:
    """The executor of an algorithm, or Gloria's with a plan of that name."""
    plans = {
        "unshared": unshared,
        "local": lambda t: together(t, reusing=False),
        "reusing": lambda t: together(t, reusing=True),
        "looping": looping,
    }
    if name not in plans:
        algorithm = make(name)
        return OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    members: tuple[SetMember, ...] = tuple(members_of(workload))
    template = template_of(members)
    return of_plan(GloriaPlan(workload, sets=(PlannedSet(members, plans[name](template)),)))


def of_plan(plan: GloriaPlan) -> Executor:
    """An executor of a sharing plan."""
    return OneKey(operator_of_sets(plan, gloria_sets(plan), plan.alone, plan.granularity, weighs_keys=False))


def seconds(name: str, queries: Sequence[str], events: EventBatch) -> tuple[float, Executor]:
    """CPU seconds of `process` and `finish`, and the spent executor."""
    workload = compile_workload([parse_query(f"q{n}: {text}") for n, text in enumerate(queries)], events.schema)
    executor = executor_of(name, workload)
    started = time.process_time()
    for first in range(0, len(events), BATCH):
        executor.process(events.slice(first, min(first + BATCH, len(events))))
    executor.finish()
    return time.process_time() - started, executor


def compare(title: str, queries: Sequence[str], names: Sequence[str], size: int) -> None:
    events, slow = uniform(size), uniform(size // 20)
    print(title)
    base = 0.0
    for name in names:
        stream = slow if name == "greta" else events
        seconds(name, queries, stream.slice(0, 2000))
        taken, executor = min((seconds(name, queries, stream) for _ in range(3)), key=lambda timed: timed[0])
        rate = len(stream) / taken
        base = base or rate
        details = {key: round(value / len(stream), 2) for key, value in executor.details().items()}
        print(f"  {name:<10} {rate:>12,.0f} events/s {rate / base:>8.2f} times {names[0]}  {details}", flush=True)


def main(chosen: Sequence[str]) -> None:
    for window in (240, 1000, 4000):
        if "sequences" in chosen:
            names = ("unshared", "local", "reusing", "cogra", "greta")
            compare(f"{QUERIES} sequences of 6 types, {window} events per window", sequences(window), names, 400_000)
        if "kleene" in chosen:
            names = ("unshared", "local", "looping", "cogra", "greta")
            compare(f"{QUERIES} loops of 2 types, {window} events per window", kleene(window), names, 400_000)


if __name__ == "__main__":
    main(sys.argv[1:] or ("sequences", "kleene"))
