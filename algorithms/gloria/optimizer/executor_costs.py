"""What events cost the executor as it is built here: weights that are not in the paper."""

from __future__ import annotations

from collections.abc import Sequence

from cepbench.algorithms.gloria.optimizer.costs import EventCosts, Mask, members_in

EVENT, WINDOW = 0.014, 0.0072
"""Of an event that a member has alone: for itself, and for each window that holds it."""
EXPRESSION, COEFFICIENT = 0.066, 0.0003
"""Of an event that a Q-set shares: for itself, and for each live snapshot (an estimate: too little to be fitted)."""
EVALUATED, VALUE, TERM = 0.031, 0.010, 0.0003
"""Of an event whose expression a member evaluates: for itself, for each window, and for each live snapshot there."""
SET, CLOSING = 0.14, 0.24
"""Of a sharable set, with any plan: for each event of the stream, and for each window of a member that closes."""
LANE, LANE_EVENT, LANE_WINDOW = 0.0047, 0.0057, 0.0026
"""Of a member that shares nothing, by lanes: for each event of the stream, for one that it matches, and for each window
that holds that.
"""


class ExecutorCosts(EventCosts):
    """Microseconds per unit of time, fitted to counts of 5 to 100 queries of four and six types, with 1 to 16 windows
    per event (`benchmarks/gloria_costs.py`).

    The executor keeps running sums, so that an event costs a member the windows that hold it, however many events came
    before; a Q-set the live snapshots, those of its longest window, even if only some members use them; and an
    evaluation both. Where paths end it adds expressions up, and evaluates their sum when a window closes. Predicates on
    adjacent events, for which it has to visit the events before, are not weighed.
    """

    def __init__(
        self, rates: Sequence[float], windows: Sequence[float], overlaps: Sequence[int], closings: Sequence[float]
    ) -> None:
        super().__init__(rates, windows, overlaps, closings)
        self._holding: dict[Mask, tuple[int, int, float]] = {}

    def start(self, state: int, members: Mask) -> float:
        """As an event alone."""
        return self._alone(state, members)

    def alone(self, source: int, target: int, members: Mask) -> float:
        """Each window takes one addition."""
        del source
        return self._alone(target, members)

    def shared(self, source: int, target: int, members: Mask, snapshot: int) -> float:
        """An addition for each live snapshot."""
        del source
        return self.rates[target] * (EXPRESSION + COEFFICIENT * self._live(snapshot, members))

    def evaluation(self, target: int, snapshot: int, members: Mask) -> float:
        """A value for each member and window."""
        count, windows, _ = self._held(members)
        return self.rates[target] * (EVALUATED * count + windows * (VALUE + TERM * self._live(snapshot, members)))

    def ending(self, target: int, snapshot: int, members: Mask) -> float:
        """A value for each member when a window closes."""
        del target
        return self._held(members)[2] * (VALUE + TERM * self._live(snapshot, members))

    def making(self, state: int, members: Mask) -> float:
        """A snapshot keeps a value for each member and window."""
        return self.rates[state] * WINDOW * self._held(members)[1]

    def renewed(self, source: int, target: int, members: Mask) -> float:
        """It has to be evaluated."""
        del source
        return self.evaluation(target, target, members)

    def carried_out(self, weight: float, rate: float) -> float:
        """A set passes over the stream once, and closes the windows of all members."""
        return weight + SET * rate + CLOSING * self._held((1 << len(self.overlaps)) - 1)[2]

    def unshared(self, rate: float, matched: Sequence[float]) -> float:
        """Lanes pass over the stream once for each member."""
        return sum(
            LANE * rate + (LANE_EVENT + LANE_WINDOW * overlap) * own
            for overlap, own in zip(self.overlaps, matched, strict=True)
        )

    def _alone(self, state: int, members: Mask) -> float:
        count, windows, _ = self._held(members)
        return self.rates[state] * (EVENT * count + WINDOW * windows)

    def _live(self, snapshot: int, members: Mask) -> float:
        return self.rates[snapshot] * self.moments(members)[2]

    def _held(self, members: Mask) -> tuple[int, int, float]:
        """How many members, windows that hold an event, and windows that close in a unit of time."""
        found = self._holding.get(members)
        if found is None:
            chosen = members_in(members)
            closing = sum(self.closings[m] for m in chosen)
            found = self._holding[members] = len(chosen), sum(self.overlaps[m] for m in chosen), closing
        return found
