"""What a sharing plan costs: Equations 2-4, which make the weights of the Gloria graph (Sections 3.2 and 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import inf

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


class EventCosts(ABC):
    """The costs of the events of one type, for members that come to it by one transition; states are numbered.

    `rates[state]` are events per unit of time. `windows[m]` is the length of member m's windows, and `overlaps[m]` how
    many hold an event; `closings[m]` end in a unit of time. So |E| is the expected number of events of a type in a
    window. Members with different windows that share carry the snapshots of the longest. Costs of members that do not
    share are sums over them.
    """

    def __init__(
        self,
        rates: Sequence[float],
        windows: Sequence[float],
        overlaps: Sequence[int] = (),
        closings: Sequence[float] = (),
    ) -> None:
        self.rates, self.windows, self.overlaps, self.closings = rates, windows, overlaps, closings
        self._moments: dict[Mask, tuple[float, float, float]] = {}

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
        """A Q-set that comes back to the type of its own snapshots: what it costs unshared (Example 6.2)."""
        return self.alone(source, target, members)

    def ending(self, target: int, snapshot: int, members: Mask) -> float:
        """Evaluation where the paths of some members end."""
        return self.evaluation(target, snapshot, members)

    def making(self, state: int, members: Mask) -> float:
        """Snapshots at the events of a type: relatively minimal (Section 3.2)."""
        del state, members
        return 0.0

    def carried_out(self, weight: float, rate: float) -> float:
        """What a plan of this weight costs with all that it does not weigh; `rate`: of all events of the stream."""
        del rate
        return weight

    def unshared(self, rate: float, matched: Sequence[float]) -> float:
        """What it costs to share nothing and run the code of COGRA, of which the paper knows none.

        `matched`: the rate of the events of the types of each member, once for each state.
        """
        del rate, matched
        return inf

    def frequency(self, state: int) -> float:
        """The frequency of a type, by which snapshots are compared."""
        return self.rates[state]

    def moments(self, members: Mask) -> tuple[float, float, float]:
        """The sum of the lengths of windows of some members, the sum of their squares, and the longest."""
        found = self._moments.get(members)
        if found is None:
            windows = [self.windows[m] for m in members_in(members)]
            found = sum(windows), sum([w * w for w in windows]), max(windows, default=0.0)
            self._moments[members] = found
        return found


class PaperCosts(EventCosts):
    """Equations 2-4 as they are."""

    def start(self, state: int, members: Mask) -> float:
        """|E| for each."""
        return self.rates[state] * self.moments(members)[0]

    def alone(self, source: int, target: int, members: Mask) -> float:
        """|E| |Ep| for each."""
        return self.rates[source] * self.rates[target] * self.moments(members)[1]

    def shared(self, source: int, target: int, members: Mask, snapshot: int) -> float:
        """|Ep| if Ep has the snapshots, otherwise |Ep| |Es|."""
        window = self.moments(members)[2]
        length = 1.0 if source == snapshot else self.rates[snapshot] * window
        return self.rates[source] * window * length

    def evaluation(self, target: int, snapshot: int, members: Mask) -> float:
        """|E| |Es| for each."""
        return self.rates[target] * self.rates[snapshot] * self.moments(members)[1]


def rates_of(types: Sequence[str], rates: Mapping[str, float]) -> list[float]:
    """The rate of each of some types: 1 if nothing is known of a stream, 0 for a type that it does not have."""
    return [rates.get(name, 0.0) if rates else 1.0 for name in types]
