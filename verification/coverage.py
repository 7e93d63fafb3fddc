"""The number of comparisons of each pair of features, and the pair to draw next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from cepbench.verification.features import Feature, Pair, all_pairs

PATIENCE = 60
"""The default patience: small enough to spend little time on refused cases, and large enough for rare ones."""
RARELY = 0.1
"""The share of compared cases of a pair below which its features are drawn without each other."""

PAIRS = tuple(all_pairs())
POSSIBLE = frozenset(PAIRS)


@dataclass
class Coverage:
    """Counts of compared cases by pair of features, and of the cases that were drawn for a pair, with and without
    success.

    `impossible` has features that need not be drawn. `patience` is the number of cases drawn for a pair per compared
    case, after which the algorithm is assumed to refuse the pair.
    """

    impossible: frozenset[Feature] = frozenset()
    patience: int = PATIENCE
    counts: Counter[Pair] = field(default_factory=Counter)
    hits: Counter[Pair] = field(default_factory=Counter)
    misses: Counter[Pair] = field(default_factory=Counter)
    _given_up: set[Pair] = field(default_factory=set)
    _left: list[Pair] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._leave_out()

    def add(self, wanted: frozenset[Feature], compared: Collection[Pair]) -> None:
        """Counts a case that was drawn for some features, and the pairs with which it was compared."""
        self.counts.update(compared)
        if wanted in compared:
            self.hits[wanted] += 1
        elif len(wanted) <= 2:  # a pair that lacks more of them may have any one of them
            self.misses[wanted] += 1
            if self.misses[wanted] >= self.patience * (self.hits[wanted] + 1):
                self._given_up.add(wanted)
                self._leave_out()

    def avoided(self, wanted: frozenset[Feature]) -> frozenset[Feature]:
        """Features with which a case for these would probably be refused."""
        rare = {feature for feature in Feature if any(self._is_rare(frozenset({feature, asked})) for asked in wanted)}
        return self.banned() | rare - wanted

    def banned(self) -> frozenset[Feature]:
        """Features that never occurred in a compared case, however often they were drawn."""
        return self.impossible.union(*(pair for pair in self._given_up if len(pair) == 1))

    def companion(self, pair: Pair) -> frozenset[Feature]:
        """The feature that was compared least often with those of a pair, if one can be with both."""
        banned = self.avoided(pair)
        best: dict[Feature, int] = {}
        for feature in Feature:
            pairs = [frozenset({feature, member}) for member in pair]
            if feature not in pair | banned and all(together in POSSIBLE for together in pairs):
                best[feature] = sum(self.counts[together] for together in pairs)
        return frozenset(sorted(best, key=lambda feature: best[feature])[:1])

    def rarest(self) -> tuple[Pair, int] | None:
        """The pair that was compared least often of those that may be, single features first, and how often."""
        count = self.counts.get
        counts = [count(pair, 0) for pair in self._left]
        least = min(counts, default=0)
        among = (pair for pair, times in zip(self._left, counts, strict=True) if times == least)
        rarest = min(among, key=lambda pair: (len(pair), self.misses[pair]), default=None)
        return None if rarest is None else (rarest, least)

    def supported(self) -> list[Pair]:
        """Pairs that were compared if they were drawn often enough."""
        return [pair for pair in PAIRS if self.counts[pair] and pair not in self._given_up]

    def refused(self) -> list[Pair]:
        """Pairs of supported features that occurred together never or rarely, although they were drawn often."""
        banned = self.banned()
        return [pair for pair in PAIRS if pair in self._given_up and not pair & banned]

    def least(self) -> int:
        """The number of comparisons of the rarest supported pair."""
        return min((self.counts[pair] for pair in self.supported()), default=0)

    def __str__(self) -> str:
        """A summary: the number of features and pairs, and the minimum count."""
        supported = self.supported()
        features = sum(len(pair) == 1 for pair in supported)
        return f"{features} features and {len(supported) - features} pairs of them, each at least {self.least()} times"

    def _leave_out(self) -> None:
        """Lists the pairs that may still be drawn, since there is one draw for each case."""
        banned = self.banned()
        self._left = [pair for pair in PAIRS if pair not in self._given_up and banned.isdisjoint(pair)]

    def _is_rare(self, pair: Pair) -> bool:
        drawn = self.hits[pair] + self.misses[pair]
        return drawn >= 1 / RARELY and self.hits[pair] < RARELY * drawn
