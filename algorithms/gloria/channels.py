"""The channels of a sharable set: an expression has one for each sum of its members at the states they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.gloria.template import TypeState
from cepbench.algorithms.snapshots.channels import BY_COUNT, FAMILIES, MemberChannels
from cepbench.algorithms.snapshots.kernels.cells import Weighing
from cepbench.queries.tables import Tables, Weights


@dataclass
class _Channel:
    """A channel of a set: its column, where events count for it, and the members that add it up."""

    column: int
    counts: dict[TypeState, bool] = field(default_factory=dict)
    members: set[int] = field(default_factory=set)

    def takes(self, m: int, column: int, counts: dict[TypeState, bool]) -> bool:
        """Whether a member can use this channel: at common states, events count for both channels or for neither."""
        known = self.counts
        return column == self.column and m not in self.members and all(known.get(s, c) == c for s, c in counts.items())


def channels_of(
    tables: Sequence[Tables], states: Sequence[Sequence[TypeState]], order: Sequence[TypeState]
) -> tuple[MemberChannels, Weighing]:
    """The channels of members, shared where possible, and the states in `order` whose events count for each channel.

    Members share a channel if they sum the same column at all states that both have. After the states in `order`,
    every channel counts: so do the coefficients of an expression, wherever its events come from.
    """
    columns: list[tuple[int, ...]] = []
    of: list[list[tuple[int, ...]]] = [[] for _ in tables]
    weights: list[Weights] = []
    for family in FAMILIES:
        known: list[_Channel] = [_Channel(BY_COUNT)] if family == "ring" else []  # COUNT(*), for which no event counts
        for m, table in enumerate(tables):
            own = []
            weighing: Weights = getattr(table, family)
            for c, column in enumerate(weighing.column.tolist()):
                if family == "ring" and c == 0:
                    own.append(0)
                    continue
                counts = dict(zip(states[m], weighing.bound[c].tolist(), strict=True))
                fitting = (n for n, k in enumerate(known) if (family, n) != ("ring", 0) and k.takes(m, column, counts))
                chosen = next(fitting, len(known))
                if chosen == len(known):
                    known.append(_Channel(column))
                known[chosen].counts |= counts
                known[chosen].members.add(m)
                own.append(chosen)
            of[m].append(tuple(own))
        columns.append(tuple(channel.column for channel in known))
        weights.append(Weights(_bound(known, order, family == "ring"), np.array(columns[-1], np.int64)))
    bound = tuple(tuple(getattr(table, family).bound for family in FAMILIES) for table in tables)
    return MemberChannels(tuple(columns), tuple(map(tuple, of)), bound), Weighing(*weights)


def _bound(channels: Sequence[_Channel], order: Sequence[TypeState], ring: bool) -> NDArray[np.bool_]:
    bound = np.ones((len(channels), len(order) + 1), np.bool_)
    for c, channel in enumerate(channels):
        bound[c, :-1] = [channel.counts.get(state, False) for state in order]
    if ring:
        bound[0] = False
    return bound
