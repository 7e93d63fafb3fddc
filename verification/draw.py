"""Random decisions about features: requested ones occur, banned ones do not, others are random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from cepbench.verification.features import DETECTED, DETECTION, NEVER_TALLIED, Feature

_IMPLIED = {
    Feature.NOT_NESTED: Feature.NOT_SEQUENCE,
    Feature.NOT_ADJACENT: Feature.NOT_SEQUENCE,
    Feature.SEVERAL_ADJACENT: Feature.ADJACENT,
    Feature.NEGATIVE_FACTOR: Feature.ADJACENT,
    Feature.PROMISES: Feature.BATCHES,
    Feature.COUNT_OVERFLOW: Feature.KLEENE,
    Feature.TWO_ATTRIBUTES: Feature.LOCAL,
    Feature.LOGIC: Feature.LOCAL,
}
_NEGATIONS = frozenset({Feature.NOT_SEQUENCE, Feature.NOT_NESTED, Feature.NOT_LOCAL, Feature.NOT_ADJACENT})
_PLACES = (Feature.NOT_FIRST, Feature.NOT_BETWEEN, Feature.NOT_LAST)
_COMPARED = frozenset({Feature.OFFSET, Feature.TIME})
_COMPARISONS = (Feature.ADJACENT, Feature.PAIRWISE)


@dataclass(frozen=True)
class Draw:
    """A source of random decisions.

    `richness` scales the probabilities of features that were not requested: at 0 a case has few others.
    """

    random: Random
    wanted: frozenset[Feature] = frozenset()
    banned: frozenset[Feature] = frozenset()
    richness: float = field(default=1.0)

    @staticmethod
    def of(random: Random, wanted: frozenset[Feature], banned: frozenset[Feature], richness: float) -> Draw:
        """A draw that also requests what features require: an adjacent predicate for a negative factor, a place for a
        negation, a comparison for an offset.
        """
        implied = wanted | {_IMPLIED[feature] for feature in wanted if feature in _IMPLIED}
        if implied & _NEGATIONS and not implied.intersection(_PLACES):
            allowed = [place for place in _PLACES if place not in banned]
            implied |= {random.choice(allowed)} if allowed else frozenset()
        if Feature.COUNT_OVERFLOW in wanted:
            banned |= NEVER_TALLIED
        if implied & _COMPARED and not implied.intersection(_COMPARISONS):
            allowed = [kind for kind in _COMPARISONS[bool(implied & (DETECTION | DETECTED)) :] if kind not in banned]
            implied |= {random.choice(allowed)} if allowed else frozenset()
        return Draw(random, implied, banned, richness)

    def has(self, feature: Feature, probability: float, wanted: float = 1.0) -> bool:
        """Whether a place gets a feature: with probability `wanted` if it is requested; below 1 for many places."""
        if feature in self.banned:
            return False
        return self.random.random() < (wanted if feature in self.wanted else probability * self.richness)

    def one_of(self, weights: Mapping[Feature, float]) -> Feature:
        """One of several features that exclude each other; a requested one with certainty."""
        asked = [feature for feature in weights if feature in self.wanted]
        allowed = asked or [feature for feature in weights if feature not in self.banned] or list(weights)
        return self.random.choices(allowed, [weights[feature] for feature in allowed])[0]
