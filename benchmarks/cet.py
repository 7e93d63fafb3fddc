"""CET's detectors and SASE on groups of three simultaneous events: trends per second, counted and digested.

Then what Table 5.1 plans beside what is counted. Run by hand: python benchmarks/cet.py [groups]
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

from cepbench.algorithms.base import Executor
from cepbench.algorithms.compose import WHOLE_STREAM
from cepbench.algorithms.construction.cet.detectors import MemoryLimit, MemoryOptimized
from cepbench.algorithms.construction.cet.executor import CetExecutor
from cepbench.algorithms.construction.cet.graph import CetGraph, window_bytes
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.stored import PER_VERTEX
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import MatchDigests
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from streams import random_stream

QUERY = "RETURN COMPLETE MATCHES PATTERN A+"
DETECTORS = {
    "SASE": "sase",
    "M-CET": "cet[detect=memory]",
    "T-CET": "cet[detect=time, memory=4GiB]",
    "H-CET, 64 MiB": "cet[memory=64MiB]",
    "H-CET, 1 MiB": "cet[memory=1MiB]",
    "H-CET, 40 KiB": "cet[memory=40KiB]",
    "H-CET, as many as groups": "cet[graphlets={}, memory=64MiB]",
}
BASELINE = ("BL, 7 groups", "cet[detect=baseline]")
GRAPHLETS = (1, 2, 3, 7, 14)
WINDOWS = 4


def main() -> None:
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else 14
    compare_detectors(groups)
    compare_costs(groups)


def compare_detectors(groups: int) -> None:
    """Each detector's rate in the fastest of some windows, with graph and partitioning; all answers must agree.

    The first window, in which fresh memory is touched, counts like the others.
    """
    events = random_stream(WINDOWS * 3 * groups, types=1, simultaneous=3)
    slowest, answer = None, None
    print(f"{'detector':<26} {'trends':>8} {'M trends/s':>10} {'by SASE':>8} {'state, MB':>10}")
    for name, specification in DETECTORS.items():
        size, seconds, windows = detect_windows(specification.format(groups), events, groups)
        assert answer in (None, windows), name
        answer, slowest = windows, slowest or seconds
        rate = windows[0][0] / seconds / 1e6
        print(f"{name:<26} {windows[0][0]:>8} {rate:>10.2f} {slowest / seconds:>8.1f} {size / 1e6:>10.3f}", flush=True)
    name, specification = BASELINE
    size, seconds, windows = detect_windows(specification, events.slice(0, 2 * 21), 7)
    rate = windows[0][0] / seconds / 1e6
    print(f"{name:<26} {windows[0][0]:>8} {rate:>10.4f} {'':>8} {size / 1e6:>10.3f}")


def detect_windows(specification: str, events: EventBatch, groups: int) -> tuple[int, float, list[tuple[int, int]]]:
    """The largest state in bytes, the seconds of the fastest window, and the trends and digest of each window."""
    size, seconds, windows = 0, [], []
    for _ in range(2):  # the first run loads kernels
        executor, windows = start(specification, events, f"{QUERY} WITHIN {groups} s"), []
        for first in range(0, len(events), 3 * groups):
            last = first + 3 * groups
            closed = int(events.time[first]) + groups
            began = perf_counter()
            [rows] = executor.process(events.slice(first, last, watermark=closed)).values()
            seconds.append(perf_counter() - began)
            size = max(size, executor.state().bytes)
            assert isinstance(rows, MatchDigests)
            windows.append((int(rows.matches[0]), int(rows.digest[0])))
    return size, min(seconds), windows


def compare_costs(groups: int) -> None:
    """Plans of equal graphlets: operations and bytes as Table 5.1 counts them, and as they were in detection."""
    events = random_stream(3 * groups, types=1, simultaneous=3)
    graph = graph_of(events)
    live = graph.live()
    held = graph.bytes + window_bytes(live) + PER_VERTEX * len(live.time)
    print(f"\n{'graphlets':>9} {'traversals':>10} {'updates':>9} {'planned':>9} {'counted':>8} {'planned, MB':>12} "
          f"{'stored, MB':>11}")  # fmt: skip
    for number in filter(lambda number: groups % number == 0, GRAPHLETS):
        executor, size, _ = detect(f"cet[graphlets={number}, memory=4GiB]", events)
        costs = Costs(live).cost(np.arange(number + 1) * (3 * groups // number))
        done, stored = executor.details(), size - held
        counted = (done["traversals"] + done["updates"]) / costs.cpu
        print(f"{number:>9} {done['traversals']:>10.0f} {done['updates']:>9.0f} {costs.cpu:>9.0f} {counted:>8.2f} "
              f"{costs.bytes / 1e6:>12.6f} {stored / 1e6:>11.6f}", flush=True)  # fmt: skip


def graph_of(events: EventBatch) -> CetGraph:
    """The graph of the whole stream."""
    [query] = compile_workload([parse_query(QUERY)], events.schema, summarised=True)
    detector = MemoryOptimized(MemoryLimit(4 << 30), summarised=True)
    executor = CetExecutor(query, query.parts[0], WHOLE_STREAM, detector)
    executor.process(events)
    return executor.graph


def start(specification: str, events: EventBatch, query: str = QUERY) -> Executor:
    """An executor that counts and digests matches."""
    algorithm = make(specification)
    workload = compile_workload([parse_query(query)], events.schema, summarised=True)
    return OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))


def detect(specification: str, events: EventBatch) -> tuple[Executor, int, MatchDigests]:
    """The spent executor, the largest state in bytes, and the number and digest of all complete trends."""
    executor = start(specification, events)
    executor.process(events)
    before = executor.state().bytes
    [rows] = executor.finish().values()
    assert isinstance(rows, MatchDigests)
    return executor, max(before, executor.state().bytes), rows


if __name__ == "__main__":
    main()
