"""Costs of a sharing plan: Equations 2-4, the weights of the Gloria graph (Sections 3.2 and 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

Mask = int
"""A set of members: bit m is set for member m."""


def members_in(mask: Mask) -> list[int]:
    """The members of a set, in order."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


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


class EventCosts(ABC):
    """Costs of the events of one type for members that reach it by one transition. States are numbered.

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

    @abstractmethod
    def start(self, state: int, members: Mask) -> float:
        """Events of a start type, for members that start with it."""

    @abstractmethod
    def alone(self, source: int, target: int, members: Mask) -> float:
        """Events of `target` after those of `source`, for members that share with no other (Equation 2)."""

    @abstractmethod
    def shared(self, source: int, target: int, members: Mask, snapshot: int) -> float:
        """The same for a Q-set, whose expressions are in snapshots of a type (Equation 3)."""

    @abstractmethod
    def evaluation(self, target: int, snapshot: int, members: Mask) -> float:
        """Values of expressions at the events of a type, for each of some members (Equation 4)."""

    def renewed(self, source: int, target: int, members: Mask) -> float:
        """A Q-set that returns to the type of its own snapshots; the cost without sharing (Example 6.2)."""
        return self.alone(source, target, members)

    def ending(self, target: int, snapshot: int, members: Mask) -> float:
        """Evaluation where the paths of some members end."""
        return self.evaluation(target, snapshot, members)

    def making(self, state: int, members: Mask) -> float:
        """Creating snapshots at the events of a type; 0 in the paper, which neglects it (Section 3.2)."""
        del state, members
        return 0.0

    def carried_out(self, weight: float, rate: float) -> float:
        """The cost of executing a plan of this weight, with costs of any plan; `rate`: of all events of the stream."""
        del rate
        return weight

    def unshared(self, rate: float, matched: Sequence[float]) -> float:
        """The cost of sharing nothing and running the code of COGRA; infinite in the paper, which has no such choice.

        `matched`: the rate of the events of the types of each member, once for each state.
        """
        del rate, matched
        return inf

    def of(self, members: Mask) -> Sums:
        """The sums of some members."""
        found = self._sums.get(members)
        if found is None:
            chosen = members_in(members)
            windows = [self.windows[m] for m in chosen]
            overlaps, closings = sum([self.overlaps[m] for m in chosen]), sum([self.closings[m] for m in chosen])
            squares, longest = sum([w * w for w in windows]), max(windows, default=0.0)
            found = self._sums[members] = Sums(len(chosen), sum(windows), squares, longest, overlaps, closings)
        return found


class PaperCosts(EventCosts):
    """Equations 2-4 without changes."""

    def start(self, state: int, members: Mask) -> float:
        """|E| for each."""
        return self.rates[state] * self.of(members).windows

    def alone(self, source: int, target: int, members: Mask) -> float:
        """|E| |Ep| for each."""
        return self.rates[source] * self.rates[target] * self.of(members).squares

    def shared(self, source: int, target: int, members: Mask, snapshot: int) -> float:
        """|Ep| if Ep has the snapshots, otherwise |Ep| |Es|."""
        window = self.of(members).longest
        length = 1.0 if source == snapshot else self.rates[snapshot] * window
        return self.rates[source] * window * length

    def evaluation(self, target: int, snapshot: int, members: Mask) -> float:
        """|E| |Es| for each."""
        return self.rates[target] * self.rates[snapshot] * self.of(members).squares


def rates_of(types: Sequence[str], rates: Mapping[str, float]) -> list[float]:
    """The rate of each of some types: 1 if nothing is known of a stream, 0 for a type that it does not have."""
    return [rates.get(name, 0.0) if rates else 1.0 for name in types]
