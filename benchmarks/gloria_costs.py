"""Fits the costs of Gloria's executor, and of lanes (`algorithms/trends/gloria/optimizer/costs.py`).

Microseconds per event of plans of some workloads, and of the same by COGRA; costs that are not negative, by least
squares of relative errors. Prints the costs in the order of `NAMES` and `LANES`, and how far what they predict is off.

Run by hand: python benchmarks/gloria_costs.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from random import Random

import gloria
import numpy as np
from scipy.optimize import nnls

from cepbench.algorithms.base import Executor
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.gloria.optimizer import costs
from cepbench.algorithms.trends.gloria.optimizer.elimination import SearchLimits
from cepbench.algorithms.trends.gloria.optimizer.graph import GloriaGraph
from cepbench.algorithms.trends.gloria.optimizer.nodes import Node
from cepbench.algorithms.trends.gloria.optimizer.optimizer import Construction, _searched, plan_of
from cepbench.algorithms.trends.gloria.optimizer.pools import Pools, pools_of
from cepbench.algorithms.trends.gloria.plan import GloriaPlan, PlannedSet
from cepbench.algorithms.trends.gloria.template import states_of, template_of
from cepbench.algorithms.trends.snapshots.members import members_of
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

NAMES = ("EVENT", "WINDOW", "EXPRESSION", "COEFFICIENT", "EVALUATED", "VALUE", "TERM", "SET", "CLOSING")
LANES = ("LANE", "LANE_EVENT", "LANE_WINDOW")
EVENTS, RATE, DRAWS = 40_000, 1 / len(gloria.TYPES), 3
PATTERNS = (
    lambda n: f"SEQ(F{n % 10}, C0, C1, C2, C3, B{n // 10 % 10})",
    lambda n: f"SEQ(F{n % 10}, (SEQ(C0, C1))+, B{n // 10 % 10})",
    lambda n: f"SEQ(C0, C1+, C2, B{n % 10})",
)
WINDOWS = ((240, 240), (4000, 4000), (240, 30), (1600, 100))


def workloads() -> Iterator[list[str]]:
    for pattern in PATTERNS:
        for queries in (5, 20, 100):
            for within, slide in WINDOWS:
                window = f"WITHIN {within} s SLIDE {slide} s"
                yield [f"q{n}: RETURN COUNT(*) PATTERN {pattern(n)} {window}" for n in range(queries)]


def microseconds(executors: Sequence[Executor], events: EventBatch) -> float:
    """Of an event, the least of some runs."""
    taken = []
    for executor in executors:
        started = time.process_time()
        executor.process(events)
        executor.finish()
        taken.append(time.process_time() - started)
    return 1e6 * min(taken) / len(events)


def set_costs(values: Sequence[float]) -> None:
    for name, value in zip(NAMES, values, strict=False):
        setattr(costs, name, value)


def plan_weight(pools: Pools, nodes: Sequence[Node], executor: costs.ExecutorCosts) -> float:
    """The weight of a plan of each pool: that of the only path of a graph."""
    graph = GloriaGraph()
    for pool, node in zip(pools.pools, nodes, strict=True):
        graph.enter(pool, [node], [graph.leave(pair, executor) for pair in pool.before], executor)
    return graph.weight([0] * len(nodes))


def fit(rows: Sequence[Sequence[float]], taken: Sequence[float], names: Sequence[str]) -> None:
    array, wanted = np.array(rows), np.array(taken)
    factors, _ = nnls(array / wanted[:, None], np.ones(len(wanted)))
    off = array @ factors / wanted
    print({name: round(float(value), 5) for name, value in zip(names, factors, strict=True)})
    print(f"  predicted: {off.min():.2f} to {off.max():.2f} times what {len(wanted)} runs took", flush=True)


def main() -> None:
    events, random = gloria.uniform(EVENTS), Random(1)
    present = [getattr(costs, name) for name in NAMES]
    shared, shared_taken, lanes, lanes_taken = [], [], [], []
    for texts in workloads():
        workload = compile_workload([parse_query(text) for text in texts], events.schema)
        members = tuple(members_of(workload))
        template = template_of(members)
        pools = pools_of(template)
        windows = [float(member.window.within) for member in members]
        overlaps = [member.window.overlap for member in members]
        closings = [1 / member.window.slide for member in members]
        rates = [RATE] * len(pools.states), windows, overlaps, closings
        plans: list[list[Node]] = [[() for _ in pools.pools]]
        for draw in range(DRAWS):
            set_costs([value * math.exp(random.gauss(0, 1.5) if draw else 0.0) for value in present])
            construction = Construction(pools, costs.ExecutorCosts(*rates), SearchLimits(10.0), "gloria")
            graph = construction.graph()
            chosen = _searched(graph, construction)
            nodes = [here.nodes[n] for here, n in zip(graph.pools, chosen, strict=True)]
            plans += [nodes] if nodes not in plans else []
        for nodes in plans:
            row = []
            for k in range(len(NAMES) - 2):
                set_costs([float(k == n) for n in range(len(NAMES) - 2)])
                row.append(plan_weight(pools, nodes, costs.ExecutorCosts(*rates)))
            plan = GloriaPlan(workload, (PlannedSet(members, plan_of(pools, nodes)),))
            shared.append([*row, 1.0, sum(closings)])
            shared_taken.append(microseconds([gloria.of_plan(plan) for _ in range(3)], events))
        cogra = make("cogra")
        plan_of_cogra = cogra.plan(workload, Statistics())
        matched = [len(states_of(member)) * RATE for member in members]
        lanes.append(
            [len(members), sum(matched), sum(matches * o for matches, o in zip(matched, overlaps, strict=True))]
        )
        lanes_taken.append(microseconds([OneKey(cogra.operator(plan_of_cogra)) for _ in range(3)], events))
    fit(shared, shared_taken, NAMES)
    fit(lanes, lanes_taken, LANES)


if __name__ == "__main__":
    main()
