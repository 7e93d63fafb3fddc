"""Random patterns with every operator of the language."""

from __future__ import annotations

from cepbench.queries.model import And, Event, Maybe, Not, Or, Pattern, Plus, Repeat, Seq, Star
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature

TYPES = ("A", "B", "C", "D", "E")

_PLACES = (Feature.NOT_FIRST, Feature.NOT_BETWEEN, Feature.NOT_LAST)
_PAIRED = frozenset(
    {Feature.NESTED_KLEENE, Feature.OR, Feature.AND, Feature.NOT_BETWEEN, Feature.PAIRWISE, Feature.REPEATED_TYPE}
)
"""Features of patterns of two events at least."""


def random_pattern(draw: Draw) -> Pattern:
    """A pattern of up to five positive events, mostly of distinct types."""
    return _Patterns(draw).top()


class _Patterns:
    def __init__(self, draw: Draw):
        self._draw = draw
        self._random = draw.random
        self._types = list(TYPES)
        self._random.shuffle(self._types)
        self._repeats = draw.has(Feature.REPEATED_TYPE, 0.25)
        self._aliases = 0

    def top(self) -> Pattern:
        wanted = self._draw.wanted
        size = self._random.choice((2, 2, 3, 3, 4) if wanted & _PAIRED else (1, 2, 2, 3, 3, 4, 5))
        if size > 1:
            if self._draw.has(Feature.AND, 0.05):
                return And(self._split(size))
            if self._draw.has(Feature.OR, 0.1, wanted=0.8):
                return Or(self._split(size))
        return self._pattern(size, negations=True)

    def _split(self, size: int) -> tuple[Pattern, ...]:
        left = self._random.randint(1, size - 1)
        return self._pattern(left, negations=True), self._pattern(size - left)

    def _pattern(self, size: int, *, negations: bool = False) -> Pattern:
        """A pattern of `size` positive events; with `negations` it contains the requested ones."""
        negated = negations and not self._draw.wanted.isdisjoint(_PLACES)
        plain = self._composed(size, negated) if size > 1 or negated else self._event()
        loop = Feature.KLEENE if isinstance(plain, Event) else Feature.NESTED_KLEENE
        optional = self._draw.has(Feature.OPTIONAL, 0.1, wanted=0.5)
        likely = 0.9 if Feature.COUNT_OVERFLOW in self._draw.wanted else 0.6
        if self._draw.has(loop, likely if likely > 0.6 else 0.4, wanted=likely):
            if optional:
                return Star(plain)
            return Repeat(plain, self._random.randint(1, 3), None) if self._is_repeated() else Plus(plain)
        if self._is_repeated():
            most = self._random.randint(1, 4 if isinstance(plain, Event) else 2)
            plain = Repeat(plain, self._random.randint(1, most), most)
        return Maybe(plain) if optional else plain

    def _is_repeated(self) -> bool:
        return self._draw.has(Feature.REPETITION, 0.05, wanted=0.5)

    def _composed(self, size: int, negated: bool) -> Pattern:
        if size > 1 and not negated and self._draw.has(Feature.OR, 0.06, wanted=0.2):
            return Or(self._split(size))
        parts: list[Pattern] = []
        while size > 0:
            taken = self._random.randint(1, max(1, size - 1))
            parts.append(self._pattern(taken))
            size -= taken
        if len(parts) == 1 and Feature.NOT_BETWEEN in self._draw.wanted:
            parts.append(self._event())
        return self._with_negations(parts, negated)

    def _with_negations(self, parts: list[Pattern], negated: bool) -> Pattern:
        """A sequence of the parts with negated patterns before, between and after them."""
        row: list[Pattern] = [self._negation()] if self._negates(Feature.NOT_FIRST, 0.06, negated) else []
        between = 1 if negated and Feature.NOT_BETWEEN in self._draw.wanted else 0
        certain = self._random.randint(1, len(parts) - 1) if between and len(parts) > 1 else 0
        for index, part in enumerate(parts):
            if index and (index == certain or self._negates(Feature.NOT_BETWEEN, 0.12, False)):
                row.append(self._negation())
            row.append(part)
        if self._negates(Feature.NOT_LAST, 0.06, negated):
            row.append(self._negation())
        if len(row) == 1:
            row.append(self._event())
        return Seq(tuple(row))

    def _negates(self, place: Feature, probability: float, negated: bool) -> bool:
        """Whether a place gets a negation: on request, or by chance."""
        if negated and place in self._draw.wanted:
            return True
        return place not in self._draw.banned and self._random.random() < probability * self._draw.richness

    def _negation(self) -> Not:
        if self._draw.has(Feature.NOT_SEQUENCE, 0.3, wanted=0.9):
            if self._draw.has(Feature.NOT_NESTED, 0.3):
                return Not(Seq((self._event(), Not(self._event()), self._event())))
            return Not(Seq((self._negated_event(), self._negated_event())))
        return Not(self._negated_event())

    def _negated_event(self) -> Pattern:
        event = self._event()
        return Plus(event) if self._random.random() < 0.15 * self._draw.richness else event

    def _event(self) -> Event:
        often = 0.7 if Feature.REPEATED_TYPE in self._draw.wanted else 0.4
        if self._types and not (self._repeats and self._random.random() < often):
            name = self._types.pop()
        else:
            name = self._random.choice(sorted(set(TYPES) - set(self._types)) or TYPES)
        if self._random.random() < 0.75:
            return Event(name)
        self._aliases += 1
        return Event(name, f"{name}{self._aliases}")
