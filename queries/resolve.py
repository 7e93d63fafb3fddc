"""The rules of a query that need no automaton (docs/query-language.md)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from cepbench.queries.conditions import Word
from cepbench.queries.detection_rules import detection_rules, is_alternative
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    TIME,
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
    Equivalence,
    Event,
    In,
    Inverse,
    Length,
    Local,
    Maybe,
    Not,
    Op,
    Or,
    Pattern,
    Query,
    Relation,
    Repeat,
    Seq,
    Star,
    Term,
    children,
    texts,
)
from cepbench.queries.names import Finding, Path, meanings, names_text, scopes
from cepbench.queries.printing import source_of
from cepbench.queries.source import QuerySource

DEEPEST = 100
"""Maximum levels of sub-patterns, since functions on patterns recurse."""

_ANSWER_COLUMNS = frozenset({"query", "window_start", "window_end", "match", "overflow"})


def nullable(pattern: Pattern) -> bool:
    """Whether a pattern also matches the empty sequence."""
    match pattern:
        case Star() | Maybe() | Not():
            return True
        case Seq(parts):
            return all(map(nullable, parts))
        case Or(parts) | And(parts):
            return any(map(nullable, parts))
        case Event():
            return False
        case _:
            return nullable(pattern.part)


def check(query: Query, source: QuerySource | None = None) -> None:
    """Raises `QueryError` for the first rule that `query` breaks, underlined in `source` (default: canonical text)."""
    _check_depth(query, source)
    for rule in _RULES:
        for message, clause, path in rule(query):
            raise (source or source_of(query)).error(message, clause, *path)


def _check_depth(query: Query, source: QuerySource | None) -> None:
    level: list[tuple[Pattern, Path]] = [(query.pattern, ())]
    for _ in range(DEEPEST):
        if not level:
            return
        level = [(c, (*path, i)) for pattern, path in level for i, c in enumerate(children(pattern))]
    if level:
        message = f"the pattern is nested too deeply; at most {DEEPEST} levels are allowed"
        raise source.error(message, "pattern", *level[0][1]) if source else QueryError(message)


def _sub_patterns(pattern: Pattern, path: Path = ()) -> Iterator[tuple[Pattern, Path]]:
    yield pattern, path
    for index, child in enumerate(children(pattern)):
        yield from _sub_patterns(child, (*path, index))


def _pattern_rules(query: Query) -> Iterator[Finding]:
    """Checks the places of operators."""
    if isinstance(query.pattern, Not):
        yield "NOT is allowed inside SEQ only, beside a positive pattern", "pattern", ()
    for pattern, path in _sub_patterns(query.pattern):
        if isinstance(pattern, And) and path and not is_alternative(query, path):
            yield "AND is allowed at the top of the pattern only", "pattern", path
        if isinstance(pattern, Seq | Or | And) and len(pattern.parts) < 2:
            yield f"{type(pattern).__name__.upper()} joins at least two patterns", "pattern", path
        if isinstance(pattern, Repeat) and not 1 <= pattern.least <= (pattern.most or pattern.least):
            yield "a repetition {n,m} needs 1 <= n <= m", "pattern", path
        if isinstance(pattern, Seq) and all(isinstance(part, Not) for part in pattern.parts):
            yield "a SEQ needs a part without NOT", "pattern", path
        for index, child in enumerate(children(pattern)):
            if isinstance(child, Not) and not isinstance(pattern, Seq):
                yield "NOT is allowed inside SEQ only, beside a positive pattern", "pattern", (*path, index)
        if isinstance(pattern, Or) and pattern.alias is not None and query.span is None:
            yield "OR has an alias under PER MATCH only; give its events aliases", "pattern", path
        if isinstance(pattern, Not):
            yield from _negation_rules(pattern, path)


def _negation_rules(pattern: Not, path: Path) -> Iterator[Finding]:
    if nullable(pattern.part):
        yield (
            "a negated pattern must not match the empty sequence; use + for * and omit ?",
            "pattern",
            (*path, 0),
        )
    for backwards in (False, True):
        edge = _edge_negation(pattern.part, (*path, 0), backwards)
        if edge is not None:
            yield "NOT may not begin or end a negated SEQ; put it between two positive parts", "pattern", edge


def _edge_negation(pattern: Pattern, path: Path, backwards: bool) -> Path | None:
    """The path to a NOT with nothing, or only optional parts, before it (after it)."""
    if isinstance(pattern, Not):
        return path
    parts = list(enumerate(children(pattern)))
    for index, child in reversed(parts) if backwards else parts:
        negation = _edge_negation(child, (*path, index), backwards)
        if negation is not None:
            return negation
        if isinstance(pattern, Seq) and not nullable(child):
            return None
    return None


def _name_rules(query: Query) -> Iterator[Finding]:
    """Checks that aliases are unique."""
    seen: set[str] = set()
    for pattern, path in _sub_patterns(query.pattern):
        if isinstance(pattern, Event | Or) and pattern.alias is not None:
            if pattern.alias in seen:
                yield f"the alias {pattern.alias!r} is given twice; each names one event", "pattern", path
            seen.add(pattern.alias)


def _return_rules(query: Query) -> Iterator[Finding]:
    """Checks the items of RETURN, and those allowed with AND."""
    returns = query.returns
    conjunction = isinstance(query.pattern, And) and query.span is None
    if isinstance(returns, CompleteMatches) and conjunction:
        yield "COMPLETE MATCHES is not defined for AND; use RETURN MATCHES", "return", ()
    if not isinstance(returns, Aggregates):
        return
    if conjunction and len(query.pattern.parts if isinstance(query.pattern, And) else ()) != 2:
        yield "an aggregation query joins exactly two patterns by AND (RETURN MATCHES takes more)", "pattern", ()
    names = meanings(query.pattern)
    negated = [scope is not None for scope in scopes(query.pattern)]
    yield from _twice(returns.group, "return", 0)
    yield from _twice(returns.items, "return", len(returns.group))
    for index, attribute in enumerate(returns.group):
        if attribute not in query.group_by:
            listed = f"it has {', '.join(query.group_by)}" if query.group_by else "the query has none"
            yield f"{attribute!r} is not in GROUP-BY ({listed})", "return", (index,)
    if not returns.items:
        yield "RETURN needs an aggregate, such as COUNT(*), or MATCHES", "return", ()
    for index, item in enumerate(returns.items, len(returns.group)):
        if isinstance(item, CountAll):
            continue
        if conjunction:
            yield "for AND, COUNT(*) is the only aggregate", "return", (index,)
        yield from _unknown(names, item.name, "return", (index,))
        if isinstance(item, AggregateOf) and item.attribute == TIME:
            yield f"{TIME} is for WHERE only; aggregates take attributes of events", "return", (index,)
        if any(negated[i] for i in names[item.name]):
            message = f"{item.name!r} is under NOT, so no match binds it"
            yield f"{message}; to mean another {item.name} give that one an alias", "return", (index,)


def _predicate_rules(query: Query) -> Iterator[Finding]:
    """Checks names and constants of WHERE."""
    names = meanings(query.pattern)
    scope = scopes(query.pattern)
    for index, predicate in enumerate(query.predicates):
        match predicate:
            case Equivalence(attributes):
                if not attributes:
                    yield "an equivalence predicate needs an attribute", "where", (index,)
                if TIME in attributes:
                    yield f"{TIME} is for comparisons in WHERE only", "where", (index,)
            case Local(name, condition):
                yield from _unknown(names, name, "where", (index, 0))
                for message in _condition_rules(condition):
                    yield message, "where", (index,)
                for word in texts(condition):
                    if isinstance(word, Word) and word in names:
                        message = f"{word} is an event of the pattern: write {word}.attribute"
                        yield f"{message}, or {str(word)!r} for the text", "where", (index,)
            case Comparison(left, _, right, following):
                yield from _unknown(names, left.name, "where", (index, 0))
                yield from _unknown(names, right.name, "where", (index, 1))
                for message in (*_term_rules(left.term), *_term_rules(right.term)):
                    yield message, "where", (index,)
                if not following and set(names[left.name]) & set(names[right.name]):
                    yield _same_event(left.name, right.name), "where", (index,)
                yield from _scope_rules(left.name, right.name, names, scope, (index,))


def _condition_rules(condition: Condition) -> Iterator[str]:
    """The rules that a condition on one event breaks."""
    match condition:
        case Relation(left, op, Term() as right):
            yield from (*_term_rules(left), *_term_rules(right))
            if left == right:
                yield f"{left.attribute} is compared with itself; NEXT(E).{left.attribute} means that of the next event"
        case Relation(left, op, constant) if not isinstance(constant, Term):
            yield from _term_rules(left)
            yield from _constant_rules(left, constant)
            if isinstance(constant, str) and op not in (Op.EQ, Op.NE):
                yield "a text compares by = and != only"
        case In(attribute, values):
            for value in values:
                yield from _constant_rules(Term(attribute), value)
        case AllOf(parts) | AnyOf(parts):
            if len(parts) < 2:
                yield "AND and OR join at least two conditions"
            for part in parts:
                yield from _condition_rules(part)
        case Inverse(part):
            yield from _condition_rules(part)


def _term_rules(term: Term) -> Iterator[str]:
    if isinstance(term.offset, Length):
        yield from _constant_rules(term, term.offset)


def _constant_rules(term: Term, constant: Constant) -> Iterator[str]:
    """The rules that a constant breaks beside a term."""
    if isinstance(constant, Length) and term.attribute != TIME:
        yield f"a constant with a unit is compared with {TIME} only, not with {term.attribute}"
    if isinstance(constant, Length) and constant.unit == "events":
        yield "a constant has a unit of time, as in 5 minutes, or none"
    if isinstance(constant, str) and (term.factor != 1 or term.offset != 0):
        yield "a text has no factor and nothing is added to it"


def _same_event(left: str, right: str) -> str:
    if left == right:
        return f"both sides of a comparison mean the same event of {left}; write NEXT({right}) for the next one"
    return f"{left} and {right} may mean the same event; give each occurrence an alias and name both"


def _scope_rules(
    left: str, right: str, names: Mapping[str, tuple[int, ...]], scope: Sequence[Path | None], path: Path
) -> Iterator[Finding]:
    """A comparison relates positive events, or events of one NOT."""
    if len({scope[i] for i in names[left] + names[right]}) > 1:
        message = "a comparison may not mix events of different NOTs, or negated and positive ones"
        for name in (left, right):
            if len({scope[i] for i in names[name]}) > 1:
                message += f"; {name} means several events: give the one that is meant an alias"
        yield message, "where", path


def _group_rules(query: Query) -> Iterator[Finding]:
    """Checks that attributes of GROUP-BY can be columns of the answer."""
    yield from _twice(query.group_by, "group by", 0)
    for index, attribute in enumerate(query.group_by):
        if attribute == TIME:
            yield f"{TIME} is for comparisons in WHERE only", "group by", (index,)
        if attribute in _ANSWER_COLUMNS:
            yield f"{attribute!r} is a column of every answer; rename the attribute", "group by", (index,)


def _window_rules(query: Query) -> Iterator[Finding]:
    """Checks that WITHIN and SLIDE are positive, of one kind, and whole for counts."""
    if query.window is None:
        return
    if query.span is not None:
        yield "a query has windows or a span per match, not both", "within", ()
    lengths = (query.window.within, query.window.slide)
    for index, length in enumerate(lengths):
        if length.amount <= 0:
            yield f"{('WITHIN', 'SLIDE')[index]} must be positive", "within", (index,)
        if length.unit == "events" and length.amount.denominator != 1:
            yield "a window counts whole events", "within", (index,)
    if (lengths[0].unit == "events") != (lengths[1].unit == "events"):
        yield "WITHIN and SLIDE both count events or both measure time", "within", (1,)


def _unknown(names: Mapping[str, tuple[int, ...]], name: str, clause: str, path: Path) -> Iterator[Finding]:
    if name not in names:
        yield f"unknown name {name!r}; {names_text(names)}", clause, path


def _twice(values: Sequence[Hashable], clause: str, offset: int) -> Iterator[Finding]:
    if len(set(values)) < len(values):
        index = next(i for i, value in enumerate(values) if value in values[:i])
        yield f"{values[index]!s} is listed twice", clause, (offset + index,)


_RULES: tuple[Callable[[Query], Iterator[Finding]], ...] = (
    _pattern_rules,
    _name_rules,
    _return_rules,
    _predicate_rules,
    _group_rules,
    _window_rules,
    detection_rules,
)
