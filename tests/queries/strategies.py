"""Hypothesis strategies for random queries in the form that the parser returns."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

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
    CountAll,
    CountOf,
    Equivalence,
    Event,
    Function,
    In,
    Inverse,
    Item,
    Length,
    Local,
    Matches,
    Maybe,
    Not,
    Op,
    Operand,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Relation,
    Repeat,
    Return,
    Semantics,
    Seq,
    Star,
    Term,
    WindowClause,
    occurrences,
)
from cepbench.queries.resolve import check

NAMES = st.one_of(
    st.sampled_from(
        ["A", "B", "C", "Stock", "x_1", "_", "s", "min", "where", "SEQ", "Group_By", "count", "next", "events"]
    ),
    st.text(min_size=1, max_size=5),
)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
AMOUNTS = st.fractions(min_value=Fraction(1, 10**6), max_value=10**9, max_denominator=10**6)


def _flat(kind: type[Or] | type[And], parts: list[Pattern]) -> Pattern:
    flat: list[Pattern] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return kind(tuple(flat))


def _grown(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        several.map(lambda parts: Seq(tuple(parts))),
        st.tuples(inner, inner, inner).map(lambda p: Seq((p[0], Not(p[1]), p[2]))),
        several.map(lambda parts: _flat(Or, parts)),
        inner.map(Plus),
        inner.map(Star),
        inner.map(Maybe),
        st.builds(Repeat, inner, st.integers(1, 4), st.none()),
        st.builds(
            lambda part, least, more: Repeat(part, least, least + more), inner, st.integers(1, 3), st.integers(0, 2)
        ),
    )


def _named_apart(pattern: Pattern, aliases: set[str]) -> Pattern:
    """`pattern` without repeated aliases."""
    match pattern:
        case Event(alias=alias):
            twice = alias in aliases
            aliases.add(alias or "")
            return replace(pattern, alias=None) if twice else pattern
        case Or(parts, alias) if alias is not None:
            twice = alias in aliases
            aliases.add(alias)
            parts = tuple(_named_apart(part, aliases) for part in parts)
            return Or(parts, None if twice else alias)
        case Seq(parts) | Or(parts) | And(parts):
            return replace(pattern, parts=tuple(_named_apart(part, aliases) for part in parts))
        case _:
            return replace(pattern, part=_named_apart(pattern.part, aliases))


EVENTS: st.SearchStrategy[Pattern] = st.builds(Event, NAMES, st.none() | NAMES)
NESTED = st.recursive(EVENTS, _grown, max_leaves=6)
PATTERNS = st.one_of(NESTED, NESTED, NESTED, st.tuples(NESTED, NESTED).map(lambda parts: _flat(And, list(parts)))).map(
    lambda pattern: _named_apart(pattern, {""})
)

# Event names depend on the pattern: here they are numbers, which `_named` replaces.
NUMBERS = st.integers(0, 5).map(str)
FACTORS = st.one_of(st.just(1), INTEGERS, FLOATS.filter(lambda factor: factor != 1))
OFFSETS = st.one_of(st.just(0), INTEGERS, FLOATS)
OPERATORS = st.sampled_from(Op)
TIMES = st.builds(Length, AMOUNTS, st.sampled_from(["ns", "us", "ms", "s", "min", "h", "day"]))
SHIFTS = TIMES | TIMES.map(lambda length: replace(length, amount=-length.amount))
OPERANDS = st.one_of(
    st.builds(Operand, NUMBERS, NAMES, FACTORS, OFFSETS), st.builds(Operand, NUMBERS, st.just(TIME), FACTORS, SHIFTS)
)
TERMS = OPERANDS.map(lambda operand: operand.term)
TEXTS = st.text(max_size=6)
SINGLE: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Relation, TERMS, OPERATORS, INTEGERS | FLOATS),
    st.builds(Relation, TERMS, OPERATORS, TERMS),
    st.builds(Relation, st.builds(Term, NAMES), st.sampled_from([Op.EQ, Op.NE]), TEXTS),
    st.builds(Relation, st.builds(Term, st.just(TIME), FACTORS, SHIFTS), OPERATORS, TIMES),
    st.builds(In, NAMES, st.lists(INTEGERS | FLOATS | TEXTS, min_size=1, max_size=3).map(tuple)),
)


def _joined(kind: type[AllOf] | type[AnyOf], parts: list[Condition]) -> Condition:
    flat: list[Condition] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, AllOf | AnyOf) and isinstance(part, kind) else (part,))
    return kind(tuple(flat))


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        several.map(lambda parts: _joined(AllOf, parts)),
        several.map(lambda parts: _joined(AnyOf, parts)),
        inner.map(Inverse),
    )


# AND at the top joins predicates.
CONDITIONS = st.recursive(SINGLE, _combined, max_leaves=5).filter(lambda condition: not isinstance(condition, AllOf))
_PREDICATES: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(Equivalence, st.lists(NAMES, min_size=1, max_size=3).map(tuple)),
    st.builds(Local, NUMBERS, CONDITIONS),
    st.builds(Local, NUMBERS, SINGLE),
    st.builds(Comparison, OPERANDS, OPERATORS, OPERANDS, st.booleans()),
)


@st.composite
def predicates(draw: st.DrawFn) -> Predicate:
    """Predicates; a function, since Hypothesis warns of strategies whose text is long."""
    return draw(_PREDICATES)


ITEMS: st.SearchStrategy[Item] = st.one_of(
    st.just(CountAll()), st.builds(CountOf, NUMBERS), st.builds(AggregateOf, st.sampled_from(Function), NUMBERS, NAMES)
)
RETURNS: st.SearchStrategy[Return] = st.one_of(
    st.just(Matches()),
    st.just(CompleteMatches()),
    st.builds(Aggregates, st.just(()), st.lists(ITEMS, min_size=1, max_size=3).map(tuple)),
)
COUNTS = st.builds(Length, st.integers(1, 10**12).map(Fraction), st.just("events"))
WINDOWS = st.one_of(
    st.none(),
    st.builds(WindowClause, TIMES, TIMES),
    st.builds(WindowClause, COUNTS, COUNTS),
    TIMES.map(lambda length: WindowClause(length, length)),
)
SPANS = st.one_of(TIMES, COUNTS)
QUERIES = st.builds(
    Query,
    name=NAMES,
    returns=RETURNS,
    pattern=PATTERNS,
    semantics=st.sampled_from(Semantics),
    predicates=st.lists(predicates(), max_size=3).map(tuple),
    group_by=st.lists(NAMES, max_size=2, unique=True).map(tuple),
    window=WINDOWS,
)


def _named(query: Query) -> Query:
    """`query` with event names in place of numbers, and with its grouping attributes in RETURN."""
    names = [event.alias or event.type for event in occurrences(query.pattern)]

    def operand(value: Operand) -> Operand:
        return replace(value, name=names[int(value.name) % len(names)])

    def predicate(value: Predicate) -> Predicate:
        match value:
            case Local(name):
                return replace(value, name=names[int(name) % len(names)])
            case Comparison():
                return replace(value, left=operand(value.left), right=operand(value.right))
        return value

    def item(value: Item) -> Item:
        return value if isinstance(value, CountAll) else replace(value, name=names[int(value.name) % len(names)])

    returns = query.returns
    if isinstance(returns, Aggregates):
        returns = Aggregates(query.group_by[:1], tuple(dict.fromkeys(map(item, returns.items))))
    return replace(query, returns=returns, predicates=tuple(map(predicate, query.predicates)))


def _means_something(query: Query) -> bool:
    try:
        check(query)
    except QueryError:
        return False
    return True


OPERANDS_OF_DETECTION: st.SearchStrategy[Pattern] = st.one_of(EVENTS, EVENTS, EVENTS.map(Plus))
_SEVERAL = st.lists(OPERANDS_OF_DETECTION, min_size=2, max_size=4)
_EITHER: st.SearchStrategy[Pattern] = st.builds(
    Or, st.lists(EVENTS, min_size=2, max_size=3).map(tuple), st.none() | NAMES
)
_ORDERED = st.one_of(OPERANDS_OF_DETECTION, _EITHER, _EITHER.map(Plus))
ALTERNATIVES: st.SearchStrategy[Pattern] = st.one_of(
    OPERANDS_OF_DETECTION,
    st.lists(_ORDERED, min_size=2, max_size=4).map(lambda parts: Seq(tuple(parts))),
    st.tuples(OPERANDS_OF_DETECTION, EVENTS, OPERANDS_OF_DETECTION).map(lambda p: Seq((p[0], Not(p[1]), p[2]))),
    st.tuples(EVENTS, OPERANDS_OF_DETECTION, EVENTS).map(lambda p: Seq((Not(p[0]), p[1], Not(p[2])))),
    _SEVERAL.map(lambda parts: And(tuple(parts))),
)
DETECTIONS = st.builds(
    Query,
    name=NAMES,
    returns=st.sampled_from([Matches(), Aggregates((), (CountAll(),))]),
    pattern=st.one_of(
        ALTERNATIVES, st.lists(ALTERNATIVES, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts)))
    ).map(lambda pattern: _named_apart(pattern, {""})),
    predicates=st.lists(predicates(), max_size=2).map(tuple),
    group_by=st.lists(NAMES, max_size=2, unique=True).map(tuple),
    span=SPANS,
)


def queries() -> st.SearchStrategy[Query]:
    """Queries that pass `queries.resolve.check`."""
    return st.one_of(QUERIES, QUERIES, DETECTIONS).map(_named).filter(_means_something)


def detection_queries() -> st.SearchStrategy[Query]:
    """Queries of detection that pass the same check."""
    return DETECTIONS.map(_named).filter(_means_something)
