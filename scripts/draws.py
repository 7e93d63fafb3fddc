"""Draws of MCEP's workloads that every plan can detect: `python scripts/draws.py FIGURE [DRAWS]`.

A draw is feasible if the trivial plan, which creates the most instances, is expected to create at most `MOST_ROWS` of
them at every size of its figure that is drawn often, and if there are at least `LEAST_MATCHES` matches at one of these
sizes. Otherwise the next seed is drawn instead. The expectation is that of the engine's cost model, so that no limit of
a machine decides; matches are counted, by the plan of RE, since few events can be in most of them. The figures list the
draws that this prints, and say how many were drawn again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from itertools import count
from math import fsum
from typing import Any

from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.tables import tables_of
from cepbench.algorithms.detection.mcep.planning.baselines import unshared
from cepbench.algorithms.detection.mcep.planning.costs import EngineCosts
from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, patterns_of
from cepbench.algorithms.detection.mcep.planning.selectivities import known_selectivities
from cepbench.algorithms.rows import MatchDigests, Rows
from cepbench.events.files import InputEvents
from cepbench.experiments.load import find, load
from cepbench.experiments.points import configuration, points
from cepbench.generators.registry import from_spec
from cepbench.pipeline.sampling import input_statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload

DRAWS = 30
MOST_ROWS = 2e7
LEAST_MATCHES = 100
PROFILE = "headline"
BATCH = 4096


class TrivialPlan:
    """The trivial plan of the workload of a cell: the instances that it is expected to create, and its matches."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        [self.batch] = from_spec(inputs["stream"]["generator"], inputs["stream"]["parameters"]).batches()
        events = InputEvents(self.batch.schema, self.batch, {}, self.batch.position, (("stream", len(self.batch)),))
        self.statistics = input_statistics(events)
        self.workload = compile_workload(parse_workload(inputs["workload"]), self.batch.schema, summarised=True)
        self.patterns = patterns_of(self.workload)
        selectivities = known_selectivities(self.patterns, self.statistics)
        self.costs = EngineCosts(SubPatternTable(self.patterns), self.statistics, selectivities)

    def rows(self) -> float:
        """The expected instances on the whole stream."""
        plan, expected = unshared(self.costs, range(len(self.patterns)), "trees", reordered=False), 0.0
        for number, local in plan.plans.items():
            pattern = self.patterns[number]
            length = len(self.batch) if pattern.scope.counts_events else self.statistics.duration
            instances = (self.costs.made(plan.table.of(number, mask), pattern.window) for mask, _ in local.places)
            expected += length / pattern.window * fsum(instances)
        return expected

    def matches(self) -> int:
        """The number of matches, by the plan of RE, which has the same."""
        plan = unshared(self.costs, range(len(self.patterns)), "trees", reordered=True)
        executor, number = DetectionExecutor(self.workload, tables_of(self.workload, plan), {}), 0
        for first in range(0, len(self.batch), BATCH):
            number += counted(executor.process(self.batch.slice(first, min(first + BATCH, len(self.batch)))))
        return number + counted(executor.finish())


def counted(rows: Rows) -> int:
    """The number of matches in some rows."""
    return sum(int(part.matches.sum()) for part in rows.values() if isinstance(part, MatchDigests))


def main() -> None:
    """Prints the numbers of each draw, and the list of the feasible ones."""
    name, wanted = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else DRAWS
    experiment = load(find(name), PROFILE)
    detecting = [point for point in points(experiment) if point.get("detect") != "plan"]
    by_size: dict[str, list[dict[str, Any]]] = {}
    for point in detecting:
        by_size.setdefault(json.dumps({**point, "draw": 0}), []).append(point)
    most_draws = max(map(len, by_size.values()))
    sizes = [drawn[0] for drawn in by_size.values() if len(drawn) == most_draws]
    feasible: list[int] = []
    for draw in count(1):
        plans = [TrivialPlan(configuration(experiment, {**point, "draw": draw})) for point in sizes]
        rows, matches = [plan.rows() for plan in plans], 0
        if max(rows) <= MOST_ROWS:
            matches = next((number for plan in plans if (number := plan.matches()) >= LEAST_MATCHES), 0)
        is_feasible = matches >= LEAST_MATCHES
        verdict = "" if is_feasible else "drawn again"
        print(f"{draw:3d} {verdict:12s}{max(rows):14,.0f} rows {matches:12,} matches", flush=True)
        feasible += [draw] * is_feasible
        if len(feasible) == wanted:
            break
    print(f"{name}: {len(feasible)} draws at {len(sizes)} sizes, {draw - len(feasible)} drawn again\n{feasible}")


if __name__ == "__main__":
    main()
