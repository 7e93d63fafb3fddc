"""The clauses of a query that restrict its matches, as written, and the query without some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cepbench.queries.model import (
    And,
    Comparison,
    Equivalence,
    Event,
    Length,
    Local,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Repeat,
    Semantics,
    Seq,
    Star,
    WindowClause,
    children,
)
from cepbench.queries.names import meanings
from cepbench.queries.printing import length_text
from cepbench.queries.source import QuerySource

Part = Predicate | Not | Semantics | tuple[str, ...] | WindowClause | Length


@dataclass(frozen=True, eq=False)
class Clause:
    """A clause: its `text` as written and the `part` of the query that it stands for; a tuple is that of GROUP-BY.

    `longer`: the length that a match may have instead; None for the whole stream.
    """

    text: str
    part: Part
    longer: WindowClause | Length | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes on whose values all events of a match agree."""
        if isinstance(self.part, Equivalence):
            return self.part.attributes
        return self.part if isinstance(self.part, tuple) else ()

    @property
    def change(self) -> str:
        """The words for a query without it."""
        match self.longer:
            case WindowClause(within, slide):
                return f"with WITHIN {length_text(within)} SLIDE {length_text(slide)} instead of {self.text}"
            case Length() as span:
                return f"with WITHIN {length_text(span)} PER MATCH instead of {self.text}"
            case None:
                return f"without {self.text}"


def clauses_of(query: Query, source: QuerySource) -> list[Clause]:
    """The clauses of a query, in the order in which they are tried; a negation inside another is none."""

    def clause(name: str, part: Part) -> Clause:
        return Clause(source.written(source.clauses[name]), part)

    written = {id(node.value): source.written(node) for node in source.clauses["pattern"].nodes()}
    nodes = source.clauses["where"].children if query.predicates else ()
    clauses = [Clause(source.written(node), predicate) for node, predicate in zip(nodes, query.predicates, strict=True)]
    clauses += [Clause(written[id(part)], part) for part in _negations(query.pattern)]
    if query.semantics is not Semantics.ANY:
        clauses.append(clause("semantics", query.semantics))
    if query.group_by:
        clauses.append(clause("group by", query.group_by))
    if (length := query.window or query.span) is not None:
        clauses.append(clause("within", length))
    return clauses


def doubled(clause: Clause) -> Clause | None:
    """WITHIN in twice its length, with windows that begin when they did; None for another clause."""
    match clause.part:
        case WindowClause(within, slide):
            return replace(clause, longer=WindowClause(_twice(within), slide))
        case Length() as span:
            return replace(clause, longer=_twice(span))
        case _:
            return None


def without(query: Query, clauses: Sequence[Clause], stream: Length) -> Query:
    """The query without some clauses; `stream`: the length of the stream, in a unit of the query's span."""
    for clause in clauses:
        match clause.part:
            case Not() as negated:
                query = _without_negation(query, negated)
            case Semantics():
                query = replace(query, semantics=Semantics.ANY)
            case WindowClause():
                query = replace(query, window=clause.longer if isinstance(clause.longer, WindowClause) else None)
            case Length():
                query = replace(query, span=clause.longer if isinstance(clause.longer, Length) else stream)
            case tuple():
                query = replace(query, group_by=())
            case predicate:
                query = replace(query, predicates=tuple(kept for kept in query.predicates if kept is not predicate))
    return query


def _twice(length: Length) -> Length:
    return replace(length, amount=2 * length.amount)


def _without_negation(query: Query, negated: Not) -> Query:
    """The query without a negation, and without predicates on its events."""
    pattern = _without(query.pattern, negated)
    names = set(meanings(pattern))
    return replace(query, pattern=pattern, predicates=tuple(p for p in query.predicates if _names(p) <= names))


def _without(pattern: Pattern, negated: Not) -> Pattern:
    match pattern:
        case Event() | Not():
            return pattern
        case Seq(parts):
            kept = tuple(_without(part, negated) for part in parts if part is not negated)
            return kept[0] if len(kept) == 1 else Seq(kept)
        case Or(parts) | And(parts):
            return replace(pattern, parts=tuple(_without(part, negated) for part in parts))
        case Plus(part) | Star(part) | Maybe(part):
            return replace(pattern, part=_without(part, negated))
        case Repeat(part):
            return replace(pattern, part=_without(part, negated))


def _negations(pattern: Pattern) -> Iterator[Not]:
    if isinstance(pattern, Not):
        yield pattern
        return
    for part in children(pattern):
        yield from _negations(part)


def _names(predicate: Predicate) -> set[str]:
    match predicate:
        case Local(name, _):
            return {name}
        case Comparison(left, _, right):
            return {left.name, right.name}
        case Equivalence():
            return set()
