"""An automaton as arrays: the input of kernels. Nothing is compiled per query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.events.schema import Schema
from cepbench.queries.aggregates import Channel, Column, Layout, Transform
from cepbench.queries.automaton import Automaton, Position
from cepbench.queries.binding import bind, bound_terms, is_real, net_offset, offset_of
from cepbench.queries.columns import ColumnSet
from cepbench.queries.model import AllOf, Comparison, Condition, Op
from cepbench.queries.names import Names
from cepbench.queries.records import Records, records_of

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL, UNEQUAL = range(6)
OPERATORS = {
    Op.LT: LESS, Op.LE: LESS_OR_EQUAL, Op.GT: GREATER, Op.GE: GREATER_OR_EQUAL, Op.EQ: EQUAL, Op.NE: UNEQUAL,
}  # fmt: skip


class PredicateRecord:
    """A comparison of a column of the first event with one of the second; `op` as in `OPERATORS`.

    If `real`, of `left_factor * reals[left_column] + left_offset` with the same of the right side; otherwise of
    `ints[left_column]` with `ints[right_column] + int_offset`, exactly (`offset_reach` of `engine.kernels.predicates`).
    """

    real: bool
    op: int
    left_column: int
    left_factor: float
    left_offset: float
    right_column: int
    right_factor: float
    right_offset: float
    int_offset: int


class Predicates(NamedTuple):
    """Comparisons in lists: list i is `one[ptr[i]:ptr[i + 1]]` (`PredicateRecord`)."""

    ptr: Ints
    one: Records


class Weights(NamedTuple):
    """Channels of one family: `bound[c, p]`: events at position p count for channel c.

    `column[c]` is the weight's column in `ints` or `reals`, or -1 for the weight 1.
    """

    bound: Flags
    column: Ints


class Tables(NamedTuple):
    """One automaton over a stream's type codes. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - positions of a type: `binding_ptr[T + 1]`, `binding`.
    - transitions by target: `enter_ptr[P + 1]`, `source[E]`; their negations `between_ptr[E + 1]`, `between`, and
      adjacent predicates `adjacent` (list per transition, left side the source).
    - `start[P]`, `end[P]`; leading and trailing negations of positions `leading_ptr`, `trailing_ptr`.
    - `local[P]`: the row of `flags` that says which events pass the position's conditions, or -1 if it has none.
    - `pairwise`: list per pairwise predicate (one entry each); `pair_left[N, P]`, `pair_right[N, P]`.
    - `ring`, `real`, `least`: channels of the aggregates; ring channel 0 is COUNT(*), bound nowhere.
    """

    binding_ptr: Ints
    binding: Ints
    enter_ptr: Ints
    source: Ints
    between_ptr: Ints
    between: Ints
    start: Flags
    end: Flags
    leading_ptr: Ints
    leading: Ints
    trailing_ptr: Ints
    trailing: Ints
    local: Ints
    adjacent: Predicates
    pairwise: Predicates
    pair_left: Flags
    pair_right: Flags
    ring: Weights
    real: Weights
    least: Weights


class Columns:
    """The kernel columns and conditions that the tables of one query refer to, in order of first use."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.ints: list[Column] = []
        self.reals: list[Column] = []
        self.flags: list[Condition] = []

    def index(self, column: Column) -> int:
        """The column's row in `ints` or `reals`."""
        family = self.reals if column.transform is Transform.REAL else self.ints
        if column not in family:
            family.append(column)
        return family.index(column)

    @property
    def whole(self) -> ColumnSet:
        """All columns and conditions."""
        return ColumnSet(tuple(self.ints), tuple(self.reals), tuple(self.flags))

    def flag(self, conditions: Sequence[Condition]) -> int:
        """The row in `flags` of events that pass all of some conditions; -1 without conditions.

        Raises `QueryError` for a condition that the schema refuses.
        """
        bound = tuple(bind(condition, self.schema) for condition in dict.fromkeys(conditions))
        if not bound:
            return -1
        whole = bound[0] if len(bound) == 1 else AllOf(bound)
        if whole not in self.flags:
            self.flags.append(whole)
        return self.flags.index(whole)


def build_tables(automaton: Automaton, layout: Layout, schema: Schema, columns: Columns, names: Names) -> Tables:
    """Tables of an automaton; needed columns are added to `columns`. Raises `QueryError` for bad comparisons."""
    positions = automaton.positions
    binding_ptr, binding = bindings([p.type for p in positions], schema)
    sources: list[list[int]] = [[] for _ in positions]
    for t in automaton.transitions:  # in order of target, as the tables of transitions are
        sources[t.target].append(t.source)
    enter_ptr, source = csr(sources)
    between_ptr, between = csr(sorted(t.negations) for t in automaton.transitions)
    leading_ptr, leading = csr(sorted(p.start or ()) for p in positions)
    trailing_ptr, trailing = csr(sorted(p.end or ()) for p in positions)
    pairs = automaton.pairwise
    return Tables(
        binding_ptr,
        binding,
        enter_ptr,
        source,
        between_ptr,
        between,
        np.array([p.start is not None for p in positions], np.bool_),
        np.array([p.end is not None for p in positions], np.bool_),
        leading_ptr,
        leading,
        trailing_ptr,
        trailing,
        flag_rows([p.predicates for p in positions], columns),
        predicate_tables([t.predicates for t in automaton.transitions], columns),
        predicate_tables([(p.predicate,) for p in pairs], columns),
        _membership([p.left for p in pairs], len(positions)),
        _membership([p.right for p in pairs], len(positions)),
        *(_weights(family, positions, columns, names) for family in (layout.ring, layout.real, layout.least)),
    )


def bindings(types: Sequence[str], schema: Schema) -> tuple[Ints, Ints]:
    """For each type code of a schema, the indices of the given event types that it matches.

    A schema may have thousands of types, so no list is made for each.
    """
    codes = np.array([schema.type_code(name) for name in types], np.int64)
    present = np.flatnonzero(codes >= 0)
    ptr = np.zeros(len(schema.types) + 1, np.int64)
    np.cumsum(np.bincount(codes[present], minlength=len(schema.types)), out=ptr[1:])
    return ptr, present[np.argsort(codes[present], kind="stable")]


def csr(lists: Iterable[Sequence[Any]], width: int = 0) -> tuple[Ints, Ints]:
    """Lists of numbers as `ptr` and `items`: list i is `items[ptr[i]:ptr[i + 1]]`.

    Lists of tuples of `width` numbers have items of shape [n, width].
    """
    rows = [list(row) for row in lists]
    items = np.array([item for row in rows for item in row], np.int64)
    return _list_ends(rows), items.reshape(-1, width) if width else items


def _list_ends(lists: Sequence[Sequence[Any]]) -> Ints:
    ptr = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=ptr[1:])
    return ptr


def _membership(sets: Sequence[frozenset[int]], width: int) -> Flags:
    member = np.zeros((len(sets), width), np.bool_)
    for row, items in enumerate(sets):
        member[row, sorted(items)] = True
    return member


def _weights(channels: tuple[Channel, ...], positions: tuple[Position, ...], columns: Columns, names: Names) -> Weights:
    bound = np.zeros((len(channels), len(positions)), np.bool_)
    column = np.full(len(channels), -1, np.int64)
    for c, channel in enumerate(channels):
        if channel.name:
            wanted = set(names.indices(channel.name))
            bound[c] = [bool(wanted.intersection(p.occurrences)) for p in positions]
        if channel.column is not None:
            column[c] = columns.index(channel.column)
    return Weights(bound, column)


def flag_rows(lists: Sequence[Sequence[Condition]], columns: Columns) -> Ints:
    """For each list of conditions its row in `flags`, or -1; conditions are added to `columns`. Raises `QueryError`."""
    return np.array([columns.flag(conditions) for conditions in lists], np.int64)


def predicate_tables(lists: Sequence[Sequence[Comparison]], columns: Columns) -> Predicates:
    """Predicates in lists; needed columns are added to `columns`. Raises `QueryError` for bad comparisons."""
    entries = [_entry(predicate, columns) for row in lists for predicate in row]
    return Predicates(_list_ends(lists), np.array(entries, records_of(PredicateRecord)))


def _entry(predicate: Comparison, columns: Columns) -> tuple[bool, int, int, float, float, int, float, float, int]:
    left, right = bound_terms(predicate.left.term, predicate.op, predicate.right.term, columns.schema)
    real = is_real(left, right, columns.schema)
    transform = Transform.REAL if real else Transform.INT
    return (
        real,
        OPERATORS[predicate.op],
        columns.index(Column(left.attribute, transform)),
        float(left.factor),
        float(offset_of(left)),
        columns.index(Column(right.attribute, transform)),
        float(right.factor),
        float(offset_of(right)),
        0 if real else net_offset(left, right),
    )
