"""Sharing against granularity: processor time of Hamlet's and Gloria's modes beside COGRA's, or GRETA's.

On workloads of figures, each at its hardest point of profile `quick`; modes are timed in turn, a few rounds of them.

Run by hand: python benchmarks/sharing.py [coarsest | event] [FIGURE ...]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from statistics import median

from cepbench.algorithms.base import KeyedBatch
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import statistics_of
from cepbench.experiments.load import find, load
from cepbench.experiments.points import configuration, points
from cepbench.generators.registry import from_spec
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload

FIGURES = ("hamlet-9", "hamlet-11-home", "hamlet-12", "gloria-14-bus")
MODES = {
    "coarsest": (
        "cogra",
        "hamlet[sharing=never]",
        "gloria[optimizer=none]",
        "hamlet",
        "hamlet[sharing=static]",
        "gloria",
    ),
    "event": (
        "greta",
        "hamlet[sharing=never, granularity=event]",
        "gloria[optimizer=none, granularity=event]",
        "hamlet[granularity=event]",
        "gloria[granularity=event]",
    ),
}
ROUNDS, LEAST = 5, 0.2


def hardest(figure: str) -> tuple[EventBatch, str]:
    """The stream and the workload of a figure where it has the most events, then the most queries."""
    experiment = load(find(figure))
    point = max(points(experiment), key=lambda p: (p.get("events", 0), p.get("queries", 0)))
    inputs = configuration(experiment, point)
    [events] = from_spec(inputs["stream"]["generator"], inputs["stream"]["parameters"]).batches()
    print(f"{figure} at {point}", flush=True)
    return events, inputs["workload"]


def seconds(specification: str, text: str, events: EventBatch, least: float) -> float:
    """Processor seconds of one run, over as many as take `least` seconds."""
    algorithm = make(specification)
    workload = compile_workload(parse_workload(text), events.schema)
    counts = {name: int((events.type == code).sum()) for code, name in enumerate(events.schema.types)}
    plan = algorithm.plan(workload, statistics_of(counts, int(events.time[0]), int(events.time[-1])))
    spent, runs = 0.0, 0
    while spent < least or runs == 0:
        operator = algorithm.operator(plan)
        started = time.process_time()
        operator.process(KeyedBatch.of_one_key(events))
        operator.finish()
        spent += time.process_time() - started
        runs += 1
    return spent / runs


def main(granularity: str, figures: Sequence[str]) -> None:
    for figure in figures:
        events, text = hardest(figure)
        specifications = MODES[granularity]
        for specification in specifications:
            seconds(specification, text, events.slice(0, min(len(events), 2000)), 0.0)  # loads the kernels
        rounds = [
            [seconds(specification, text, events, LEAST) for specification in specifications] for _ in range(ROUNDS)
        ]
        for n, specification in enumerate(specifications):
            ratio = median(times[n] / times[0] for times in rounds)
            taken = 1e3 * median(times[n] for times in rounds)
            print(f"  {specification:<44} {taken:>9.2f} ms {ratio:>7.2f} times {specifications[0]}", flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1:]
    wanted = chosen.pop(0) if chosen and chosen[0] in MODES else "coarsest"
    main(wanted, chosen or FIGURES)
