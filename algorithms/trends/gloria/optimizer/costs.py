"""Costs of a sharing plan, the weights of the Gloria graph: Equations 2-4 (Sections 3.2 and 4), and this executor's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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

Mask = int
"""A set of members: bit m is set for member m."""


def members_in(mask: Mask) -> list[int]:
    """The members of a set, in order."""
    members = []
    while mask:
        low = mask & -mask
        members.append(low.bit_length() - 1)
        mask ^= low
    return members


class Sums(NamedTuple):
    """Of some members: how many they are, the sum of the lengths of their windows, that of the squares, the longest;
    how many windows hold an event, and how many end per time unit.
    """

    members: int
    windows: float
    squares: float
    longest: float
    overlaps: int
    closings: float


class PaperCosts:
    """Equations 2-4: costs of the events of one type for members that reach it by one transition.

    `rates[state]`: events per time unit. For member m: `windows[m]`, the length of its windows; `overlaps[m]`, how
    many of them hold an event; `closings[m]`, how many end per time unit. |E| is the expected number of events in a
    window. Members with different windows that share carry the snapshots of the longest. Costs of members that do not
    share are sums over them.
    """

    def __init__(
        self,
        rates: Sequence[float],
        windows: Sequence[float],
        overlaps: Sequence[int],
        closings: Sequence[float],
    ) -> None:
        self.rates, self.windows, self.overlaps, self.closings = rates, windows, overlaps, closings
        self._sums: dict[Mask, Sums] = {}

    def start(self, state: int, members: Mask) -> float:
        """Events of a start type, for members that start with it: |E| for each."""
        return self.rates[state] * self.of(members).windows

    def alone(self, source: int, target: int, members: Mask) -> float:
        """Events of `target` after those of `source`, for members that share with no other: |E| |Ep| for each."""
        return self.rates[source] * self.rates[target] * self.of(members).squares

    def shared(self, source: int, target: int, members: Mask, snapshot: int) -> float:
        """The same for a Q-set with snapshots of a type: |Ep| if Ep has the snapshots, otherwise |Ep| |Es|."""
        window = self.of(members).longest
        length = 1.0 if source == snapshot else self.rates[snapshot] * window
        return self.rates[source] * window * length

    def evaluation(self, target: int, snapshot: int, members: Mask) -> float:
        """Values of expressions at the events of a type, for each of some members: |E| |Es|."""
        return self.rates[target] * self.rates[snapshot] * self.of(members).squares

    def renewed(self, source: int, target: int, members: Mask) -> float:
        """A Q-set that returns to the type of its own snapshots: the cost without sharing (Example 6.2)."""
        return self.alone(source, target, members)

    def ending(self, target: int, snapshot: int, members: Mask) -> float:
        """Evaluation where the paths of some members end."""
        return self.evaluation(target, snapshot, members)

    def making(self, state: int, members: Mask) -> float:
        """Creating snapshots at the events of a type; the paper neglects it (Section 3.2)."""
        del state, members
        return 0.0

    def of(self, members: Mask) -> Sums:
        """The sums of some members."""
        sums = self._sums.get(members)
        if sums is None:
            chosen = members_in(members)
            windows = [self.windows[m] for m in chosen]
            overlaps, closings = sum([self.overlaps[m] for m in chosen]), sum([self.closings[m] for m in chosen])
            squares, longest = sum([w * w for w in windows]), max(windows, default=0.0)
            sums = self._sums[members] = Sums(len(chosen), sum(windows), squares, longest, overlaps, closings)
        return sums


class ExecutorCosts(PaperCosts):
    """Costs in microseconds per time unit, fitted to 5 to 100 queries of four and six types, with 1 to 16 windows
    per event (`benchmarks/gloria_costs.py`).

    The executor keeps running sums, so the cost of an event does not grow with earlier events. It grows with
    the windows that hold the event for a member, with the live snapshots for a Q-set (those of its longest window, even
    if only some members use them), and with both for an evaluation. Where paths end, the executor sums expressions, and
    evaluates the sum when a window closes. Predicates on adjacent events, which make it visit events, are not modeled.
    """

    def start(self, state: int, members: Mask) -> float:
        of = self.of(members)
        return self.rates[state] * (EVENT * of.members + WINDOW * of.overlaps)

    def alone(self, source: int, target: int, members: Mask) -> float:
        """As events that start trends: each window takes one addition."""
        del source
        return self.start(target, members)

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

    def whole(self, rate: float) -> float:
        """The cost of any plan of a set: it passes over a stream of this rate once, and closes all windows."""
        return SET * rate + CLOSING * sum(self.closings)

    def unshared(self, rate: float, matched: Sequence[float]) -> float:
        """The cost of sharing nothing, since lanes run the code of COGRA: they pass over the stream for each member.

        `matched`: the rate of the events of the types of each member, once for each state.
        """
        return sum(
            LANE * rate + (LANE_EVENT + LANE_WINDOW * overlap) * member_rate
            for overlap, member_rate in zip(self.overlaps, matched, strict=True)
        )

    def _live(self, snapshot: int, members: Mask) -> float:
        return self.rates[snapshot] * self.of(members).longest


COSTS: Mapping[str, type[PaperCosts]] = {"executor": ExecutorCosts, "paper": PaperCosts}
