"""Keeps the events of open windows, and counts the trends of a window when it closes."""

from itertools import groupby

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.compose import IndependentAlgorithm
from cepbench.algorithms.rows import AggregateRows, rows_of


class Buffer(Executor):
    def __init__(self, query, part, window):
        self.index, self.arithmetic, self.automaton, self.window = query.index, query.arithmetic, part.automaton, window
        self.events = []  # (time, type)
        self.closed = -1  # the latest window that has closed

    def process(self, events):
        types = events.schema.types
        self.events += [(time, types[code]) for time, code in zip(events.time.tolist(), events.type.tolist())]
        return self.close(max(self.events[-1][0] if self.events else 0, events.watermark or 0))

    def finish(self):
        return self.close(float("inf"))

    def state(self):
        return StateSize(16 * len(self.events))

    def close(self, now):
        """The rows of the windows that end by `now`; drops the events that no open window needs."""
        window = self.window
        open_windows = {k for time, _ in self.events for k in range(window.first_at(time), window.last_at(time) + 1)}
        closing = sorted(k for k in open_windows if k > self.closed and window.end(k) <= now)
        counts = {k: self.count(k) for k in closing}
        self.closed = max([self.closed, *closing])
        self.events = [event for event in self.events if window.last_at(event[0]) > self.closed]
        return counts

    def count(self, k):
        """The number of trends in window k: for each position, of those that end there."""
        positions, transitions = self.automaton.positions, self.automaton.transitions
        inside = [e for e in self.events if self.window.first_at(e[0]) <= k <= self.window.last_at(e[0])]
        trends = [0] * len(positions)
        for _, simultaneous in groupby(inside, key=lambda event: event[0]):
            before = list(trends)  # simultaneous events do not extend one another
            for _, name in simultaneous:
                for p, position in enumerate(positions):
                    if position.type == name:
                        extended = sum(before[t.source] for t in transitions if t.target == p)
                        trends[p] += extended + (position.start is not None)
        return sum(number for number, position in zip(trends, positions) if position.end is not None)


class Recount(IndependentAlgorithm):
    name, paper, part_executor = "kind", "this tutorial", staticmethod(Buffer)

    def unsupported(self, query):
        items = [str(item) for item in getattr(query.returns, "items", ())]
        if items != ["COUNT(*)"] or query.predicates or query.semantics != "skip-till-any-match":
            return "it counts trends under skip-till-any-match, without WHERE"
        return "it has no negation" if "Not(" in str(query.pattern) else None
