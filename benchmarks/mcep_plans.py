"""MCEP's plans in turn in one process: what they were expected to make, what they make, and the time that it takes.

The workload of Figure 12 with 100 patterns of five types, at the quick profile. Cells of an experiment run in processes
of their own, one after the other, and scatter by more than some plans differ.

Run by hand: python benchmarks/mcep_plans.py [stock|traffic]
"""

from __future__ import annotations

import sys
import time
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from cepbench.algorithms.detection.mcep.algorithm import Mcep, detection_workload
from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.tables import tables_of
from cepbench.algorithms.detection.mcep.planning.costs import EngineCosts
from cepbench.algorithms.detection.mcep.planning.optimizer import planned
from cepbench.algorithms.detection.mcep.planning.patterns import patterns_of
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.selectivities import known_selectivities
from cepbench.algorithms.registry import make
from cepbench.experiments.load import find, load
from cepbench.experiments.points import configuration, points
from cepbench.generators.registry import from_spec
from cepbench.pipeline.generation import generate
from cepbench.pipeline.sampling import stream_statistics
from cepbench.pipeline.store import stream_batches
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload

BATCH = 4096
REPETITIONS = 5
SPECIFICATIONS = (
    "mcep[plan=trivial]",
    "mcep[plan=sh]",
    "mcep[plan=re]",
    "mcep[plan=annealing]",
    "mcep[plan=tabu]",
    "mcep[plan=annealing, costs=executor]",
    "mcep[plan=annealing, sharing=prefix]",
    "mcep[plan=annealing, sharing=prefix, costs=executor]",
)


def expected_rows(plan: MultiPlan, costs: EngineCosts, duration: float) -> float:
    """Rows that all nodes of a plan are expected to make, each in the largest window of the patterns that share it."""
    nodes: dict[int, tuple[int, int, int]] = {}
    for pattern, local in plan.plans.items():
        for operands, node in local.places:
            if node not in local.nodes:
                continue
            window = max(plan.table[pattern].window, nodes[node][2] if node in nodes else 0)
            nodes[node] = pattern, operands, window
    return sum(
        duration / window * costs.made(plan.table.of(pattern, operands), window)
        for pattern, operands, window in nodes.values()
    )


def main() -> None:
    name = f"mcep-12-{sys.argv[1] if len(sys.argv) > 1 else 'traffic'}"
    experiment = load(find(name))
    [point] = [p for p in points(experiment) if p == {**p, **experiment.defaults}]
    inputs = configuration(experiment, point)
    with TemporaryDirectory() as folder:
        source = from_spec(inputs["stream"]["generator"], inputs["stream"]["parameters"])
        stream = generate(source, Path(folder) / "stream", spark=None, key=(), buckets=1)
        [events] = stream_batches(stream)
        statistics = stream_statistics(stream)
        workload = compile_workload(parse_workload(inputs["workload"]), events.schema, summarised=True)
        detecting = detection_workload(workload)
        patterns = patterns_of(detecting)
        selectivities = known_selectivities(patterns, statistics)
    runs = []
    for specification in SPECIFICATIONS:
        algorithm = make(specification)
        assert isinstance(algorithm, Mcep)
        plans = planned(patterns, statistics, selectivities, algorithm.planning_options(len(patterns)))
        costs = EngineCosts(plans.plan.table, statistics, selectivities)
        expected = expected_rows(plans.plan, costs, statistics.duration)
        runs.append((specification, plans.details["cost"], expected, tables_of(detecting, plans.plan)))
    print(f"{name}: {len(events):,} events, {point}\n")
    print(f"{'':52s} {'cost':>12s} {'expected rows':>14s} {'rows':>12s} {'comparisons':>12s} {'CPU time':>10s}")
    least = dict.fromkeys(SPECIFICATIONS, inf)
    counted: dict[str, dict[str, float]] = {}
    for repetition in range(REPETITIONS + 1):  # the first one compiles
        for specification, _, _, tables in runs:
            executor = DetectionExecutor(detecting, tables, {})
            begin = time.process_time()
            for first in range(0, len(events), BATCH):
                executor.process(events.slice(first, min(first + BATCH, len(events))))
            executor.finish()
            if repetition:
                least[specification] = min(least[specification], time.process_time() - begin)
            counted[specification] = dict(executor.details())
    for specification, cost, expected, _ in runs:
        rows, comparisons = counted[specification]["instances"], counted[specification]["comparisons"]
        seconds = f"{1000 * least[specification]:7.1f} ms"
        print(f"{specification:52s} {cost:12,.0f} {expected:14,.0f} {rows:12,.0f} {comparisons:12,.0f} {seconds}")


if __name__ == "__main__":
    main()
