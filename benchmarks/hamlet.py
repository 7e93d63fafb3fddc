"""Hamlet: throughput of a shared workload beside GRETA and COGRA, costs by number of queries, and its decisions.

Run by hand: python benchmarks/hamlet.py [workload | queries | choice | event_choice | keys | costs | event_costs |
predicate_costs | split_cost]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from itertools import count, product
from statistics import median

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.compose import Several
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.hamlet.executor import HamletExecutor, hamlet_sets
from cepbench.algorithms.trends.hamlet.kernels.benefit import BenefitCosts
from cepbench.algorithms.trends.hamlet.plan import HamletPlan
from cepbench.algorithms.trends.hamlet.sharing import COSTS, Sharing
from cepbench.algorithms.trends.online.granularity import COARSEST, EVENT
from cepbench.algorithms.trends.snapshots.sets import Sets, operator_of_sets
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.queries.records import Records
from cepbench.verification.evaluators import OneKey

QUERIES, WINDOW, BURST = 50, 10_000, 120
SPECIFICATIONS = ("hamlet", "hamlet[sharing=static]", "hamlet[sharing=never]", "cogra")
FORCED = {"shared": {"alone": 1e18}, "apart": {"graphlet": 1e18}}
"""Costs by which dynamic decisions share all bursts, or none: both test predicates once, as all such decisions do."""
UNIT = 15e-9
"""Seconds that costs are measured in."""
ADJACENT = "WHERE B.x < NEXT(B).x"


def bursts(events: int, burst: int, kinds: int = QUERIES, seed: int = 0) -> EventBatch:
    """Bursts of about `burst` events B, each after an event of one of the types X0, X1, ...; one event per second."""
    random = np.random.default_rng(seed)
    schema = Schema(("B", *(f"X{n}" for n in range(kinds))), (Attribute("x", Kind.INT),))
    first = random.random(events) < 1 / (burst + 1)
    kind = np.where(first, random.integers(1, kinds + 1, events), 0).astype(np.int32)
    numbers = np.arange(events, dtype=np.int64)
    return EventBatch(schema, numbers, kind, {"x": random.integers(0, 1000, events)}, numbers)


def run(specification: str, queries: Sequence[str], events: EventBatch) -> tuple[float, OneKey]:
    """CPU seconds of `process` and `finish`, and the spent executor; batches are as large as in measured runs."""
    name = specification.partition("[")[0]
    algorithm = make(specification.replace(name, "hamlet") if name in FORCED else specification)
    workload = compile_workload([parse_query(f"q{n}: {text}") for n, text in enumerate(queries)], events.schema)
    plan = algorithm.plan(workload, Statistics())
    executor = OneKey(algorithm.operator(plan))
    if name in FORCED:
        assert isinstance(plan, HamletPlan)
        executor = _executor(plan, Sharing(costs=tuple(costs._replace(**FORCED[name]) for costs in COSTS)))
    started = time.process_time()
    for first in range(0, len(events), 1 << 16):
        executor.process(events.slice(first, min(first + (1 << 16), len(events))))
    executor.finish()
    return time.process_time() - started, executor


def _executor(plan: HamletPlan, sharing: Sharing) -> OneKey:
    sets = hamlet_sets(plan, sharing)
    return OneKey(operator_of_sets(plan, sets, plan.alone, plan.granularity, weighs_keys=False))


def _trace(executor: OneKey) -> Records:
    """The decisions of the only sharable set."""
    assert isinstance(executor.operator, Several)
    [sets] = [part for part in executor.operator.parts if isinstance(part, Sets)]
    [(_, per_key)] = sets.sets
    hamlet = per_key.executors[0]
    assert isinstance(hamlet, HamletExecutor)
    return hamlet.trace.newest


def best(specification: str, queries: Sequence[str], events: EventBatch, repetitions: int = 3) -> float:
    """The least time of a few runs, after one that loads the kernels."""
    run(specification, queries, events.slice(0, 1000))
    return min(run(specification, queries, events)[0] for _ in range(repetitions))


def sharing(queries: int, where: Sequence[str] = ("",)) -> list[str]:
    """SEQ(X, B+) for a type X each."""
    return [f"RETURN COUNT(*) PATTERN SEQ(X{n}, B+) {where[n % len(where)]} WITHIN {WINDOW} s" for n in range(queries)]


def workload() -> None:
    print(f"{QUERIES} queries SEQ(X, B+), {WINDOW} events per window, bursts of {BURST}")
    rates = {}
    for name, size in (("greta", WINDOW), *((name, 50 * WINDOW) for name in SPECIFICATIONS)):
        events = bursts(size, BURST)
        rates[name] = size / best(name, sharing(QUERIES), events, 1 if name == "greta" else 3)
        print(
            f"{name:<24} {rates[name]:>14,.0f} events/s {rates[name] / rates['greta']:>10.1f} times greta", flush=True
        )


def queries() -> None:
    """Static sharing of k identical queries."""
    events = bursts(20 * WINDOW, BURST)
    alone = 0.0
    for k in (1, 2, 5, 10, 20, 50):
        texts = [f"RETURN COUNT(*) PATTERN SEQ(X0, B+) WITHIN {WINDOW} s"] * k
        seconds = best("hamlet[sharing=static]", texts, events)
        alone = alone or seconds
        visits = run("hamlet[sharing=static]", texts, events)[1].details()["event_visits"]
        print(f"{k:>3} queries {seconds / alone:>6.2f} times one {visits:>12,.0f} event visits", flush=True)


def choice() -> None:
    """Dynamic against the better of the others, by burst length and by how many events only some queries match.

    Modes are timed in turn, a few rounds of them; the ratio is the median over rounds.
    """
    print(f"{'burst':>5} {'mixed':>6} {'dynamic':>9} {'static':>9} {'never':>9} {'dynamic / better':>17} {'shared':>7}")
    for burst, mixed in product((2, 5, 10, 20, 50, 120, 500), (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)):
        events = bursts(4 * WINDOW, burst)
        texts = sharing(20, ("", f"WHERE B.x >= {int(1000 * mixed)}"))
        rounds = timed_in_turn(SPECIFICATIONS[:3], texts, events, 7)
        times = [median(seconds_of) for seconds_of in zip(*rounds, strict=True)]
        better = 1 if times[1] < times[2] else 2
        details = run("hamlet", texts, events)[1].details()
        rates = [len(events) / seconds / 1e6 for seconds in times]
        print(f"{burst:>5} {mixed:>6} {rates[0]:>7.2f} M {rates[1]:>7.2f} M {rates[2]:>7.2f} M "
              f"{median(seconds_of[0] / seconds_of[better] for seconds_of in rounds):>17.2f} "
              f"{details['shared_bursts'] / details['bursts']:>7.2f}", flush=True)  # fmt: skip


def event_choice() -> None:
    """The same at event granularity; `static` where all queries match the same events, as it takes minutes otherwise.

    Half of the workloads have queries with trends from the first event on (`SEQ(X?, B+)`).
    """
    ratios = []
    for burst, where, optional in product(
        (2, 5, 10, 20, 50, 120), ("", "B.x >= 10", "B.x >= 500", ADJACENT), ("", "?")
    ):
        events = bursts(2000, burst, 20, seed=11)
        condition = where if where.startswith("WHERE") or not where else f"WHERE {where}"
        local = condition if condition == ADJACENT else ""
        texts = [
            f"RETURN COUNT(*) PATTERN SEQ(X{n}{optional}, B+) {(local, condition)[n % 2]} WITHIN 1000 s SLIDE 500 s"
            for n in range(20)
        ]
        modes = [f"hamlet[granularity={EVENT}, sharing={mode}]" for mode in ("dynamic", "never", "static")]
        rounds = timed_in_turn(modes if not where else modes[:2], texts, events, 5)
        least = np.min(rounds, axis=0)
        ratios.append(least[0] / least[1:].min())
        print(
            f"{burst:>5} {condition or 'no predicates':<28} X{optional:<1} dynamic / better {ratios[-1]:>5.2f}",
            flush=True,
        )
    print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, most {max(ratios):.2f}")


def keys() -> None:
    """Milliseconds by the number of keys, each with `size` events of 40,000 in one batch."""
    print(f"{'burst':>5} {'queries':>7} {'keys':>5} {'size':>6} {'static':>8} {'never':>8} {'dynamic':>8}")
    for burst, queries, number in product((15, 200), (5, 25, 50), (2, 10, 50, 1000)):
        events = bursts(40_000, burst * number)
        key = np.random.default_rng(1).integers(0, number, len(events))
        schema = Schema(events.schema.types, (*events.schema.attributes, Attribute("key", Kind.INT)))
        keyed = EventBatch(schema, events.time, events.type, {**events.columns, "key": key}, events.position)
        texts = [f"RETURN key, {text.removeprefix('RETURN ')} GROUP-BY key" for text in sharing(queries)]
        calls = [
            1000 * min(_seconds(f"hamlet[sharing={mode}]", texts, keyed) for _ in range(3))
            for mode in ("static", "never", "dynamic")
        ]
        numbers = " ".join(f"{value:8.1f}" for value in calls)
        print(f"{burst:5} {queries:7} {number:5} {len(events) // number:6} {numbers}")


def _seconds(specification: str, texts: Sequence[str], events: EventBatch) -> float:
    """CPU seconds of all keys, with splitting and merging."""
    prepared = prepare(
        [parse_query(text) for text in texts], make(specification), events.schema, "modular", Statistics()
    )
    started = time.process_time()
    [job] = prepared.jobs
    Loop(job, prepared.algorithm.operator(job.plan)).run([events], into(AnswerBuilder(prepared.workload)))
    return time.process_time() - started


def timed_in_turn(
    specifications: Sequence[str], queries: Sequence[str], events: EventBatch, rounds: int
) -> list[list[float]]:
    """Seconds of each specification, round by round, so that what disturbs the machine disturbs all of them."""
    for name in specifications:
        run(name, queries, events.slice(0, 1000))
    return [[run(name, queries, events)[0] for name in specifications] for _ in range(rounds)]


def costs(granularity: str = COARSEST, windows: Sequence[int] = (WINDOW,), adjacent: bool = False) -> None:
    """Fits `BenefitCosts` to times of sharing everything and nothing; perhaps with predicates on adjacent events."""
    terms, seconds = [], []
    forced = [f"{name}[granularity={granularity}]" for name in FORCED]
    cases = ((window, case) for window in windows for case in _calibrated(granularity, window, adjacent))
    for window, (texts, events, reads) in cases:
        rounds = timed_in_turn(forced, texts, events, 3)
        shared, alone = _terms(texts, events, reads, window if adjacent or granularity == EVENT else 0, adjacent)
        terms += [shared, alone]
        seconds += np.median(rounds, axis=0).tolist()
    weights = 1 / np.array(seconds)  # relative errors count
    names, relative = (
        (*BenefitCosts._fields, "besides, per event", "besides, per burst"),
        np.array(terms) * weights[:, None],
    )
    factors = np.array([*COSTS[1], 0.0, 0.0]) * UNIT * adjacent
    fitted = [not adjacent or name in ("select", "test", "coefficient") for name in names]
    factors[fitted] = _not_negative(relative[:, fitted], 1.0 - relative @ np.where(fitted, 0.0, factors))
    predicted = relative @ factors
    for name, cost in zip(names, factors, strict=True):
        print(f"{name:<20} {cost * 1e9:>8.2f} ns {cost / UNIT:>8.2f}")
    print(f"predicted / measured: {np.quantile(predicted, (0, 0.1, 0.5, 0.9, 1)).round(2).tolist()}")


def event_costs() -> None:
    """The same at event granularity."""
    costs(EVENT, (250, 1000))


def predicate_costs() -> None:
    """`select`, `test` and `coefficient`, where predicates select adjacent events, given the other costs of visits."""
    costs(COARSEST, (250, 1000), adjacent=True)


def split_cost() -> None:
    """`split`: what leaving shared graphlets takes at short bursts amid long ones, per kept event, query and window.

    That is how much longer a run takes than one that shares all bursts, less the costs of the events that are alone.
    """
    queries, within = 20, 1000
    for burst, slide in product((50, 120), (1000, 500, 250)):
        events, windows = bursts(8 * within, burst, queries), within // slide
        texts = [f"RETURN COUNT(*) PATTERN SEQ(X{n}?, B+) WITHIN {within} s SLIDE {slide} s" for n in range(queries)]
        trace = _decided(texts, events, ())[1]
        apart = np.flatnonzero((trace["size"] <= 4) & (trace["before"] > within // 4)).tolist()
        trace = _decided(texts, events, apart)[1][apart]
        more = median(_decided(texts, events, apart)[0] - _decided(texts, events, ())[0] for _ in range(15))
        alone = windows * queries * int(trace["size"].sum()) * COSTS[1].event * UNIT
        taken = windows * float((trace["splits"] * (trace["before"] - trace["size"] // 2)).sum())
        print(f"bursts of {burst:<4} {windows} windows {len(apart):>3} splits {taken:>9,.0f} events "
              f"{(more - alone) / taken * 1e9:>6.0f} ns {(more - alone) / taken / UNIT:>6.1f}", flush=True)  # fmt: skip


def _decided(texts: Sequence[str], events: EventBatch, apart: Sequence[int]) -> tuple[float, Records]:
    """CPU seconds of sharing all bursts at event granularity but those with these numbers, and the decisions."""
    number = count()

    def decide(units: int) -> list[bool]:
        return [next(number) not in apart] * units

    workload = compile_workload([parse_query(f"q{n}: {text}") for n, text in enumerate(texts)], events.schema)
    plan = make(f"hamlet[granularity={EVENT}]").plan(workload, Statistics())
    assert isinstance(plan, HamletPlan)
    executor = _executor(plan, Sharing(decide=decide, traced=len(events)))
    started = time.process_time()
    executor.process(events)
    executor.finish()
    return time.process_time() - started, _trace(executor)


def _calibrated(granularity: str, window: int, adjacent: bool) -> Iterator[tuple[list[str], EventBatch, int]]:
    """Workloads with other numbers of queries, of sums that an event reads, and of events that only half match.

    Where events are visited all queries have trends from the first event on, as events of others are not visited, and
    sharing half of the events would take minutes; all match the same ones if predicates select some of the visited.
    """
    patterns = ((2, "SEQ({}, B+)"), (4, "SEQ({}?, {}?, {}?, B+)"))
    shares = (0, 20, 100, 500)
    if adjacent or granularity == EVENT:
        patterns, shares = ((2, "SEQ({}?, B+)"), patterns[1]), shares[: 1 if adjacent else 3]
    for burst, mixed in product((5, 20, 50, 120, 500), shares):
        events = bursts(2 * window, burst)
        for queries, (reads, pattern) in product((4, 20, 50), patterns):
            where = ("", f"WHERE B.x >= {mixed}" if mixed else "") if not adjacent else (ADJACENT, ADJACENT)
            names = [[f"X{(n + more) % QUERIES}" for more in range(3)] for n in range(queries)]
            yield (
                [
                    f"RETURN COUNT(*) PATTERN {pattern.format(*name)} {where[n % 2]} WITHIN {window} s"
                    for n, name in enumerate(names)
                ],
                events,
                reads,
            )


def _terms(
    texts: Sequence[str], events: EventBatch, reads: int, visited: int, adjacent: bool
) -> tuple[list[float], list[float]]:
    """The counts of the model of `kernels.benefit` for half of the queries matching all events, the others some.

    Of sharing all, and of sharing nothing; in the order of `BenefitCosts`. Windows of length `visited` have their
    events visited; with 0, none is.
    """
    executor = run("hamlet[trace=1000000]", texts, events)[1]
    trace = _trace(executor)
    size, mixed = trace["size"], trace["mixed"]
    k, b = float(len(texts)), float(len(size))
    propagated = 1 + 0.5 * mixed
    work = (size - mixed / 2) * k
    matched, products = float(work.sum()), float((mixed / 2 * propagated).sum()) * k
    created = k * float(mixed.sum())
    shared = [k * reads * b, 0.0, float((size * propagated).sum()), k * b, 0.0, created, products, *[0.0] * 5]
    alone = [matched * reads, matched, 0.0, 0.0, k * b, *[0.0] * 7]
    if visited:
        before = (np.cumsum(size) - size) % visited
        snapshots = (np.cumsum(1 + mixed) - 1 - mixed) % (float((1 + mixed).sum()) * visited / len(events))
        visits = before + size / 2
        if adjacent:
            alone[7] = float((work * visits).sum())
            shared[2] = float((size * (1 + snapshots)).sum())
            shared[8:10] = float((size * visits).sum()), float((size * visits * (1 + snapshots)).sum())
        else:
            alone[10] = float((work * visits).sum())
            shared[6] += k * float(snapshots.sum())
            shared[10] = float((size * size / 2 * propagated + k * before).sum())
    return [*shared, float(len(events)), b], [*alone, float(len(events)), b]


def _not_negative(terms: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least squares, without the terms that would be negative."""
    kept = list(range(terms.shape[1]))
    while True:
        factors = np.linalg.lstsq(terms[:, kept], values, rcond=None)[0]
        if factors.min() >= 0:
            whole = np.zeros(terms.shape[1])
            whole[kept] = factors
            return whole
        del kept[int(factors.argmin())]


if __name__ == "__main__":
    parts = {
        "workload": workload,
        "queries": queries,
        "choice": choice,
        "keys": keys,
        "event_choice": event_choice,
        "costs": costs,
        "event_costs": event_costs,
        "predicate_costs": predicate_costs,
        "split_cost": split_cost,
    }
    for name in sys.argv[1:] or ("workload", "queries", "choice"):
        parts[name]()
