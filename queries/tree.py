"""The result of each grammar rule: values of the query model, with their places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from lark import Token, Transformer, v_args

from cepbench.queries import literals
from cepbench.queries.conditions import (
    Next,
    Word,
    added,
    alternatives,
    compared,
    conjuncts,
    inverted,
    listed,
    scaled,
)
from cepbench.queries.lexis import unquote
from cepbench.queries.model import (
    AggregateOf,
    Aggregates,
    And,
    CompleteMatches,
    CountAll,
    CountOf,
    Equivalence,
    Event,
    Function,
    Item,
    Length,
    Matches,
    Maybe,
    Not,
    Operand,
    Or,
    Pattern,
    Plus,
    Repeat,
    Seq,
    Star,
    WindowClause,
)
from cepbench.queries.source import Node, Problem

Value = TypeVar("Value")

_MOST_ALTERNATIVES = 1024
"""Bounds the time of flattening `(((A OR B) OR C) OR ...`, which copies the parts at every level."""


@v_args(inline=True)
class TreeBuilder(Transformer[Token, dict[str, Node]]):
    """Callbacks for the rules of `sase.lark`. The result maps the clauses of `queries.source.Source` to nodes.

    The parser calls them bottom-up without recursion, so nesting is not limited here (but in `queries.resolve`).
    """

    def query(self, returns: Node | None, pattern: Node, *rest: Node | None) -> dict[str, Node]:
        """All clauses; those after the pattern are nodes whose value is (name, value)."""
        clauses = {"pattern": pattern}
        if returns is not None:
            clauses["return"] = returns
        for clause in rest:
            if clause is None or isinstance(clause, Token):
                continue  # the semicolon
            name, value = clause.value
            if name in clauses:
                raise Problem(f"a query has one {name.upper().replace(' ', '-')} only", clause.start, clause.stop)
            clauses[name] = clause._replace(value=value)
        return clauses

    # --- RETURN -----------------------------------------------------------------------------------------------------

    def matches(self, keyword: Token, word: Token) -> Node:
        """`RETURN MATCHES`."""
        return _node(Matches(), keyword, word)

    def complete_matches(self, keyword: Token, _: Token, word: Token) -> Node:
        """`RETURN COMPLETE MATCHES`."""
        return _node(CompleteMatches(), keyword, word)

    def aggregates(self, keyword: Token, *items: Node) -> Node:
        """Grouping attributes and aggregates, each kind in its order."""
        group = tuple(item for item in items if isinstance(item.value, str))
        aggregates = tuple(item for item in items if not isinstance(item.value, str))
        value = Aggregates(tuple(g.value for g in group), tuple(a.value for a in aggregates))
        return _node(value, keyword, items[-1], group + aggregates)

    def count_all(self, function: Token, *rest: Token) -> Node:
        """`COUNT(*)`."""
        return _node(CountAll(), function, rest[-1])

    def count_of(self, function: Token, _: Token, name: Token, end: Token) -> Node:
        """`COUNT(E)`."""
        return _node(CountOf(_name(name)), function, end)

    def aggregate_of(self, function: Token, _: Token, name: Token, __: Token, attribute: Token, end: Token) -> Node:
        """`SUM(E.attr)` and its like."""
        item: Item = AggregateOf(Function(function.upper()), _name(name), _name(attribute))
        return _node(item, function, end)

    def attribute(self, first: Token, _: Token | None, second: Token | None) -> Node:
        """`attr`, or `E.attr` whose E is dropped (and kept as a child, to be looked up)."""
        if second is None:
            return _node(_name(first), first, first)
        return _node(_name(second), first, second, (_node(_name(first), first, first),))

    # --- PATTERN ----------------------------------------------------------------------------------------------------

    def pattern_clause(self, _: Token, pattern: Node) -> Node:
        """The pattern itself."""
        return pattern

    def event(self, name: Token, alias: Token | None) -> Node:
        """`E` or `E alias`."""
        return _node(Event(_name(name), _name(alias) if alias else None), name, alias or name)

    def group(self, left: Token, inner: Node, right: Token, alias: Token | None = None) -> Node:
        """Something in parentheses, also `(A OR B) alias`."""
        if alias is None:
            return _node(inner.value, left, right, inner.children)
        return _node(_aliased(inner, alias), left, alias, inner.children)

    def call(self, keyword: Token, _: Token, inner: Node, right: Token) -> Node:
        """`SEQ(...)`."""
        return _node(inner.value, keyword, right, inner.children)

    def sequence(self, *parts: Node) -> Node:
        """`P, P, ...`."""
        return _node(Seq(tuple(p.value for p in parts)), parts[0], parts[-1], parts)

    def disjunction(self, *parts: Node | Token) -> Node:
        """`P OR P OR ...`."""
        return _joined(Or, parts)

    def conjunction(self, *parts: Node | Token) -> Node:
        """`P AND P AND ...`."""
        return _joined(And, parts)

    def or_call(self, *parts: Node | Token) -> Node:
        """`OR(P, ...)`."""
        return _joined(Or, parts)

    def and_call(self, *parts: Node | Token) -> Node:
        """`AND(P, ...)`."""
        return _joined(And, parts)

    def negation(self, keyword: Token, part: Node) -> Node:
        """`NOT P`."""
        return _node(Not(part.value), keyword, part, (part,))

    def plus(self, part: Node, sign: Token, alias: Token | None) -> Node:
        """`P+`, also `E+ alias`."""
        return _repeated(Plus, part, sign, alias)

    def star(self, part: Node, sign: Token, alias: Token | None) -> Node:
        """`P*`."""
        return _repeated(Star, part, sign, alias)

    def maybe(self, part: Node, sign: Token, alias: Token | None) -> Node:
        """`P?`."""
        return _repeated(Maybe, part, sign, alias)

    def exactly(self, part: Node, _: Token, count: Token, end: Token, alias: Token | None) -> Node:
        """`P{n}`."""
        return _counted(part, count, count, end, alias)

    def at_least(self, part: Node, _: Token, count: Token, __: Token, end: Token, alias: Token | None) -> Node:
        """`P{n,}`; `P{0,}` is `P*`."""
        return _counted(part, count, None, end, alias)

    def between(
        self, part: Node, _: Token, least: Token, __: Token, most: Token, end: Token, alias: Token | None
    ) -> Node:
        """`P{n,m}`; `P{0,m}` is `(P{1,m})?`."""
        return _counted(part, least, most, end, alias)

    def at_most(self, part: Node, start: Token, _: Token, most: Token, end: Token, alias: Token | None) -> Node:
        """`P{,m}`, which is refused."""
        message = f"a repetition names its least number; write {{0,{most}}} for none or up to {most}"
        raise Problem(message, start.start_pos or 0, end.end_pos or 0)

    # --- clauses after the pattern ----------------------------------------------------------------------------------

    def semantics(self, keyword: Token, name: Token) -> Node:
        """`SEMANTICS name`."""
        return _node(("semantics", _literal(literals.semantics, name)), keyword, name)

    def where(self, keyword: Token, condition: Node) -> Node:
        """`WHERE p AND p ...`; AND in parentheses joins predicates, too."""
        predicates = conjuncts(condition)
        return _node(("where", tuple(p.value for p in predicates)), keyword, condition, predicates)

    def group_by(self, keyword: Token, *attributes: Node) -> Node:
        """`GROUP-BY a, b`."""
        return _node(("group by", tuple(a.value for a in attributes)), keyword, attributes[-1], attributes)

    def within(self, keyword: Token, within: Node, _: Token | None, slide: Node | None) -> Node:
        """`WITHIN n unit SLIDE m unit`; without SLIDE, windows tumble."""
        slide = slide or within
        return _node(("within", WindowClause(within.value, slide.value)), keyword, slide, (within, slide))

    def per_match(self, keyword: Token, within: Node, _: Token, last: Token) -> Node:
        """`WITHIN n unit PER MATCH`: the length is the span of a match."""
        return _node(("within", within.value), keyword, last, (within,))

    def length(self, number: Token, _: Token | None, denominator: Token | None, unit: Token) -> Node:
        """`n unit` or `n/m unit`."""
        amount = _literal(lambda text: literals.amount(text, None if denominator is None else str(denominator)), number)
        return _node(Length(amount, _literal(literals.unit, unit)), number, unit)

    # --- predicates -------------------------------------------------------------------------------------------------

    def equivalence(self, left: Token, *rest: Token) -> Node:
        """`[a, b]`."""
        return _node(Equivalence(tuple(_name(attribute) for attribute in rest[:-1])), left, rest[-1])

    def all_of(self, *parts: Node | Token) -> Node:
        """`p AND p ...`: a node whose value is the tuple of all predicates."""
        predicates = tuple(p for part in parts if isinstance(part, Node) for p in conjuncts(part))
        return _node(tuple(p.value for p in predicates), parts[0], parts[-1], predicates)

    def any_of(self, *parts: Node | Token) -> Node:
        """`p OR p ...`."""
        nodes = tuple(part for part in parts if isinstance(part, Node))
        return _node(alternatives(nodes), parts[0], parts[-1], nodes)

    def inverse(self, keyword: Token, part: Node) -> Node:
        """`NOT p`."""
        return _node(inverted(part), keyword, part, (part,))

    def comparison(self, left: Node, sign: Token, right: Node) -> Node:
        """`side op side`."""
        return compared(left, str(sign), right)

    def in_list(self, operand: Node, negation: Token | None, *rest: Node | Token) -> Node:
        """`E.x IN (a, b)`."""
        constants = [part for part in rest if isinstance(part, Node)]
        end = rest[-1]
        assert isinstance(end, Token)
        return listed(operand, negation is not None, constants, end.end_pos or 0)

    def plus_summand(self, left: Node, _: Token, right: Node) -> Node:
        """`a + b`."""
        return _node(added(left, right, 1), left, right)

    def minus_summand(self, left: Node, _: Token, right: Node) -> Node:
        """`a - b`."""
        return _node(added(left, right, -1), left, right)

    def operand(self, name: Token, _: Token, attribute: Token) -> Node:
        """`E.x`."""
        return _node(Operand(_name(name), _name(attribute)), name, attribute)

    def next_operand(self, keyword: Token, _: Token, name: Token, __: Token, ___: Token, attribute: Token) -> Node:
        """`NEXT(E).x`."""
        return _node(Next(Operand(_name(name), _name(attribute))), keyword, attribute)

    def factor_first(self, factor: Token, _: Token, operand: Node) -> Node:
        """`f * E.x`."""
        return _node(scaled(operand, _literal(literals.number, factor)), factor, operand)

    def factor_last(self, operand: Node, _: Token, factor: Token) -> Node:
        """`E.x * f`."""
        return _node(scaled(operand, _literal(literals.number, factor)), operand, factor)

    def number(self, token: Token) -> Node:
        """A number as a constant."""
        return _node(_literal(literals.number, token), token, token)

    def text(self, token: Token) -> Node:
        """A quoted text."""
        return _node(_literal(unquote, token), token, token)

    def word(self, token: Token) -> Node:
        """A text without quotes, as in `M.activity = passive`."""
        return _node(Word(_name(token)), token, token)


def _node(value: object, first: Node | Token, last: Node | Token, children: tuple[Node, ...] = ()) -> Node:
    start = first.start_pos if isinstance(first, Token) else first.start
    stop = last.end_pos if isinstance(last, Token) else last.stop
    return Node(value, start or 0, stop or 0, children)


def _literal(read: Callable[[str], Value], token: Token) -> Value:
    try:
        return read(str(token))
    except ValueError as error:
        raise Problem(str(error), token.start_pos or 0, token.end_pos or 0) from None


def _name(token: Token) -> str:
    return _literal(unquote, token) if token.startswith("`") else str(token)


def _joined(kind: type[Or] | type[And], parts: tuple[Node | Token, ...]) -> Node:
    """Parts of one kind, flattened; a single part is returned unchanged."""
    nodes: list[Node] = []
    for part in parts:
        if isinstance(part, Node):
            flat = isinstance(part.value, kind) and getattr(part.value, "alias", None) is None
            nodes.extend(part.children if flat else (part,))
    if len(nodes) > _MOST_ALTERNATIVES:
        raise Problem(f"OR and AND join at most {_MOST_ALTERNATIVES} patterns", nodes[0].start, nodes[-1].stop)
    if len(nodes) == 1:
        return nodes[0]
    return _node(kind(tuple(node.value for node in nodes)), parts[0], parts[-1], tuple(nodes))


def _repeated(build: Callable[[Pattern], Pattern], part: Node, sign: Token, alias: Token | None) -> Node:
    """A postfix operator on `part`; `E+ alias` means `E alias+`."""
    if alias is not None:
        part = part._replace(value=_aliased(part, alias))
    return _node(build(part.value), part, alias or sign, (part,))


def _counted(part: Node, least: Token, most: Token | None, end: Token, alias: Token | None) -> Node:
    """`part` repeated; without an upper bound if `most` is None."""
    low = _literal(literals.count, least)
    high = None if most is None else _literal(literals.count, most)
    if high is not None and not 0 < high >= low:
        message = f"a repetition {{n,m}} needs 0 <= n <= m and m >= 1, not {{{least},{most}}}"
        raise Problem(message if least is not most else "P{n} needs n >= 1", least.start_pos or 0, end.end_pos or 0)

    def build(inner: Pattern) -> Pattern:
        if low:
            return Repeat(inner, low, high)
        return Star(inner) if high is None else Maybe(Repeat(inner, 1, high))

    return _repeated(build, part, end, alias)


def _aliased(part: Node, alias: Token) -> Event | Or:
    """An event type, or an OR, with its alias."""
    named = part.value
    if not isinstance(named, Event | Or) or named.alias is not None:
        message = "an alias follows an event type or an OR in parentheses, once"
        raise Problem(message, alias.start_pos or 0, alias.end_pos or 0)
    return replace(named, alias=_name(alias))
