"""The canonical text of a query, which parses to the same query, and the places of its parts in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from cepbench.queries.lexis import quote_name, quote_text
from cepbench.queries.model import (
    AggregateOf,
    Aggregates,
    AllOf,
    And,
    AnyOf,
    Comparison,
    CompleteMatches,
    Condition,
    Constant,
    CountAll,
    CountOf,
    Equivalence,
    Event,
    In,
    Inverse,
    Item,
    Length,
    Local,
    Matches,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Relation,
    Repeat,
    Seq,
    Star,
    Term,
)
from cepbench.queries.source import Node, QuerySource

Value = TypeVar("Value")


def to_text(query: Query) -> str:
    """`query` in canonical form: one clause per line, in the order of the papers, with all defaults.

    `parse_query(to_text(query)) == query` for every parsed query. (A nested OR in OR, which only code can build,
    becomes flat.)
    """
    return source_of(query).text


def predicate_text(predicate: Predicate) -> str:
    """A predicate in canonical form."""
    writer = _Writer()
    writer.predicate(predicate)
    return writer.text


def source_of(query: Query) -> QuerySource:
    """The canonical text with the places of the query's parts, to underline one of them in an error."""
    writer = _Writer()
    clauses: dict[str, Node] = {}
    writer.write(quote_name(query.name) + ":\n")
    clauses["return"] = writer.returns(query)
    writer.write("\nPATTERN ")
    clauses["pattern"] = writer.pattern(query.pattern, _LOOSEST)
    writer.write("\nSEMANTICS ")
    clauses["semantics"] = writer.node(query.semantics, str(query.semantics))
    if query.predicates:
        writer.write("\nWHERE ")
        clauses["where"] = writer.listed(query.predicates, " AND ", writer.predicate)
    if query.group_by:
        writer.write("\nGROUP-BY ")
        clauses["group by"] = writer.listed(query.group_by, ", ", writer.name)
    if query.window is not None:
        writer.write("\nWITHIN ")
        within = slide = writer.node(query.window.within, length_text(query.window.within))
        if query.window.slide != query.window.within:
            writer.write(" SLIDE ")
            slide = writer.node(query.window.slide, length_text(query.window.slide))
        clauses["within"] = Node(query.window, within.start, slide.stop, (within, slide))
    if query.span is not None:
        writer.write("\nWITHIN ")
        span = writer.node(query.span, length_text(query.span))
        writer.write(" PER MATCH")
        clauses["within"] = Node(query.span, span.start, span.stop, (span,))
    return QuerySource(writer.text, clauses)


_LOOSEST, _IN_OR, _IN_AND, _IN_NOT, _IN_POSTFIX = range(5)
"""The binding strength of the place of a sub-pattern: looser patterns need parentheses there."""

_BINDING = {Or: _LOOSEST, And: _IN_OR, Not: _IN_NOT}
"""The loosest place in which an operator needs no parentheses; the others bind tightest."""


class _Writer:
    """Collects text and returns the node of each part."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0

    @property
    def text(self) -> str:
        """The collected text."""
        return "".join(self._pieces)

    def write(self, text: str) -> None:
        """Appends text."""
        self._pieces.append(text)
        self._length += len(text)

    def node(self, value: object, text: str) -> Node:
        """Appends the whole text of a value."""
        start = self._length
        self.write(text)
        return Node(value, start, self._length)

    def listed(self, values: Sequence[Value], separator: str, write: Callable[[Value], Node]) -> Node:
        """Appends values with a separator between them."""
        start = self._length
        nodes = []
        for index, value in enumerate(values):
            if index:
                self.write(separator)
            nodes.append(write(value))
        return Node(values, start, self._length, tuple(nodes))

    def name(self, name: str) -> Node:
        """Appends a name."""
        return self.node(name, quote_name(name))

    def returns(self, query: Query) -> Node:
        """Appends the RETURN clause."""
        match query.returns:
            case Matches():
                return self.node(query.returns, "RETURN MATCHES")
            case CompleteMatches():
                return self.node(query.returns, "RETURN COMPLETE MATCHES")
            case Aggregates(group, items):
                self.write("RETURN ")
                columns: tuple[str | Item, ...] = (*group, *items)
                return self.listed(columns, ", ", lambda c: self.name(c) if isinstance(c, str) else self._item(c))

    def pattern(self, pattern: Pattern, place: int) -> Node:
        """Appends a pattern, in parentheses where `place` binds tighter."""
        start = self._length
        alias = pattern.alias if isinstance(pattern, Or) else None
        bracket = alias is not None or _BINDING.get(type(pattern), _IN_POSTFIX) < place
        if bracket:
            self.write("(")
        node = self._bare(pattern)
        if bracket:
            self.write(")" if alias is None else f") {quote_name(alias)}")
        return Node(pattern, start, self._length, node.children)

    def predicate(self, predicate: Predicate) -> Node:
        """Appends a predicate."""
        start = self._length
        match predicate:
            case Equivalence(attributes):
                return self.node(predicate, f"[{', '.join(map(quote_name, attributes))}]")
            case Local(name, condition):
                children: tuple[Node, ...] = (self.node(condition, _condition(condition, name, 1)),)
            case Comparison(first, op, second, following):
                left = self.node(first, _term(first.term, quote_name(first.name)))
                self.write(f" {op} ")
                name = quote_name(second.name)
                children = (left, self.node(second, _term(second.term, f"NEXT({name})" if following else name)))
        return Node(predicate, start, self._length, children)

    def _bare(self, pattern: Pattern) -> Node:
        start = self._length
        match pattern:
            case Event(name, alias):
                return self.node(pattern, quote_name(name) + (f" {quote_name(alias)}" if alias is not None else ""))
            case Seq(parts):
                self.write("SEQ(")
                children = self.listed(parts, ", ", lambda part: self.pattern(part, _LOOSEST)).children
                self.write(")")
            case Or(parts):
                children = self.listed(parts, " OR ", lambda part: self.pattern(part, _IN_OR)).children
            case And(parts):
                children = self.listed(parts, " AND ", lambda part: self.pattern(part, _IN_AND)).children
            case Not(part):
                self.write("NOT ")
                children = (self.pattern(part, _IN_NOT),)
            case Plus(part) | Star(part) | Maybe(part) | Repeat(part):
                children = (self.pattern(part, _IN_POSTFIX),)
                self.write(_postfix(pattern))
        return Node(pattern, start, self._length, children)

    def _item(self, item: Item) -> Node:
        match item:
            case CountAll():
                return self.node(item, "COUNT(*)")
            case CountOf(name):
                return self.node(item, f"COUNT({quote_name(name)})")
            case AggregateOf(function, name, attribute):
                return self.node(item, f"{function}({quote_name(name)}.{quote_name(attribute)})")


def _postfix(pattern: Plus | Star | Maybe | Repeat) -> str:
    match pattern:
        case Plus():
            return "+"
        case Star():
            return "*"
        case Maybe():
            return "?"
        case Repeat(_, least, most):
            return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _condition(condition: Condition, name: str, place: int) -> str:
    """The text of a condition on events of a name, in parentheses where `place` binds tighter: 1 in AND, 2 in NOT."""
    event = quote_name(name)
    match condition:
        case Relation(left, op, right):
            right_text = _term(right, event) if isinstance(right, Term) else _constant(right)
            return f"{_term(left, event)} {op} {right_text}"
        case In(attribute, values):
            return f"{event}.{quote_name(attribute)} IN ({', '.join(map(_constant, values))})"
        case Inverse(part):
            return f"NOT {_condition(part, name, 2)}"
        case AllOf(parts):
            text = " AND ".join(_condition(part, name, 1) for part in parts)
            return f"({text})" if place > 1 else text
        case AnyOf(parts):
            text = " OR ".join(_condition(part, name, 0) for part in parts)
            return f"({text})" if place > 0 else text


def _term(term: Term, event: str) -> str:
    factor = "" if term.factor == 1 else f"{term.factor!r} * "
    text = f"{factor}{event}.{quote_name(term.attribute)}"
    if isinstance(term.offset, Length):
        negative = term.offset.amount < 0
        return f"{text} {'-' if negative else '+'} {length_text(Length(abs(term.offset.amount), term.offset.unit))}"
    return text if repr(term.offset) == "0" else f"{text} + {term.offset!r}"  # 0.0 makes a float of an integer


def _constant(constant: Constant) -> str:
    if isinstance(constant, Length):
        return length_text(constant)
    return quote_text(constant) if isinstance(constant, str) else repr(constant)


def length_text(length: Length) -> str:
    """A length in canonical form."""
    return f"{_exact(length.amount)} {length.unit}"


def _exact(amount: Fraction) -> str:
    """A decimal number if there is an exact one, else `n/d`."""
    rest, twos, fives = amount.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest != 1:
        return f"{amount.numerator}/{amount.denominator}"
    whole, part = divmod(int(amount * 10**digits), 10**digits)
    return f"{whole}.{part:0{digits}}" if digits else str(whole)
