"""The leaves that can come next in a pattern: derivatives of its expression, with the negations collected on the way.

A pattern is first written out: every occurrence of an event gets its own `Leaf`. `P{n,}` becomes n copies of P, of
which the last can repeat; `P{n,m}` becomes m copies, and after the n-th and every later one the rest is optional. What
remains to be matched after a leaf is a tuple of expressions, read from left to right; the paths through it, up to the
next leaf or the end, are found by taking its head apart. This is Brzozowski's derivative of the written-out expression.
It needs no first, last and follow sets. That is its purpose: the oracle shares nothing with `queries.automaton`, and
agrees with it because both describe the same language.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cepbench.queries.errors import QueryError
from cepbench.queries.model import And, Event, Maybe, Not, Or, Pattern, Plus, Repeat, Seq, Star, occurrences


@dataclass(frozen=True, eq=False)
class Leaf:
    """One copy of an event of the pattern; `origin` numbers the event in the query, from left to right."""

    type: str
    origin: int


@dataclass(frozen=True)
class NegatedPattern:
    """A `NOT N`, identified by the origin of its first event: all copies of it have the same meaning."""

    first: int
    steps: Steps = field(compare=False)


@dataclass(frozen=True, eq=False)
class _Row:
    """A sequence of expressions."""

    parts: tuple[_Expression, ...]


@dataclass(frozen=True, eq=False)
class _Choice:
    """One of several expressions; an empty row makes it optional."""

    parts: tuple[_Expression, ...]


@dataclass(frozen=True, eq=False)
class _Repeat:
    """An expression zero or more times."""

    part: _Expression


_Expression = Leaf | NegatedPattern | _Row | _Choice | _Repeat
_Rest = tuple[_Expression, ...]
_NOTHING = _Row(())

Negations = frozenset[NegatedPattern]


@dataclass(frozen=True, eq=False)
class Steps:
    """The paths through one pattern.

    `begin`: the leaves with which a match can start, each with its leading negations; `after`: the leaves that can
    follow a leaf, each with the negations between the two; `end`: the leaves with which a match can end, each with its
    trailing negations.
    """

    begin: dict[Leaf, Negations]
    after: dict[Leaf, dict[Leaf, Negations]]
    end: dict[Leaf, Negations]

    def reachable(self, leaf: Leaf) -> set[Leaf]:
        """The leaves that can come after `leaf` in a match, at any distance."""
        leaves: set[Leaf] = set()
        pending = [leaf]
        while pending:
            for successor in self.after[pending.pop()]:
                if successor not in leaves:
                    leaves.add(successor)
                    pending.append(successor)
        return leaves


def steps_of(pattern: Pattern, first: int = 0) -> Steps:
    """The paths through `pattern`, whose leftmost event has origin `first`. Raises `QueryError`."""
    return _explore(_write_out(pattern, first))


def size(pattern: Pattern) -> int:
    """The number of events written in a pattern."""
    return sum(1 for _ in occurrences(pattern))


def _write_out(pattern: Pattern, first: int) -> _Expression:
    match pattern:
        case Event():
            return Leaf(pattern.type, first)
        case Seq(parts):
            if all(isinstance(part, Not) for part in parts):
                raise QueryError("SEQ needs a part that is not negated")
            return _Row(_write_out_all(parts, first))
        case Or(parts):
            alternatives = _write_out_all(parts, first)
            _refuse_overlap(alternatives)
            return _Choice(alternatives)
        case Maybe(part):
            return _Choice((_write_out(part, first), _NOTHING))
        case Star(part):
            return _Repeat(_write_out(part, first))
        case Plus(part):
            return _one_or_more(_write_out(part, first))
        case Repeat(part, least, most):
            copies = [_write_out(part, first) for _ in range(least if most is None else most)]
            rest = _one_or_more(copies[-1]) if most is None else copies[-1]
            for number in range(len(copies) - 1, 0, -1):
                rest = _Row((copies[number - 1], rest if number < least else _Choice((rest, _NOTHING))))
            return rest
        case Not():
            raise QueryError("NOT is only allowed inside SEQ")
        case And():
            raise QueryError("AND is only allowed at the top of a pattern")


def _write_out_all(parts: tuple[Pattern, ...], first: int) -> tuple[_Expression, ...]:
    written: list[_Expression] = []
    for part in parts:
        written.append(_negation(part, first) if isinstance(part, Not) else _write_out(part, first))
        first += size(part)
    return tuple(written)


def _negation(negated: Not, first: int) -> NegatedPattern:
    inner = steps_of(negated.part, first)
    if any(inner.begin.values()) or any(inner.end.values()):
        raise QueryError("a negated pattern cannot begin or end with NOT")
    return NegatedPattern(first, inner)


def _one_or_more(part: _Expression) -> _Expression:
    return _Row((part, _Repeat(part)))


def _explore(expression: _Expression) -> Steps:
    """Follows derivatives from the whole expression until no new leaf is found."""
    begin, _, rests = _ways((expression,))
    after: dict[Leaf, dict[Leaf, Negations]] = {}
    end: dict[Leaf, Negations] = {}
    pending = dict(rests)
    while pending:
        leaf, rest = pending.popitem()
        after[leaf], at_end, rests_of = _ways(rest)
        if at_end is not None:
            end[leaf] = at_end
        pending.update({successor: left for successor, left in rests_of.items() if successor not in after})
    return Steps(begin, after, end)


def _ways(rest: _Rest) -> tuple[dict[Leaf, Negations], Negations | None, dict[Leaf, _Rest]]:
    """Next leaves with their negations, the negations up to the end (None: cannot end here), and each leaf's rest.

    The rest after a leaf depends on the leaf alone, since every leaf has one place in the expression.
    """
    alternatives: dict[Leaf | None, set[Negations]] = {}
    rests: dict[Leaf, _Rest] = {}
    for leaf, negations, left in _take_apart(rest, frozenset(), frozenset()):
        alternatives.setdefault(leaf, set()).add(negations)
        if leaf is not None:
            rests[leaf] = left
    chosen = {leaf: _smallest(sets) for leaf, sets in alternatives.items()}
    at_end = chosen.pop(None, None)
    return {leaf: negations for leaf, negations in chosen.items() if leaf is not None}, at_end, rests


def _take_apart(
    rest: _Rest, negations: Negations, repeated: frozenset[_Repeat]
) -> Iterator[tuple[Leaf | None, Negations, _Rest]]:
    """Every next leaf (None: the end), the negations passed before it, and the rest after it.

    `repeated`: the repetitions entered since the last leaf; a second empty round would reach nothing new.
    """
    if not rest:
        yield None, negations, ()
        return
    head, tail = rest[0], rest[1:]
    match head:
        case Leaf():
            yield head, negations, tail
        case NegatedPattern():
            yield from _take_apart(tail, negations | {head}, repeated)
        case _Row(parts):
            yield from _take_apart(parts + tail, negations, repeated)
        case _Choice(parts):
            for part in parts:
                yield from _take_apart((part, *tail), negations, repeated)
        case _Repeat(part):
            yield from _take_apart(tail, negations, repeated)
            if head not in repeated:
                yield from _take_apart((part, head, *tail), negations, repeated | {head})


def _smallest(sets: set[Negations]) -> Negations:
    """The set that all others include."""
    least = frozenset.intersection(*sets)
    if least not in sets:
        raise QueryError("two events of the pattern can follow each other past different negations")
    return least


def _refuse_overlap(alternatives: tuple[_Expression, ...]) -> None:
    """Raises an error if two alternatives of an OR below the top match a common sequence of types: it counts twice."""
    steps = [_explore(alternative) for alternative in alternatives]
    for index, left in enumerate(steps):
        if any(_share_types(left, right) for right in steps[index + 1 :]):
            raise QueryError("alternatives of an OR below the top can match the same events; move the OR to the top")


def _share_types(left: Steps, right: Steps) -> bool:
    """Whether both match some common sequence of types; explores both in parallel."""
    pending = [(a, b) for a in left.begin for b in right.begin if a.type == b.type]
    seen = set(pending)
    while pending:
        a, b = pending.pop()
        if a in left.end and b in right.end:
            return True
        fresh = {(c, d) for c in left.after[a] for d in right.after[b] if c.type == d.type} - seen
        seen |= fresh
        pending.extend(fresh)
    return False
