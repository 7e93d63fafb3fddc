"""CORE on one query and key: the runs of the automaton, and the matches that they end."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.detection.core.kernels.enumeration import delay_of
from cepbench.algorithms.detection.core.runs import Runs
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.rows import MatchDigests, QueryRows, Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import Aggregates


class CoreExecutor(Executor):
    """Updates with each batch, then reports the matches that end in it: at most `limit` per last event, 0 for all."""

    def __init__(self, query: CompiledQuery, automaton: SubsetAutomaton, limit: int) -> None:
        assert query.window is not None
        [part] = query.parts
        self.query = query
        self.count = match_counter(query)
        counts = query.window.counts_events
        digests = query.summarised or isinstance(query.query.returns, Aggregates)
        self.runs = Runs(part, automaton, query.reach, counts, digests, limit)
        self.reported = 0

    def process(self, events: EventBatch) -> Rows:
        parts: list[QueryRows] = [*self.runs.read(kernel_events(self.query.columns, events), events.position)]
        self.reported += sum(int(rows.matches.sum()) if isinstance(rows, MatchDigests) else len(rows) for rows in parts)
        self._advance(events)
        if self.count is None:
            return rows_of(self.query.index, parts)
        for rows in parts:
            self.count.add(rows)
        return {}

    def finish(self) -> Rows:
        return {} if self.count is None else rows_of(self.query.index, [self.count.row()])

    def state(self) -> StateSize:
        """Live nodes, and the match under construction."""
        nodes, longest = self.runs.most_nodes(), int(self.runs.search.arrays.counters[0]["longest"])
        kinds = {"nodes": nodes, "trends": 1 if longest else 0}
        node_bytes = self.runs.set.item_bytes(Lack.NODES)
        return StateSize(node_bytes * nodes + 40 * longest, kinds, node_bytes * self.runs.set.room(Lack.NODES))

    def details(self) -> Mapping[str, float]:
        """Work of both phases, counted and in seconds.

        - `update_steps`, `nodes_made`, `update_seconds`: of the update phase; `steps_per_event_mean`.
        - `updates`: events in all matches; `enumeration_steps`, `enumeration_seconds`.
        - `delay_mean`, `delay_max`: seconds between two matches; `delay_p999_max`: the 99.9th percentile, maximum over
          keys. The last two need a readable processor counter. `delay_steps_max`: maximum number of steps between two
          matches; `delay_ratio_max`: maximum ratio of these steps to the match length.
        """
        counters, search = self.runs.counters, self.runs.search.arrays
        marks, events = search.counters[0], int(counters["seen"])
        details = {
            "update_steps": float(counters["steps"]),
            "update_seconds": self.runs.update_seconds,
            "nodes_made": float(counters["nodes"]),
            "states_peak": float(len(self.runs.automaton.states)),
            "updates": float(marks["updates"]),
            "enumeration_steps": float(marks["steps"]),
            "enumeration_seconds": self.runs.enumeration_seconds,
        }
        if events:
            details |= {
                "steps_per_event_mean": counters["steps"] / events,
                "steps_per_event_count": float(counters["seen"]),
            }
        if self.reported:
            details |= {
                "delay_mean": self.runs.enumeration_seconds / self.reported,
                "delay_count": float(self.reported),
                "delay_steps_max": float(marks["max_steps"]),
                "delay_ratio_max": marks["max_ratio"] / 1000,
            }
        if marks["all_ticks"]:
            tick, delays = self.runs.enumeration_seconds / marks["all_ticks"], search.delays
            details["delay_max"] = tick * marks["slowest"]
            details["delay_p999_max"] = tick * delay_of(int(np.searchsorted(np.cumsum(delays), 0.999 * delays.sum())))
        return details

    def _advance(self, events: EventBatch) -> None:
        """Marks nodes that no later event can reach as no longer live."""
        if self.runs.counts:
            self.runs.advance(int(self.runs.counters["seen"]))
        elif len(events) or events.watermark is not None:
            self.runs.advance(max(int(events.time[-1]) if len(events) else 0, events.watermark or 0))
