"""A workload bound to a stream's schema: tables, windows, channels, and the attributes that each query needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cepbench.events.errors import CepbenchError
from cepbench.events.schema import Kind, Schema
from cepbench.events.units import in_units
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.aggregates import COUNT_ALL, Column, Layout, layout
from cepbench.queries.analysis import Analysis, analyse
from cepbench.queries.automaton import Automaton
from cepbench.queries.columns import ColumnSet
from cepbench.queries.detection import DetectionClause, clauses_of
from cepbench.queries.detection_tables import DetectionTables, build_detection_tables
from cepbench.queries.errors import QueryError
from cepbench.queries.model import TIME, AggregateOf, Aggregates, Comparison, Length, Local, Query, WindowClause, terms
from cepbench.queries.names import Names
from cepbench.queries.tables import Columns, Tables, build_tables

ARITHMETICS = ("modular", "float")
MOST_WINDOWS = 2**20
"""The maximum number of windows that contain one event: every algorithm keeps state for each of them."""


@dataclass(frozen=True, eq=False)
class Part:
    """An automaton and its tables, with the tables of its negated sub-patterns (same columns)."""

    automaton: Automaton
    tables: Tables
    negations: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class ClausePart:
    """A clause of detection and its tables."""

    clause: DetectionClause
    tables: DetectionTables


@dataclass(frozen=True, eq=False)
class CompiledQuery:
    """A query compiled for events of one schema.

    - `parts`: one; or, for a conjunction, those of both sides and of their common trends; none for detection with AND.
    - `clauses`: the clauses of a detection query; none for others.
    - `window`: in the stream's units, or None for the whole stream. For detection, a match is within the span if one of
      the windows contains it that start at every unit (or event) and are one longer than the span.
    - `layout`: channels of the aggregates (COUNT(*) alone for match queries).
    - `columns`: the kernel columns that the tables refer to.
    - `kinds`: the kind of each attribute of the stream.
    - `needs`: attributes that events of a type must have ('*' for every type).
    - `summarised`: matches are only counted and digested (match queries only).
    """

    index: int
    query: Query
    arithmetic: str
    analysis: Analysis
    parts: tuple[Part, ...]
    window: Window | None
    layout: Layout
    columns: ColumnSet
    kinds: Mapping[str, Kind]
    needs: Mapping[str, frozenset[str]]
    summarised: bool = False
    clauses: tuple[ClausePart, ...] = ()

    @property
    def detects(self) -> bool:
        """Whether it is a detection query."""
        return self.query.span is not None

    @property
    def decided_by_last_event(self) -> bool:
        """Whether it is a detection query whose matches are all decided by their last events."""
        return self.detects and not any(part.clause.waits for part in self.clauses)

    @property
    def row_window(self) -> Window | None:
        """The windows of rows; None if a row covers the whole stream, as for a count of detection."""
        return None if self.detects and isinstance(self.query.returns, Aggregates) else self.window

    @property
    def reach(self) -> int:
        """For detection: the maximum distance of the last event of a match from the first, in time or in events."""
        assert self.window is not None
        return self.window.within - 1

    @property
    def partition(self) -> tuple[str, ...]:
        """Attributes whose values are the key that splits the stream."""
        return self.query.partition

    @property
    def ints(self) -> tuple[Column, ...]:
        """The int64 columns."""
        return self.columns.ints

    @property
    def reals(self) -> tuple[Column, ...]:
        """The float64 columns."""
        return self.columns.reals


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries compiled for one schema and one arithmetic (`modular` or `float`).

    With `summarised`, match queries return `algorithms.rows.MatchDigests` instead of every match.
    """

    queries: tuple[CompiledQuery, ...]
    schema: Schema
    arithmetic: str
    summarised: bool = False

    def __iter__(self) -> Iterator[CompiledQuery]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, index: int) -> CompiledQuery:
        """The query with an index, which differs from its place in a part of a workload."""
        return self._by_index[index]

    @cached_property
    def _by_index(self) -> dict[int, CompiledQuery]:
        return {query.index: query for query in self.queries}

    @cached_property
    def closing(self) -> tuple[Window, ...]:
        """The time windows whose ends produce rows, without those of queries whose matches are decided by their last
        events.
        """
        timed = (query.window for query in self if not query.decided_by_last_event)
        return tuple(dict.fromkeys(window for window in timed if window is not None and not window.counts_events))

    def part(self, indices: Sequence[int]) -> Workload:
        """Some of the compiled queries, with their index."""
        return replace(self, queries=tuple(self[index] for index in indices))

    @property
    def needs(self) -> dict[str, frozenset[str]]:
        """Attributes that any query needs, by type ('*': of every event)."""
        union: dict[str, frozenset[str]] = {}
        for query in self.queries:
            for name, attributes in query.needs.items():
                union[name] = union.get(name, frozenset()) | attributes
        return union


def compile_workload(
    queries: Sequence[Query], schema: Schema, arithmetic: str = "modular", *, summarised: bool = False
) -> Workload:
    """Binds queries to a schema. Raises `QueryError` naming the query, or `InputError` for a missing attribute."""
    if arithmetic not in ARITHMETICS:
        raise CepbenchError(f"unknown arithmetic {arithmetic!r}; choose {' or '.join(ARITHMETICS)}")
    compiled = []
    sets: dict[Hashable, ColumnSet] = {}
    for index, query in enumerate(queries):
        try:
            compiled.append(_compile(index, query, schema, arithmetic, summarised, sets))
        except QueryError as error:
            raise QueryError(f"query {query.name}: {error}") from None
    return Workload(tuple(compiled), schema, arithmetic, summarised)


def _compile(
    index: int, query: Query, schema: Schema, arithmetic: str, summarised: bool, sets: dict[Hashable, ColumnSet]
) -> CompiledQuery:
    analysis = analyse(query)
    needs = _needs(query, analysis.names)
    for attributes in needs.values():
        for attribute in sorted(attributes):
            if attribute not in schema.kinds:
                names = ", ".join(schema.kinds) or "none"
                raise QueryError(f"the events have no attribute {attribute!r}; they have {names}")
    counted = _layout(query, schema, arithmetic, analysis)
    columns = Columns(schema)
    parts = tuple(compile_part(automaton, counted, columns, analysis.names) for automaton in analysis.automata)
    detected = clauses_of(query, analysis.names) if query.span is not None else ()
    clauses = tuple(ClausePart(clause, build_detection_tables(clause, schema, columns)) for clause in detected)
    window = None if query.window is None else _window(query.window, schema)
    if query.span is not None:
        window = _span(query.span, schema)
    read = columns.whole
    read = sets.setdefault((read.ints, read.reals, read.flags), read)
    return CompiledQuery(
        index, query, arithmetic, analysis, parts, window, counted, read, schema.kinds, needs, summarised, clauses
    )


def attributes_of(queries: Sequence[Query]) -> frozenset[str]:
    """The attributes of events that queries read, with `time` if a condition names it."""
    return frozenset(a for query in queries for a in (*query.partition, *(name for _, name in _read(query))))


def compile_part(automaton: Automaton, counted: Layout, columns: Columns, names: Names) -> Part:
    """The tables of an automaton, and of its negations, whose attributes are added to the columns."""
    tables = build_tables(automaton, counted, columns.schema, columns, names)
    nothing = Layout((COUNT_ALL,), (), ())
    return Part(automaton, tables, tuple(compile_part(n, nothing, columns, names) for n in automaton.negations))


def _layout(query: Query, schema: Schema, arithmetic: str, analysis: Analysis) -> Layout:
    if not isinstance(query.returns, Aggregates):
        return Layout((COUNT_ALL,), (), ())
    same: dict[tuple[int, ...], str] = {}

    def canonical(name: str) -> str:
        return same.setdefault(analysis.names.indices(name), name)

    def optional(name: str) -> bool:
        return any(a.avoidable(a.at(analysis.names.indices(name))) for a in analysis.automata)

    return layout(query.returns, schema, arithmetic, canonical, optional)


def _needs(query: Query, names: Names) -> dict[str, frozenset[str]]:
    needs: dict[str, set[str]] = {"*": set(query.partition)}
    for name, attribute in _read(query):
        for occurrence in names.indices(name) if attribute != TIME else ():
            needs.setdefault(names.events[occurrence].type, set()).add(attribute)
    return {name: frozenset(attributes) for name, attributes in needs.items() if attributes}


def _read(query: Query) -> Iterator[tuple[str, str]]:
    """The names and attributes in WHERE and RETURN, `time` included."""
    for predicate in query.predicates:
        match predicate:
            case Local(name, condition):
                yield from ((name, term.attribute) for term in terms(condition))
            case Comparison(left, _, right):
                yield from ((side.name, side.attribute) for side in (left, right))
    if isinstance(query.returns, Aggregates):
        yield from ((item.name, item.attribute) for item in query.returns.items if isinstance(item, AggregateOf))


def _window(clause: WindowClause, schema: Schema) -> Window:
    if clause.within.unit == "events":
        window = Window(int(clause.within.amount), int(clause.slide.amount), counts_events=True)
    else:
        within = in_units(clause.within.amount, clause.within.unit, schema.time_unit, "WITHIN")
        window = Window(within, in_units(clause.slide.amount, clause.slide.unit, schema.time_unit, "SLIDE"))
    if max(window.within, window.slide) > FOREVER:
        raise QueryError(f"WITHIN and SLIDE may be at most 2**62 {schema.time_unit}, the time unit of the stream")
    if window.overlap > MOST_WINDOWS:
        raise QueryError(
            f"an event would lie in {window.overlap} windows; at most {MOST_WINDOWS} may overlap, so SLIDE more at once"
        )
    return window


def _span(span: Length, schema: Schema) -> Window:
    """The windows of length `span` + 1 that start at every unit."""
    counts = span.unit == "events"
    within = int(span.amount) if counts else in_units(span.amount, span.unit, schema.time_unit, "WITHIN") + 1
    if within > FOREVER:
        raise QueryError(f"WITHIN may be at most 2**62 {schema.time_unit}, the time unit of the stream")
    return Window(within, 1, counts)
