"""Costs of events in this executor: weights of the Gloria graph that are not in the paper."""

from __future__ import annotations

from collections.abc import Sequence

from cepbench.algorithms.gloria.optimizer.costs import EventCosts, Mask

EVENT, WINDOW = 0.014, 0.0072
"""Cost of an event of a member that does not share: of the event, and of each window that holds it."""
EXPRESSION, COEFFICIENT = 0.066, 0.0003
"""Cost of an event that a Q-set shares: of the event, and of each live snapshot (estimated: too small to be fitted)."""
EVALUATED, VALUE, TERM = 0.031, 0.010, 0.0003
"""Cost of an evaluation at an event: of the event, of each window, and of each live snapshot in a window."""
SET, CLOSING = 0.14, 0.24
"""Cost of a sharable set with any plan: of each event of the stream, and of each window of a member that closes."""
LANE, LANE_EVENT, LANE_WINDOW = 0.0047, 0.0057, 0.0026
"""Cost of a member that shares nothing, by lanes: of each event of the stream, of a matched one, and of each window
that holds a matched one.
"""


class ExecutorCosts(EventCosts):
    """Costs in microseconds per time unit, fitted to 5 to 100 queries of four and six types, with 1 to 16 windows
    per event (`benchmarks/gloria_costs.py`).

    The executor keeps running sums, so the cost of an event does not grow with earlier events. It grows with
    the windows that hold the event for a member, with the live snapshots for a Q-set (those of its longest window, even
    if only some members use them), and with both for an evaluation. Where paths end, the executor sums expressions, and
    evaluates the sum when a window closes. Predicates on adjacent events, which make it visit events, are not modeled.
    """

    def start(self, state: int, members: Mask) -> float:
        """As an event that is not shared."""
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
        of = self.of(members)
        return self.rates[target] * (
            EVALUATED * of.members + of.overlaps * (VALUE + TERM * self._live(snapshot, members))
        )

    def ending(self, target: int, snapshot: int, members: Mask) -> float:
        """A value for each member when a window closes."""
        del target
        return self.of(members).closings * (VALUE + TERM * self._live(snapshot, members))

    def making(self, state: int, members: Mask) -> float:
        """A snapshot keeps a value for each member and window."""
        return self.rates[state] * WINDOW * self.of(members).overlaps

    def renewed(self, source: int, target: int, members: Mask) -> float:
        """The cost of evaluating the expressions."""
        del source
        return self.evaluation(target, target, members)

    def carried_out(self, weight: float, rate: float) -> float:
        """A set passes over the stream once, and closes the windows of all members."""
        return weight + SET * rate + CLOSING * self.of((1 << len(self.overlaps)) - 1).closings

    def unshared(self, rate: float, matched: Sequence[float]) -> float:
        """Lanes pass over the stream once for each member."""
        return sum(
            LANE * rate + (LANE_EVENT + LANE_WINDOW * overlap) * own
            for overlap, own in zip(self.overlaps, matched, strict=True)
        )

    def _alone(self, state: int, members: Mask) -> float:
        of = self.of(members)
        return self.rates[state] * (EVENT * of.members + WINDOW * of.overlaps)

    def _live(self, snapshot: int, members: Mask) -> float:
        return self.rates[snapshot] * self.of(members).longest
