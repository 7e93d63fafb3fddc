"""A parsed query as values. Its meaning is defined by `queries.automaton` and `queries.compile`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

# --- patterns -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """One event of a type, e.g. `Stock S`; an occurrence of the type in the pattern."""

    type: str
    alias: str | None = None


@dataclass(frozen=True)
class Seq:
    """`SEQ(P1, ..., Pn)`, n >= 2: matches of the parts, one after another. `Not` is allowed only here."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Plus:
    """`P+`: one or more matches of P, one after another."""

    part: Pattern


@dataclass(frozen=True)
class Star:
    """`P*`: none or more."""

    part: Pattern


@dataclass(frozen=True)
class Maybe:
    """`P?`: none or one."""

    part: Pattern


@dataclass(frozen=True)
class Repeat:
    """`P{n}`, `P{n,m}`, `P{n,}` (`most` is None): n >= 1 matches of P, up to m, one after another.

    It stands for n copies of P and nested optional ones, `A{1,3}` for `A (A (A)?)?`, so that events of one type bind in
    one way; in `P{n,}` the last copy repeats.
    """

    part: Pattern
    least: int
    most: int | None


@dataclass(frozen=True)
class Not:
    """`NOT P`: no match of P between its neighbors (or before the first, after the last)."""

    part: Pattern


@dataclass(frozen=True)
class Or:
    """`P1 OR ... OR Pn`, n >= 2: the union of the parts' trends, each counted once.

    With an alias, `(A OR B) x`, it is one event of either type.
    """

    parts: tuple[Pattern, ...]
    alias: str | None = None


@dataclass(frozen=True)
class And:
    """`P1 AND ... AND Pn`, n >= 2: unordered combinations of distinct trends, one of each part; only at the top."""

    parts: tuple[Pattern, ...]


Pattern = Event | Seq | Plus | Star | Maybe | Repeat | Not | Or | And


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The direct sub-patterns."""
    if isinstance(pattern, Event):
        return ()
    return pattern.parts if isinstance(pattern, Seq | Or | And) else (pattern.part,)


def occurrences(pattern: Pattern, negated: bool | None = None) -> Iterator[Event]:
    """The `Event`s of a pattern from left to right; only those (not) under a NOT when `negated` is given."""
    pending: list[tuple[Pattern, bool]] = [(pattern, False)]
    while pending:
        part, under_not = pending.pop()
        if isinstance(part, Event):
            if negated is None or negated is under_not:
                yield part
        else:
            under_not = under_not or isinstance(part, Not)
            pending += [(child, under_not) for child in reversed(children(part))]


# --- clauses --------------------------------------------------------------------------------------------------------


class Semantics(StrEnum):
    """Event matching semantics (dissertation Section 2.4; docs/semantics.md, rules 2 to 4)."""

    ANY = "skip-till-any-match"
    NEXT = "skip-till-next-match"
    CONTIGUOUS = "contiguous"


class Op(StrEnum):
    """Comparison operators."""

    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    EQ = "="
    NE = "!="

    @property
    def flipped(self) -> Op:
        """The operator for exchanged sides."""
        return {Op.LT: Op.GT, Op.LE: Op.GE, Op.GT: Op.LT, Op.GE: Op.LE}.get(self, self)


Number = int | float

TIME = "time"
"""The attribute of every event that conditions may use: its time, in units of the stream."""


@dataclass(frozen=True)
class Length:
    """An amount of a canonical unit: a key of `events.units.NANOSECONDS`, or `events`."""

    amount: Fraction
    unit: str


Constant = Number | str | Length
"""A value that an attribute is compared with; a `Length` (of time) beside the attribute `time` only."""


class _AsWritten:
    """Equal if written alike: an integer compares exactly with 1 and as a float with 1.0, which are equal in Python."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


@dataclass(frozen=True, eq=False)
class Term(_AsWritten):
    """`factor * attribute + offset` of one event; a factor of 1 and an offset of 0 are not written."""

    attribute: str
    factor: Number = 1
    offset: Number | Length = 0


@dataclass(frozen=True, eq=False)
class Relation(_AsWritten):
    """`left op right`: a term of an event, and a constant or another term of the same event."""

    left: Term
    op: Op
    right: Constant | Term


@dataclass(frozen=True, eq=False)
class In(_AsWritten):
    """`attribute IN (a, b)`: the attribute equals one of the values."""

    attribute: str
    values: tuple[Constant, ...]


@dataclass(frozen=True)
class AllOf:
    """Conditions joined by AND."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    """Conditions joined by OR."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Inverse:
    """`NOT condition`."""

    part: Condition


Condition = Relation | In | AllOf | AnyOf | Inverse
"""A condition on the attributes of one event, without the event's name: equal ones of several queries are equal."""


def terms(condition: Condition) -> Iterator[Term]:
    """The terms of a condition, from left to right."""
    match condition:
        case Relation(left, _, right):
            yield left
            if isinstance(right, Term):
                yield right
        case In(attribute, _):
            yield Term(attribute)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from terms(part)
        case Inverse(part):
            yield from terms(part)


def texts(condition: Condition) -> Iterator[str]:
    """The texts that a condition compares attributes with, from left to right."""
    match condition:
        case Relation(_, _, str(text)):
            yield text
        case In(_, values):
            yield from (value for value in values if isinstance(value, str))
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from texts(part)
        case Inverse(part):
            yield from texts(part)


@dataclass(frozen=True)
class Operand:
    """`factor * name.attribute + offset`: a `Term` of the events that a name means."""

    name: str
    attribute: str
    factor: Number = 1
    offset: Number | Length = 0

    @property
    def term(self) -> Term:
        """The operand without the name."""
        return Term(self.attribute, self.factor, self.offset)


@dataclass(frozen=True)
class Equivalence:
    """`[a, b]`: all events of a match have equal values of these attributes."""

    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Local:
    """A condition on each event that `name` means, by itself."""

    name: str
    condition: Condition


@dataclass(frozen=True)
class Comparison:
    """`left op right`, or `left op NEXT(right)` when `next` is set: adjacent or pairwise.

    The names differ unless `next` is set. docs/query-language.md, WHERE, defines which kind it is, and its direction.
    """

    left: Operand
    op: Op
    right: Operand
    next: bool = False

    @property
    def exchanged(self) -> Comparison:
        """The same comparison with its sides exchanged."""
        return Comparison(self.right, self.op.flipped, self.left)

    @property
    def nameless(self) -> tuple[Term, Op, Term]:
        """The comparison without names, which is equal for equal comparisons of several queries."""
        return self.left.term, self.op, self.right.term


Predicate = Equivalence | Local | Comparison


class Function(StrEnum):
    """Aggregation functions over an attribute."""

    MIN = "MIN"
    MAX = "MAX"
    SUM = "SUM"
    AVG = "AVG"


@dataclass(frozen=True)
class CountAll:
    """`COUNT(*)`: the number of matches."""

    def __str__(self) -> str:
        return "COUNT(*)"


@dataclass(frozen=True)
class CountOf:
    """`COUNT(E)`: the number of events bound to E in all matches."""

    name: str

    def __str__(self) -> str:
        return f"COUNT({self.name})"


@dataclass(frozen=True)
class AggregateOf:
    """`MIN|MAX|SUM|AVG(E.attr)` over all events bound to E in all matches, with multiplicity."""

    function: Function
    name: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.function}({self.name}.{self.attribute})"


Item = CountAll | CountOf | AggregateOf


@dataclass(frozen=True)
class Aggregates:
    """RETURN of grouping attributes (already without prefix) and at least one aggregate; `str(item)` names a column."""

    group: tuple[str, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Matches:
    """RETURN MATCHES, and a query without RETURN."""


@dataclass(frozen=True)
class CompleteMatches:
    """RETURN COMPLETE MATCHES: matches whose events are not all in another match of the window (Definition 3.1)."""


Return = Aggregates | Matches | CompleteMatches


@dataclass(frozen=True)
class WindowClause:
    """`WITHIN within SLIDE slide`; both count events or both measure time."""

    within: Length
    slide: Length


@dataclass(frozen=True)
class Query:
    """One query. `group_by` and equivalence attributes split the stream; `window` None is the whole stream.

    A query with a `span` is a detection query (`WITHIN span PER MATCH`): it has no windows, and each match lies within
    that length.
    """

    name: str
    returns: Return
    pattern: Pattern
    semantics: Semantics = Semantics.ANY
    predicates: tuple[Predicate, ...] = ()
    group_by: tuple[str, ...] = ()
    window: WindowClause | None = None
    span: Length | None = None

    @property
    def equivalence(self) -> tuple[str, ...]:
        """Attributes of all equivalence predicates, without those of GROUP-BY, in order."""
        named = [a for p in self.predicates if isinstance(p, Equivalence) for a in p.attributes]
        return tuple(dict.fromkeys(a for a in named if a not in self.group_by))

    @property
    def partition(self) -> tuple[str, ...]:
        """Attributes whose values are the key that splits the stream: grouping, then equivalence."""
        return self.group_by + self.equivalence
