"""How many events pass each condition at each position of a pattern, in time linear in the events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from cepbench.algorithms.oracle import meaning_of
from cepbench.algorithms.oracle.comparing import holds_pair, passes
from cepbench.algorithms.oracle.detecting import detection_meaning
from cepbench.algorithms.oracle.names import Pair
from cepbench.algorithms.oracle.stream import StreamEvent, Value, value_of
from cepbench.queries.lexis import quote_name
from cepbench.queries.model import Comparison, Event, Local, Op, Query, Term, occurrences
from cepbench.verification.explaining.attempts import meaning_of_clause
from cepbench.verification.explaining.clauses import Clause


@dataclass(frozen=True)
class Position:
    """An event of the pattern: how many events have its type, and how many of them pass each condition by itself.

    A condition on two events counts the later ones that pass it with some earlier event of their key, and one on equal
    values those that share them with an event of a position before; under PER MATCH, with any other such event.
    """

    name: str
    negated: bool
    events: int
    passing: tuple[tuple[str, int], ...]


def positions_of(
    query: Query, clauses: Sequence[Clause], stream: Sequence[StreamEvent], time_unit: str
) -> tuple[Position, ...]:
    """The positions of a query's pattern, from left to right."""
    written = list(occurrences(query.pattern))
    types = [event.type for event in written]
    negated = {id(event) for event in occurrences(query.pattern, negated=True)}
    passing: list[list[tuple[str, int]]] = [[] for _ in written]
    before = _before(query)
    in_order = query.span is None
    for clause in clauses:
        if isinstance(clause.part, Local | Comparison):
            meaning = meaning_of_clause(query, clause, time_unit)
            for origin, conditions in meaning.locals.items():
                able = [event for event in stream if event.type == types[origin]]
                number = sum(all(passes(condition, event) for condition in conditions) for event in able)
                passing[origin].append((clause.text, number))
            for pair in meaning.pairs:
                for origin in pair.second:
                    partners = _Partners(query.partition, {types[first] for first in pair.first}, pair)
                    passing[origin].append((clause.text, partners.count(stream, types[origin], in_order)))
        for origin, firsts in before.items() if clause.attributes else ():
            partners = _Partners(clause.attributes, {types[first] for first in firsts})
            passing[origin].append((clause.text, partners.count(stream, types[origin], in_order)))
    events = Counter(event.type for event in stream)
    return tuple(
        Position(event_name(event), id(event) in negated, events[event.type], tuple(passing[origin]))
        for origin, event in enumerate(written)
    )


def event_name(event: Event) -> str:
    """An event of a pattern, with its alias."""
    return quote_name(event.type) if event.alias is None else f"{quote_name(event.type)} {quote_name(event.alias)}"


def _before(query: Query) -> dict[int, set[int]]:
    """The positions before each one with which no match begins."""
    before: dict[int, set[int]] = {}
    if query.span is not None:
        for alternative in detection_meaning(query).alternatives:
            firsts: set[int] = set()
            for operand in alternative.operands:
                before |= {origin: firsts for origin in operand.origins if firsts}
                firsts = firsts | operand.origins
        return before
    for steps in (steps for part in meaning_of(query).parts for steps in part):
        begin = {leaf.origin for leaf in steps.begin}
        for leaf, after in steps.after.items():
            for later in after:
                if later.origin not in begin:
                    before.setdefault(later.origin, set()).add(leaf.origin)
    return before


class _Partners:
    """Events of some types, of which those are kept that decide whether any passes a comparison with another event.

    `attributes`: partners agree on them. For `<` these are the two with the least left sides, as one of them may be the
    other event itself; without a comparison any two.
    """

    def __init__(self, attributes: Sequence[str], types: Collection[str], pair: Pair | None = None) -> None:
        self._attributes = attributes
        self._types = types
        self._pair = pair
        self._kept: dict[tuple[Value, ...], list[StreamEvent]] = {}

    def count(self, stream: Sequence[StreamEvent], second: str, in_order: bool) -> int:
        """The number of events of a type that have a partner, which is earlier if `in_order`."""
        number = 0
        for _, moment in groupby(stream, key=lambda event: event.time) if in_order else [(0, stream)]:
            simultaneous = list(moment)
            if not in_order:
                self._add(simultaneous)
            number += sum(event.type == second and self._has(event) for event in simultaneous)
            if in_order:
                self._add(simultaneous)
        return number

    def _add(self, events: Iterable[StreamEvent]) -> None:
        for event in events:
            for key in (
                self._keys(event, None if self._pair is None else self._pair.left.term)
                if event.type in self._types
                else ()
            ):
                kept = self._kept.setdefault(key, [])
                kept.append(event)
                self._thin(kept)

    def _has(self, event: StreamEvent) -> bool:
        return any(
            partner is not event and (self._pair is None or holds_pair(self._pair, partner, event))
            for key in self._keys(event, None if self._pair is None else self._pair.right.term)
            for partner in self._kept.get(key, ())
        )

    def _thin(self, kept: list[StreamEvent]) -> None:
        if self._pair is None:
            del kept[2:]
        elif self._pair.op is not Op.EQ:
            term = self._pair.left.term
            kept.sort(key=lambda event: _rank(term, value_of(event, term.attribute)))
            least = 0 if self._pair.op in (Op.GT, Op.GE) else 2
            del kept[least : max(least, len(kept) - (0 if self._pair.op in (Op.LT, Op.LE) else 2))]

    def _keys(self, event: StreamEvent, term: Term | None) -> set[tuple[Value, ...]]:
        """The values on which partners agree: for `=` that of a side, too, with each rounding that a comparison has."""
        key = tuple(value_of(event, name) for name in self._attributes)
        if self._pair is None or term is None or self._pair.op is not Op.EQ:
            return {key}
        value = value_of(event, term.attribute)
        if isinstance(value, str) or isinstance(term.offset, str):
            return {(*key, value)}
        offset = term.offset
        assert isinstance(offset, int | float)
        return {(*key, float(value + offset)), (*key, float(term.factor) * float(value) + float(offset))}


def _rank(term: Term, value: Value) -> Value:
    """A value by which left sides of a comparison are ordered."""
    return value if isinstance(value, str) or term.factor == 1 else float(term.factor) * float(value)
