"""A query becomes one SQL statement. `cepbench query --explain -a duckdb` prints it.

Its tables, in the order of the statement:

- `events`: the events of a call, with their `key`, their position in the input (`event`), and the numbers `k_first` to
  `k_last` of the windows that hold them;
- `e`: each event in each of its windows. From here on, every join compares `key` and `k`, so a window is a stream of
  its own;
- `p0`, `p1`, ...: the events that the positions of the pattern's automaton can bind: those of a type that pass its
  conditions;
- `n0`, ...: the matches of negated patterns, as the times at which they `started` and `ended`;
- `step`: pairs of events of which the second can follow the first (`source`), and their positions `p` and `q`;
- `m`: the matches.

`m` is a join of all positions of a sequence, or of several sequences; or a recursion over `step`, which starts with the
events that begin a match, and ends matches where the automaton does.

Detection (`PER MATCH`) has no windows, but each match lies within a span of `reach` + 1 units. Windows of twice that
length, one for each span, hold every match whose first event lies in their first half: this is where `k = k_last`. A
call returns the matches that it decides, which are those whose last event (or, after a trailing NOT, whose first event)
is `due`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cepbench.events.schema import Kind, Schema
from cepbench.queries.aggregates import Channel, Transform
from cepbench.queries.automaton import Automaton, Negations, Pairwise, Transition
from cepbench.queries.binding import bind, bound_terms, is_real, kind_of, net_offset, offset_of
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection import DetectionClause, may_repeat
from cepbench.queries.model import (
    TIME,
    Aggregates,
    AllOf,
    AnyOf,
    Comparison,
    CompleteMatches,
    Condition,
    In,
    Inverse,
    Op,
    Relation,
    Semantics,
    Term,
)
from cepbench.queries.printing import to_text

MOST_SEQUENCES = 64
"""The maximum number of sequences of a pattern that become joins."""
MOST_JOINED = 24
"""The maximum number of events of a sequence that becomes a join: DuckDB orders joins in a time that grows with it."""
MOST_TRANSITIONS = 256
"""The maximum number of transitions of an automaton that becomes a recursion: `step` has a join for each."""

WORD = 2**64 - 1
INNER = ("key", "k", "k_first", "k_last", "event", "time", "type", "number", "due", "rank", "source", "p", "q")
"""Columns of the statement that are no attributes."""


@dataclass(frozen=True)
class Statement:
    """A statement, and the columns of its table `events` that are attributes: their names by attribute."""

    sql: str
    attributes: Mapping[str, str]


def sequences(automaton: Automaton) -> list[tuple[int, ...]] | None:
    """The paths of an automaton; None if there are more than `MOST_SEQUENCES`, or longer ones than `MOST_JOINED`."""
    following: dict[int, list[int]] = {}
    for transition in automaton.transitions:
        following.setdefault(transition.source, []).append(transition.target)
    paths: list[tuple[int, ...]] = []
    starts = [p for p, position in enumerate(automaton.positions) if position.start is not None]
    pending: list[tuple[int, ...]] = [(p,) for p in reversed(starts)]
    for _ in range(MOST_SEQUENCES * MOST_JOINED):
        if not pending:
            return paths
        path = pending.pop()
        if len(path) > MOST_JOINED or len(paths) > MOST_SEQUENCES:
            return None
        if automaton.positions[path[-1]].end is not None:
            paths.append(path)
        pending += [(*path, q) for q in reversed(following.get(path[-1], ()))]
    return None


def window_statement(query: CompiledQuery, automaton: Automaton, schema: Schema, recursive: bool) -> Statement:
    """The rows of windows: aggregates by `key` and `k` in a column per channel, or a row per match."""
    writer = _Writer(query, schema)
    writer.copy_events()
    writer.matches(automaton, recursive)
    if isinstance(query.query.returns, Aggregates):
        totals = ",\n  ".join(_total(name, channel) for name, channel in writer.channels)
        rows = f"SELECT key, k,\n  {totals}\nFROM m\nGROUP BY key, k"
    elif isinstance(query.query.returns, CompleteMatches):
        writer.table("trend", "SELECT DISTINCT key, k, match FROM m")
        longer = "len(longer.match) > len(trend.match) AND list_has_all(longer.match, trend.match)"
        rows = f"SELECT * FROM trend\nANTI JOIN trend AS longer ON {_same('longer', 'trend')} AND {longer}"
    else:
        rows = "SELECT key, k, match FROM m"
    return writer.statement(rows)


def detection_statement(query: CompiledQuery, schema: Schema, recursive: bool) -> Statement:
    """The matches that a call decides, with the points of their first and last events; or their number by key."""
    writer = _Writer(query, schema)
    writer.copy_events()
    parts = []
    for automaton in query.analysis.automata:  # none, if all alternatives are an AND
        writer.matches(automaton, recursive)
        parts.append("m")
    for number, clause in enumerate(part.clause for part in query.clauses if not part.clause.ordered):
        writer.conjunction(clause, f"a{number}")
        parts.append(f"a{number}")
    every, by = ("SELECT DISTINCT * FROM", "UNION") if writer.repeats else ("SELECT * FROM", "UNION ALL")
    matches = _union((f"{every} {part}" for part in parts), by)
    if isinstance(query.query.returns, Aggregates):
        return writer.statement(f"SELECT key, count(*) AS c0\nFROM ({matches})\nGROUP BY key")
    return writer.statement(matches)


@dataclass(frozen=True)
class _Carried:
    """A column of partial matches: its value for the first event `a`, by its position, and after a step to `b`."""

    name: str
    first: str | Callable[[int], str]
    later: str

    def at(self, position: int) -> str:
        """The value for a first event at a position."""
        return self.first if isinstance(self.first, str) else self.first(position)


class _Writer:
    """Collects the tables of a statement."""

    def __init__(self, query: CompiledQuery, schema: Schema) -> None:
        self.query, self.schema = query, schema
        self.attributes: dict[str, str] = {}
        self.tables: list[str] = []
        counts = query.window is not None and query.window.counts_events
        self.repeats = query.detects and may_repeat(tuple(part.clause for part in query.clauses))
        self.lists = self.repeats or not isinstance(query.query.returns, Aggregates)
        self.point = "number" if query.detects and counts else "time"
        layout = query.layout
        families = (("c", layout.ring), ("r", layout.real), ("l", layout.least))
        self.channels = [(f"{family}{i}", c) for family, channels in families for i, c in enumerate(channels)]

    def statement(self, rows: str) -> Statement:
        """The statement that returns `rows`."""
        heading = "".join(f"-- {line}\n" for line in to_text(self.query.query).splitlines())
        tables = ",\n".join(self.tables)
        return Statement(f"{heading}WITH RECURSIVE\n{tables}\n{rows}", self.attributes)

    def table(self, name: str, rows: str) -> None:
        """Adds a table."""
        self.tables.append(f"{name} AS (\n  {rows.replace(chr(10), chr(10) + '  ')}\n)")

    def copy_events(self) -> None:
        """The table `e`; `rank` numbers the times of a window."""
        rows = "SELECT * EXCLUDE (k_first), unnest(range(k_first, k_last + 1)) AS k\nFROM events"
        if self.query.query.semantics is Semantics.CONTIGUOUS:
            rows = f"SELECT *, dense_rank() OVER (PARTITION BY key, k ORDER BY time) AS rank\nFROM ({rows})"
        self.table("e", rows)

    # --- matches ----------------------------------------------------------------------------------------------------

    def matches(self, automaton: Automaton, recursive: bool) -> None:
        """The table `m` of the matches of a positive pattern."""
        semantics = self.query.query.semantics
        self.positions(automaton, "")
        self.negations(automaton, "", recursive)
        paths = None if recursive else sequences(automaton)
        if paths is None or semantics is Semantics.NEXT:
            self.steps(automaton, "", semantics)
        if paths is not None:
            self.table("m", _union(self.joined(automaton, path) for path in paths))
            return
        self.recursion(automaton)
        self.table("m", self.ended(automaton))

    def joined(self, automaton: Automaton, path: Sequence[int]) -> str:
        """The matches of one sequence: a join of its positions."""
        transitions = {(t.source, t.target): t for t in automaton.transitions}
        semantics, detects = self.query.query.semantics, self.query.detects
        begin, end = automaton.positions[path[0]].start, automaton.positions[path[-1]].end
        events = [f"e{i}" for i in range(len(path))]
        source = [f"FROM p{path[0]} AS e0"]
        if not detects:
            source += self.leading(begin, "e0", "e0")
        for i, (p, q) in enumerate(pairwise(path), start=1):
            before, event = events[i - 1], events[i]
            transition = transitions[p, q]
            if semantics is Semantics.NEXT:
                table, on = "step", [f"{event}.source = {before}.event", f"{event}.p = {p}", f"{event}.q = {q}"]
            else:
                table, on = f"p{q}", self.follows(transition, before, event, semantics)
            on += self.compared_before(automaton, path[: i + 1])
            if detects:
                on.append(f"{event}.{self.point} - e0.{self.point} <= {self.query.reach}")
            source.append(f"JOIN {table} AS {event} ON {_same(event, before)} AND {' AND '.join(on)}")
            if semantics is Semantics.ANY:
                source += self.between("", transition, before, event)
        if detects:
            source += self.leading(begin, "e0", events[-1])
        source += self.trailing(end, "e0", events[-1])
        columns = self.result("e0", events[-1], f"[{', '.join(f'{event}.event' for event in events)}]")
        for name, channel in self.carried_channels:
            bound = self.bound(automaton, channel)
            weights = [self.weight(channel, event) for event, p in zip(events, path, strict=True) if p in bound]
            columns.append(f"{self.together(channel, weights)} AS {name}")
        if detects:
            source.append(f"WHERE e0.k = e0.k_last AND {'e0' if self.waits else events[-1]}.due")
        return "\n".join([f"SELECT {', '.join(columns)}", *source])

    def recursion(self, automaton: Automaton) -> None:
        """Adds the partial matches: their last event and its position `q`, and what they have collected."""
        on = ["b.source = m.event", "b.p = m.q"]
        columns = [
            _Carried("key", "a.key", "m.key"),
            _Carried("k", "a.k", "m.k"),
            _Carried("event", "a.event", "b.event"),
            _Carried("time", "a.time", "b.time"),
            _Carried("q", str, "b.q"),
        ]
        if self.lists:
            columns.append(_Carried("match", "[a.event]", "list_append(m.match, b.event)"))
        if self.query.detects:
            columns.append(_Carried("s", str, "m.s"))
            columns.append(_Carried("started", "a.time", "m.started"))
            if self.point == "number":
                columns.append(_Carried("first", "a.number", "m.first"))
                columns.append(_Carried("number", "a.number", "b.number"))
            columns.append(_Carried("due", "a.due", "m.due" if self.waits else "b.due"))
            on.append(f"b.{self.point} - m.{self.first_point('m')} <= {self.query.reach}")
        columns += (self.collected(automaton, name, channel) for name, channel in self.carried_channels)
        for i, (pair, op) in enumerate(_without_equality(automaton.pairwise)):
            extreme, holds = self.extreme(f"x{i}", pair, op, len(automaton.positions))
            columns.append(extreme)
            on.append(holds)
        rows = []
        for p, position in enumerate(automaton.positions):
            if position.start is not None:
                source = [f"FROM p{p} AS a"]
                if self.query.detects:
                    source.append("WHERE a.k = a.k_last" + (" AND a.due" if self.waits else ""))
                else:
                    source += self.leading(position.start, "a", "a")
                rows.append("\n".join([f"SELECT {', '.join(column.at(p) for column in columns)}", *source]))
        later = ", ".join(column.later for column in columns)
        rows.append(f"SELECT {later}\nFROM partial AS m\nJOIN step AS b ON {_same('b', 'm')} AND {' AND '.join(on)}")
        self.table(f"partial({', '.join(column.name for column in columns)})", _union(rows))

    def collected(self, automaton: Automaton, name: str, channel: Channel) -> _Carried:
        """A channel of the partial matches."""
        bound, nothing, size = self.bound(automaton, channel), self.nothing(channel), len(automaton.positions)
        weight = _chosen("b.q", bound, size, self.weight(channel, "b"), nothing)
        return _Carried(
            name,
            lambda p: self.weight(channel, "a") if p in bound else nothing,
            self.together(channel, [f"m.{name}", weight]),
        )

    def extreme(self, name: str, pair: Pairwise, op: Op, size: int) -> tuple[_Carried, str]:
        """The greatest or least left value of a pairwise predicate so far (for `!=`, all), and what it must satisfy."""
        predicate = pair.predicate
        left, right = bound_terms(predicate.left.term, predicate.op, predicate.right.term, self.schema)
        kind = "DOUBLE" if is_real(left, right, self.schema) else "HUGEINT"
        first, value = (f"({self.side(left, event, left, right)})::{kind}" for event in "ab")
        compared = f"({self.side(right, 'b', left, right)})::{kind}"
        if op is Op.NE:
            first, nothing, later = f"[{first}]", f"[]::{kind}[]", f"list_append(m.{name}, {value})"
            holds = f"NOT list_contains(m.{name}, {compared})"
        else:
            function = "greatest" if op in (Op.LT, Op.LE) else "least"
            nothing, later = f"NULL::{kind}", f"{function}(m.{name}, {value})"
            holds = f"m.{name} IS NULL OR m.{name} {op.value} {compared}"
        if len(pair.right) < size:
            holds = f"b.q NOT IN ({_listed(pair.right)}) OR {holds}"
        later = _chosen("b.q", pair.left, size, later, f"m.{name}")
        return _Carried(name, lambda p: first if p in pair.left else nothing, later), f"({holds})"

    def ended(self, automaton: Automaton) -> str:
        """The partial matches that are matches: those at a position where the automaton ends."""
        positions = range(len(automaton.positions))
        begins, ends = ([getattr(automaton.positions[p], name) for p in positions] for name in ("start", "end"))
        source = ["FROM partial AS m"]
        if self.query.detects:
            for begin in dict.fromkeys(begins):
                at = _listed(p for p in positions if begins[p] == begin)
                source += [f"{join} AND m.s IN ({at})" for join in self.leading(begin, "m", "m")]
        for end in dict.fromkeys(ends):
            at = _listed(p for p in positions if ends[p] == end)
            source += [f"{join} AND m.q IN ({at})" for join in self.trailing(end, "m", "m")]
        source.append(f"WHERE m.q IN ({_listed(p for p in positions if ends[p] is not None)})")
        if self.query.detects:
            source.append("AND m.due")
        columns = [*self.result("m", "m", "m.match"), *(f"m.{name}" for name, _ in self.carried_channels)]
        return "\n".join([f"SELECT {', '.join(columns)}", *source])

    def conjunction(self, clause: DetectionClause, name: str) -> None:
        """A table of the matches of an AND: a join of its operands, which have no order."""
        for i, operand in enumerate(clause.operands):
            self.table(f"{name}_p{i}", self.binding(operand.single.type, operand.single.predicates))
        source = [f"FROM {name}_p0 AS e0"]
        for i in range(1, len(clause.operands)):
            on = [_same(f"e{i}", "e0")]
            for j in range(i):
                on.append(f"abs(e{i}.{self.point} - e{j}.{self.point}) <= {self.query.reach}")
                if clause.operands[i].single.type == clause.operands[j].single.type:
                    on.append(f"e{i}.event <> e{j}.event")
            on += [
                self.comparison(condition.predicate, f"e{condition.left}", f"e{condition.right}")
                for condition in clause.conditions
                if max(condition.left, condition.right) == i
            ]
            source.append(f"JOIN {name}_p{i} AS e{i} ON {' AND '.join(on)}")
        events = [f"e{i}" for i in range(len(clause.operands))]

        def over(function: str, column: str) -> str:
            values = ", ".join(f"{event}.{column}" for event in events)
            return f"{function}({values})" if len(events) > 1 else values

        match = f"list_sort([{', '.join(f'{event}.event' for event in events)}])"
        columns = ["e0.key", *([f"{match} AS match"] if self.lists else [])]
        columns += [f"{over('least', 'time')} AS started", f"{over('greatest', 'time')} AS ended"]
        if self.point == "number":
            columns += [f"{over('least', 'number')} AS first", f"{over('greatest', 'number')} AS last"]
        due = " OR ".join(f"{event}.due" for event in events)
        where = f"WHERE {over('least', 'k_last')} = e0.k AND ({due})"
        self.table(name, "\n".join([f"SELECT {', '.join(columns)}", *source, where]))

    # --- what they are made of ----------------------------------------------------------------------------------------

    def positions(self, automaton: Automaton, prefix: str) -> None:
        """The tables `p0`, `p1`, ... of an automaton."""
        for p, position in enumerate(automaton.positions):
            self.table(f"{prefix}p{p}", self.binding(position.type, position.predicates))

    def binding(self, name: str, conditions: Iterable[Condition]) -> str:
        """The events of a type that pass conditions."""
        wanted = [f"type = {self.schema.type_code(name)}{_note(name)}"]
        wanted += [self.condition(bind(condition, self.schema)) for condition in dict.fromkeys(conditions)]
        return f"SELECT * FROM e WHERE {' AND '.join(wanted)}"

    def negations(self, automaton: Automaton, prefix: str, recursive: bool) -> None:
        """The tables `n0`, `n1`, ... of the matches of negated patterns; of those with one start, the first end."""
        for number, negated in enumerate(automaton.negations):
            name = f"{prefix}n{number}"
            within = f"{name}_"
            self.positions(negated, within)
            self.negations(negated, within, recursive)
            paths = None if recursive else sequences(negated)
            if not negated.transitions:
                number_too = ", number" if self.point == "number" else ""
                rows = (f"SELECT key, k, time AS started, time AS ended{number_too} FROM {within}p{p}"
                        for p in range(len(negated.positions)))  # fmt: skip
                self.table(name, _union(rows))
                continue
            if paths is not None:
                spans = f"({_union(self.span(negated, within, path) for path in paths)})"
            else:
                self.steps(negated, within, Semantics.ANY)
                self.reached(negated, within)
                ends = _listed(p for p, position in enumerate(negated.positions) if position.end is not None)
                spans = f"{within}m WHERE q IN ({ends})"
            self.table(name, f"SELECT key, k, started, min(ended) AS ended\nFROM {spans}\nGROUP BY key, k, started")

    def span(self, negated: Automaton, within: str, path: Sequence[int]) -> str:
        """Start and end of the matches of one sequence of a negated pattern."""
        transitions = {(t.source, t.target): t for t in negated.transitions}
        source = [f"FROM {within}p{path[0]} AS e0"]
        for i, (p, q) in enumerate(pairwise(path), start=1):
            before, event = f"e{i - 1}", f"e{i}"
            on = self.follows(transitions[p, q], before, event, Semantics.ANY)
            source.append(f"JOIN {within}p{q} AS {event} ON {_same(event, before)} AND {' AND '.join(on)}")
            source += self.between(within, transitions[p, q], before, event)
        return "\n".join([f"SELECT e0.key, e0.k, e0.time AS started, e{len(path) - 1}.time AS ended", *source])

    def reached(self, negated: Automaton, within: str) -> None:
        """All that can be reached from the start of a negated pattern: a set, since existence is all that counts."""
        rows = [
            f"SELECT key, k, time, event, time, {p} FROM {within}p{p}"
            for p, position in enumerate(negated.positions)
            if position.start is not None
        ]
        rows.append(
            f"SELECT m.key, m.k, m.started, b.event, b.time, b.q\nFROM {within}m AS m\n"
            f"JOIN {within}step AS b ON {_same('b', 'm')} AND b.source = m.event AND b.p = m.q"
        )
        self.table(f"{within}m(key, k, started, event, ended, q)", _union(rows, "UNION"))

    def steps(self, automaton: Automaton, prefix: str, semantics: Semantics) -> None:
        """The table `step`: a join per transition. Under skip-till-next-match, only the earliest that can follow."""
        rows = []
        columns = ["b.key", "b.k", "b.event", "b.time"]
        if self.query.detects:
            columns += ["b.due", *(["b.number"] if self.point == "number" else [])]
        if not prefix:
            columns += [f"b.{name}" for name in self.carried(automaton)]
        for t in automaton.transitions:
            on = self.follows(t, "a", "b", semantics)
            if self.query.detects:
                on.append(f"b.{self.point} - a.{self.point} <= {self.query.reach}")
            lines = [
                f"SELECT a.event AS source, {t.source} AS p, {t.target} AS q, {', '.join(columns)}",
                f"FROM {prefix}p{t.source} AS a",
                f"JOIN {prefix}p{t.target} AS b ON {_same('b', 'a')} AND {' AND '.join(on)}",
            ]
            if semantics is not Semantics.CONTIGUOUS:
                lines += self.between(prefix, t, "a", "b")
            rows.append("\n".join(lines))
        if not rows:  # the pattern has no transition
            nothing = (
                f"SELECT b.event AS source, 0 AS p, 0 AS q, {', '.join(columns)}\nFROM {prefix}p0 AS b\nWHERE false"
            )
            rows.append(nothing)
        every = _union(rows)
        if semantics is Semantics.NEXT:
            every = f"SELECT * FROM (\n{every}\n)\nQUALIFY time = min(time) OVER (PARTITION BY key, k, source, p)"
        self.table(f"{prefix}step", every)

    def follows(self, transition: Transition, a: str, b: str, semantics: Semantics) -> list[str]:
        """The conditions under which event `b` can follow event `a`, negations aside."""
        order = f"{b}.rank = {a}.rank + 1" if semantics is Semantics.CONTIGUOUS else f"{a}.time < {b}.time"
        return [order, *(self.comparison(predicate, a, b) for predicate in transition.predicates)]

    def between(self, prefix: str, transition: Transition, a: str, b: str) -> list[str]:
        """No match of a negated pattern lies strictly between two events."""
        return [
            f"ANTI JOIN {n} ON {_same(n, a)} AND {a}.time < {n}.started AND {n}.ended < {b}.time"
            for n in (f"{prefix}n{number}" for number in sorted(transition.negations))
        ]

    def leading(self, negations: Negations | None, first: str, last: str) -> list[str]:
        """No match of a negated pattern ends before the first event; for detection, within the span of the last."""
        joins = []
        for n in (f"n{number}" for number in sorted(negations or ())):
            if self.query.detects:  # the window before has all events of the first half of this one, and those before
                same = f"{n}.key = {first}.key AND {n}.k = {first}.k - 1"
                point = "number" if self.point == "number" else "ended"
                within = f"{n}.{point} >= {last}.{self.point} - {self.query.reach}"
                started = "started" if first == "m" else "time"
                joins.append(f"ANTI JOIN {n} ON {same} AND {n}.ended < {first}.{started} AND {within}")
            else:
                joins.append(f"ANTI JOIN {n} ON {_same(n, first)} AND {n}.ended < {first}.time")
        return joins

    def trailing(self, negations: Negations | None, first: str, last: str) -> list[str]:
        """No match of a negated pattern starts after the last event; for detection, within the span of the first."""
        joins = []
        for n in (f"n{number}" for number in sorted(negations or ())):
            on = f"{_same(n, last)} AND {last}.time < {n}.started"
            if self.query.detects:
                point = "number" if self.point == "number" else "started"
                on += f" AND {n}.{point} <= {first}.{self.first_point(first)} + {self.query.reach}"
            joins.append(f"ANTI JOIN {n} ON {on}")
        return joins

    def compared_before(self, automaton: Automaton, path: Sequence[int]) -> list[str]:
        """The pairwise predicates on the last event of a part of a path and each event before it."""
        i = len(path) - 1
        return [
            self.comparison(pair.predicate, f"e{j}", f"e{i}")
            for pair in automaton.pairwise
            if path[i] in pair.right
            for j in range(i)
            if path[j] in pair.left
        ]

    # --- columns ------------------------------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether matches are decided at the end of their span."""
        return any(part.clause.waits for part in self.query.clauses)

    @property
    def carried_channels(self) -> list[tuple[str, Channel]]:
        """The channels for which each match has a value: all but COUNT(*)."""
        return [] if self.query.detects or self.lists else self.channels[1:]

    def first_point(self, event: str) -> str:
        """The column with the point of the first event: of a partial match, or of the event itself."""
        if event != "m":
            return self.point
        return "first" if self.point == "number" else "started"

    def result(self, first: str, last: str, match: str) -> list[str]:
        """The columns of a match."""
        listed = [f"{match} AS match"] if self.lists else []
        if not self.query.detects:
            return [f"{first}.key", f"{first}.k", *listed]
        started = "started" if first == "m" else "time"
        columns = [f"{first}.key", *listed, f"{first}.{started} AS started", f"{last}.time AS ended"]
        if self.point == "number":
            columns += [f"{first}.{self.first_point(first)} AS first", f"{last}.number AS last"]
        return columns

    def carried(self, automaton: Automaton) -> list[str]:
        """The columns of attributes that a recursion, or a join of steps, reads after a step."""
        read = [channel.column.attribute for _, channel in self.channels if channel.column is not None]
        for pair in automaton.pairwise:
            read += [pair.predicate.left.attribute, pair.predicate.right.attribute]
        return list(dict.fromkeys(self.name(attribute) for attribute in read if attribute != TIME))

    def bound(self, automaton: Automaton, channel: Channel) -> frozenset[int]:
        """The positions whose events count for a channel."""
        return automaton.at(self.query.analysis.names.indices(channel.name))

    def weight(self, channel: Channel, event: str) -> str:
        """The addend of a bound event to a channel. Integers become 128-bit ones, so that no sum of them overflows."""
        if channel.column is None:
            return "1::BIGINT"
        column = self.column(channel.column.attribute, event)
        match channel.column.transform:
            case Transform.INT:
                return f"{column}::HUGEINT"
            case Transform.MAGNITUDE:
                return f"abs({column}::HUGEINT)"
            case Transform.REAL:
                return f"{column}::DOUBLE"
            case _:
                return column

    def nothing(self, channel: Channel) -> str:
        """The value of a channel without events."""
        if channel.column is None:
            return "0::BIGINT"
        match channel.column.transform:
            case Transform.INT | Transform.MAGNITUDE:
                return "0::HUGEINT"
            case Transform.REAL:
                return "0::DOUBLE"
            case _:
                real = self.schema.kinds[channel.column.attribute] is Kind.FLOAT
                return "NULL::DOUBLE" if real else "NULL::BIGINT"

    def together(self, channel: Channel, weights: Sequence[str]) -> str:
        """The value of a channel for a match with these weights."""
        if len(weights) < 2:
            return weights[0] if weights else self.nothing(channel)
        if channel.column is not None and channel.column.transform is Transform.KEY:
            return f"least({', '.join(weights)})"
        if channel.column is not None and channel.column.transform is Transform.INVERTED_KEY:
            return f"greatest({', '.join(weights)})"
        return " + ".join(weights)

    def name(self, attribute: str) -> str:
        """The column of an attribute, quoted; DuckDB does not distinguish upper from lower case."""
        if attribute not in self.attributes:
            name, used = attribute, {*INNER, *(column.casefold() for column in self.attributes.values())}
            while name.casefold() in used:
                name += "_"
            self.attributes[attribute] = name
        return '"' + self.attributes[attribute].replace('"', '""') + '"'

    def column(self, attribute: str, event: str) -> str:
        """An attribute, or the time, of an event; of the only table if `event` is empty."""
        name = TIME if attribute == TIME else self.name(attribute)
        return f"{event}.{name}" if event else name

    # --- conditions ---------------------------------------------------------------------------------------------------

    def comparison(self, predicate: Comparison, a: str, b: str) -> str:
        """A comparison of two events."""
        left, right = bound_terms(predicate.left.term, predicate.op, predicate.right.term, self.schema)
        return self.compared(left, predicate.op, right, a, b)

    def compared(self, left: Term, op: Op, right: Term, a: str, b: str) -> str:
        """A comparison of two bound terms."""
        x, y = self.side(left, a, left, right), self.side(right, b, left, right)
        if is_real(left, right, self.schema):
            return _compared_reals(x, op, y, _unusual(left) or _unusual(right))
        return f"{x} {_SQL[op]} {y}"

    def side(self, term: Term, event: str, left: Term, right: Term) -> str:
        """One side of the comparison of `left` and `right`; integers have all of the offset on the right side."""
        if is_real(left, right, self.schema):
            return self.real(term, event)
        offset = net_offset(left, right) if term is right else 0
        column = self.column(term.attribute, event)
        return f"{column}::HUGEINT + {offset}" if offset else column

    def real(self, term: Term, event: str) -> str:
        """A bound term as a float."""
        text = f"{self.column(term.attribute, event)}::DOUBLE"
        if term.factor != 1:
            text = f"{text} * {_real(term.factor)}"
        return f"{text} + {_real(offset_of(term))}" if term.offset else text

    def condition(self, condition: Condition) -> str:
        """A bound condition on one event."""
        match condition:
            case Relation(left, op, Term() as right):
                return self.compared(left, op, right, "", "")
            case Relation(left, op, constant):
                assert isinstance(constant, int | float)
                return self.constant(left, op, constant)
            case In(attribute, values):
                either = [self.constant(Term(attribute), Op.EQ, value) for value in values
                          if isinstance(value, int | float)]  # fmt: skip
                return f"({' OR '.join(either)})"
            case AllOf(parts):
                return f"({' AND '.join(map(self.condition, parts))})"
            case AnyOf(parts):
                return f"({' OR '.join(map(self.condition, parts))})"
            case Inverse(part):
                return f"(NOT {self.condition(part)})"

    def constant(self, term: Term, op: Op, constant: int | float) -> str:
        """A comparison of a bound term with a constant."""
        kind, offset = kind_of(term.attribute, self.schema), offset_of(term)
        if term.factor != 1 or isinstance(offset, float) or isinstance(constant, float) or kind is Kind.FLOAT:
            unusual = _unusual(term) or not math.isfinite(constant)
            return _compared_reals(self.real(term, ""), op, _real(constant), unusual)
        number = max(-(2**100), min(int(constant) - int(offset), 2**100))  # beyond 64 bits all are alike
        text = ""
        if kind is Kind.STRING:
            text = _note(self.schema.strings[number] if number >= 0 else "a text that no event has")
        return f"{self.column(term.attribute, '')} {_SQL[op]} {number}{text}"


_SQL = {Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">=", Op.EQ: "=", Op.NE: "<>"}


def _same(a: str, b: str) -> str:
    """Two events have the same key and window."""
    return f"{a}.key = {b}.key AND {a}.k = {b}.k"


def _union(rows: Iterable[str], by: str = "UNION ALL") -> str:
    return f"\n{by}\n".join(rows)


def _without_equality(pairwise: Iterable[Pairwise]) -> Iterator[tuple[Pairwise, Op]]:
    """Pairwise predicates and their operators; `=` is both `<=` and `>=`."""
    for pair in pairwise:
        for op in (Op.LE, Op.GE) if pair.predicate.op is Op.EQ else (pair.predicate.op,):
            yield pair, op


def _listed(positions: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(positions)))


def _chosen(position: str, chosen: frozenset[int], size: int, value: str, otherwise: str) -> str:
    """`value` at the chosen ones of `size` positions."""
    if len(chosen) == size:
        return value
    return f"CASE WHEN {position} IN ({_listed(chosen)}) THEN {value} ELSE {otherwise} END" if chosen else otherwise


def _total(name: str, channel: Channel) -> str:
    """The aggregate of a channel over the matches of a window, as a word of 64 bits."""
    if not channel.name:
        return f"count(*) AS {name}"
    if channel.column is None:
        return f"sum({name})::UBIGINT AS {name}"
    match channel.column.transform:
        case Transform.INT:
            return f"(sum({name}) & {WORD})::UBIGINT AS {name}"
        case Transform.MAGNITUDE:
            return f"least(sum({name}), {WORD})::UBIGINT AS {name}"
        case Transform.REAL:
            return f"sum({name}) AS {name}"
        case Transform.KEY:
            return f"min({name}) AS {name}"
        case Transform.INVERTED_KEY:
            return f"max({name}) AS {name}"


def _unusual(term: Term) -> bool:
    """Whether a term may be no number although the attribute is one: 0 times infinity."""
    return term.factor == 0 or not math.isfinite(term.factor) or not math.isfinite(offset_of(term))


def _compared_reals(x: str, op: Op, y: str, unusual: bool) -> str:
    """A comparison of floats. DuckDB orders NaN behind all others, and it is equal to itself."""
    if not unusual:
        return f"{x} {_SQL[op]} {y}"
    nan = f"isnan({x}) OR isnan({y})"
    return f"({x} {_SQL[op]} {y} OR {nan})" if op is Op.NE else f"({x} {_SQL[op]} {y} AND NOT ({nan}))"


def _real(number: int | float) -> str:
    """A float literal: without an exponent, DuckDB would read a decimal."""
    text = repr(float(number))
    if not math.isfinite(float(number)):
        return f"'{text}'::DOUBLE"
    return text if "e" in text else f"{text}e0"


def _note(text: str) -> str:
    """A comment."""
    return f" /* {text.replace('*/', '* /').replace('/*', '/ *')} */"
