"""The queries of `engines-patterns` on engines that others wrote, beside algorithms: processor time over that of SASE.

Run by hand, where engines are installed: python benchmarks/engines.py [--profile quick] [--tries 3]

Times are those of a figure without what else runs on a machine: of this process and of those that it started, least
of the tries. Engines in a process of their own run once to get warm, and then once.
"""

from __future__ import annotations

import argparse
import time
from functools import cache

import psutil

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import ENGINES, make
from cepbench.algorithms.rows import AggregateRows, MatchRows
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.experiments.load import find, load
from cepbench.experiments.points import Cell, cells
from cepbench.generators.registry import from_spec
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload
from cepbench.verification.evaluators import OneKey

FIGURE = "engines-patterns"


@cache
def stream(generator: str, parameters: tuple[tuple[str, object], ...]) -> EventBatch:
    [events] = from_spec(generator, dict(parameters)).batches()
    return events


def elsewhere() -> float:
    """Processor seconds of the processes that this one started."""
    return sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children(recursive=True))


def seconds(algorithm: Algorithm, cell: Cell, tries: int) -> tuple[float, int] | None:
    """The processor time of a cell, and its matches; None if the algorithm refuses the query."""
    [query] = parse_workload(cell.configuration["workload"])
    if algorithm.refusal(query) is not None:
        return None
    inputs = cell.configuration["stream"]
    events = stream(inputs["generator"], tuple(inputs["parameters"].items()))
    plan = algorithm.plan(compile_workload([query], events.schema), Statistics())
    times = []
    for _ in range(1 + (1 if algorithm.starts else tries)):
        executor = OneKey(algorithm.operator(plan))
        executor.load()
        before, started = elsewhere() if algorithm.starts else 0.0, time.process_time()
        answers = [executor.process(events), executor.finish()]
        times.append(time.process_time() - started + (elsewhere() - before if algorithm.starts else 0.0))
    parts = [part for answer in answers for part in answer.values()]
    counts = [int(part.ring[:, 0].sum()) for part in parts if isinstance(part, AggregateRows)]
    matches = [len(part.offsets) - 1 for part in parts if isinstance(part, MatchRows)]
    return min(times[1:]), sum(counts) + sum(matches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[], help="engines to leave out")
    options = parser.parse_args()
    installed = [name for name in ENGINES if make(name).missing() is None and name not in options.without]
    points: dict[str, list[Cell]] = {}
    for cell in cells(load(find(FIGURE), options.profile, ["workers=1"], installed), options.profile):
        points.setdefault(str(cell.point), []).append(cell)
    for point in points.values():
        measured = {cell.algorithm: seconds(make(cell.specification), cell, options.tries) for cell in point}
        results = {name: result for name, result in measured.items() if result is not None}
        [matches] = {count for _, count in results.values()}
        base = results["sase"][0]
        others = ", ".join(f"{name} {time / base:.3g}" for name, (time, _) in sorted(results.items()) if name != "sase")
        where = ", ".join(map(str, point[0].point.values()))
        print(f"{where}: {matches:,} matches; sase {1e3 * base:.3g} ms; over it: {others}", flush=True)


if __name__ == "__main__":
    main()
