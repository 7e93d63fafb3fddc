"""The engine on one query and key. It works offline: it receives all events at the end of the stream."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.external.core_engine.engine import current
from cepbench.algorithms.external.core_engine.translation import translated
from cepbench.algorithms.rows import MatchRows, Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Kind
from cepbench.queries.compile import CompiledQuery


class EngineExecutor(Executor):
    """Stores all events, then asks the engine for their matches.

    Simultaneous events follow one another in the engine, so matches with two of them are dropped. Matches that it
    reports once per binding are counted once.
    """

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.count = match_counter(query)
        self.held: list[EventBatch] = []
        self.numbers: dict[str, float] = {}

    def process(self, events: EventBatch) -> Rows:
        if len(events):
            self.held.append(events.slice(0, len(events)))
        return {}

    def finish(self) -> Rows:
        """All matches. Raises `EngineFailed`."""
        rows = self._detected() if self.held else None
        if self.count is None:
            return rows_of(self.query.index, [rows])
        self.count.add(rows)
        return rows_of(self.query.index, [self.count.row()])

    def load(self) -> None:
        current()

    def state(self) -> StateSize:
        """The stored events; the state of the engine itself is unknown."""
        events = sum(map(len, self.held))
        return StateSize(24 * events, {"events": events})

    def details(self) -> Mapping[str, float]:
        """Seconds of the engine's process for all events, minus those of a call without events; seconds of its start;
        numbers of reported matches and of those that were dropped.
        """
        return self.numbers

    def _detected(self) -> MatchRows | None:
        schema = self.held[0].schema
        asked = translated(self.query, schema)
        time, kind, position = (
            np.concatenate([getattr(batch, name) for batch in self.held]) for name in ("time", "type", "position")
        )
        columns = [np.concatenate([batch.columns[name] for batch in self.held]) for name in asked.attributes]
        kinds = {"ts": "int"} | {
            f"a{place}": "double" if schema.kinds[name] is Kind.FLOAT else "int"
            for place, name in enumerate(asked.attributes)
        }
        values = [list(range(len(time))), time.tolist(), *(column.tolist() for column in columns)]
        engine = current()
        answer = engine.run(asked.pattern, asked.span, asked.types, kind.tolist(), values, kinds)
        found = sorted({tuple(sorted(match)) for match in answer["matches"]})
        matches = [match for match in found if np.all(np.diff(time[list(match)]) > 0)]
        self.numbers = {
            "engine_seconds": max(0.0, float(answer["process"]) - engine.empty_seconds),
            "start_seconds_peak": engine.start_seconds,
            "matches_reported": float(len(answer["matches"])),
            "dropped": float(len(answer["matches"]) - len(matches)),
        }
        if not matches:
            return None
        lengths = [len(match) for match in matches]
        places = np.array([place for match in matches for place in match], np.int64)
        ends = np.array([(match[0], match[-1]) for match in matches], np.int64)
        assert self.query.window is not None
        points = ends[:, 1] if self.query.window.counts_events else time[ends[:, 1]]
        offsets = np.append(0, np.cumsum(lengths))
        return MatchRows(points - self.query.reach, offsets, position[places], time[ends])
