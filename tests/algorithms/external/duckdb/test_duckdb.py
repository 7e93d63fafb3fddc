"""Queries as SQL statements, beside the oracle's answers: joins, recursions, and what they refuse."""

import signal
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cepbench.algorithms.base import KeyedBatch, NotEnoughMemory
from cepbench.algorithms.external.duckdb import operator, session
from cepbench.algorithms.external.duckdb.algorithm import DuckDB
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import OneKey, run, subject_of
from cepbench.verification.random_cases import split
from cepbench.verification.verify import verify_subject
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = "A1/1 B2/3 A2/2 B3/1 A3/4 C3/2 B5/5 A8/1 B9/2 B9/3 C9/1 A9/0 C10/4"
PLANS = ("duckdb", "duckdb[plan=joins]", "duckdb[plan=recursive]")


def agree(text: str, events: str = EVENTS, specification: str = "duckdb") -> Any:
    """The answer, which is that of the oracle, however the stream is cut."""
    query, whole = parse_query(text), batch(stream(events))
    expected = answer(query, stream(events), modular=True)
    for cuts in ((), tuple(range(1, len(whole)))):
        frame = run(make(specification), query, split(whole, cuts), promise=bool(cuts), pickled=bool(cuts))
        assert difference(expected, frame) is None
    return expected


@pytest.mark.parametrize("specification", PLANS)
@pytest.mark.parametrize(
    "text",
    [
        "RETURN COUNT(*), SUM(A.x), MIN(B.x), MAX(A.x), AVG(B.x), COUNT(A) PATTERN SEQ(A, B, C) WHERE A.x < B.x",
        "RETURN COUNT(*), SUM(x.x), MIN(y.x), COUNT(C) PATTERN SEQ(A x, B? y, C?) WITHIN 8 s SLIDE 4 s",
        "RETURN MATCHES PATTERN SEQ(A, NOT C, B) WITHIN 8 s SLIDE 4 s",
        "RETURN COUNT(*) PATTERN SEQ(NOT C, A, B, NOT A) WITHIN 8 s SLIDE 4 s",
        "RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(C, NOT A, B), B)",
        "RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(B, C) , A) WHERE B.x > C.x",
        "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A, B?, C) SEMANTICS next WHERE A.x < 5 WITHIN 8 s SLIDE 4 s",
        "RETURN MATCHES PATTERN SEQ(A, B{1,3}) SEMANTICS contiguous WITHIN 8 s SLIDE 4 s",
        "RETURN COMPLETE MATCHES PATTERN SEQ(A{1,2}, B?) WITHIN 8 s SLIDE 4 s",
        "RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE A.x != C.x AND A.x + 1 <= B.x WITHIN 4 EVENTS SLIDE 2 EVENTS",
        "RETURN COUNT(*) PATTERN SEQ(A, B) AND SEQ(A, C) WITHIN 8 s SLIDE 4 s",
        "RETURN COUNT(*) PATTERN SEQ(A, B) OR SEQ(A, B?, C) WITHIN 8 s SLIDE 4 s",
        "PATTERN SEQ(NOT C, A, B, NOT C) WHERE A.x < B.x WITHIN 4 s PER MATCH",
        "PATTERN SEQ(NOT A, A x, (A OR B) y, NOT C) WHERE x.x < y.x WITHIN 4 EVENTS PER MATCH",
        "RETURN COUNT(*) PATTERN SEQ(A, B) OR SEQ(B, C) WITHIN 4 s PER MATCH",
    ],
)
def test_joins_and_recursions(text: str, specification: str) -> None:
    agree(text, specification=specification)


@pytest.mark.parametrize(
    "text",
    [
        "RETURN COUNT(*), SUM(A.x), MIN(A.x), MAX(B.x), AVG(A.x) PATTERN SEQ(A+, B) WHERE A.x <= NEXT(A).x",
        "RETURN COUNT(*), SUM(A.x) PATTERN (SEQ(A+, B))+ SEMANTICS next WITHIN 8 s SLIDE 4 s",
        "RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(C, B+), B+) SEMANTICS contiguous",
        "RETURN COUNT(*) PATTERN SEQ(A+, NOT SEQ(C, B+), B) WITHIN 8 s SLIDE 4 s",
        "RETURN COMPLETE MATCHES PATTERN SEQ(A+, B) WITHIN 8 s SLIDE 4 s",
        "RETURN COUNT(*) PATTERN A AND B+ WITHIN 4 s",
        "PATTERN SEQ(NOT C, A+, NOT C, B) WITHIN 6 s PER MATCH",
        "PATTERN SEQ(NOT C, A, B+) OR SEQ(B, C+) WHERE A.x != B.x WITHIN 6 EVENTS PER MATCH",
        *(f"RETURN MATCHES PATTERN SEQ(A+, B, C) WHERE A.x {op} C.x" for op in ("<", "<=", ">", ">=", "=", "!=")),
        *(f"RETURN MATCHES PATTERN SEQ(A+, B, C) WHERE 0.5 * A.x {op} C.x - 1" for op in ("<", ">=", "=", "!=")),
    ],
)
def test_recursions(text: str) -> None:
    agree(text)


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN A AND C WITHIN 4 EVENTS PER MATCH",
        "PATTERN A x AND A y AND B WHERE x.x < y.x AND B.x > y.x WITHIN 4 s PER MATCH",
        "RETURN COUNT(*) PATTERN SEQ(A, B) OR (A AND B) OR SEQ(NOT B, B) WITHIN 5 s PER MATCH",
    ],
)
def test_and_within_a_span_is_a_join_without_order(text: str) -> None:
    agree(text)


@pytest.mark.parametrize(
    ("specification", "detects"), [(plan, detects) for plan in PLANS[1:] for detects in (False, True)]
)
def test_random_cases(specification: str, detects: bool) -> None:
    subject = subject_of(make(specification))
    report = verify_subject(subject, 20, seed=7 + detects, thorough=False)
    assert report.clean, str(report)


def test_sums_are_residues_and_overflow_by_their_magnitudes() -> None:
    half = 2**62
    agree("RETURN SUM(A.x) PATTERN SEQ(A, B)", f"A1/{half} A2/{half} B3/0")
    agree("RETURN SUM(A.x), AVG(A.x) PATTERN SEQ(A, B)", f"A1/{half} A2/-{half} B3/0")
    agree("RETURN SUM(A.x), COUNT(A) PATTERN SEQ(A+, B)", f"A1/{2**63 - 1} A2/-{2**63} A3/-{2**63} B4/0")


def test_sums_as_floats() -> None:
    query = parse_query("RETURN COUNT(A), SUM(A.x), AVG(A.x), MAX(A.x) PATTERN SEQ(A+, B)")
    events = batch(stream(f"A1/{2**62} A2/{2**62} A3/{2**62} B4/0"))
    expected = run(make("sase"), query, [events], "float")
    for specification in PLANS[::2]:
        assert run(make(specification), query, [events], "float").equals(expected)


@pytest.mark.parametrize(
    "condition", ["A.x + 1 > B.x", "A.x < B.x + 1", "A.x - 2 < B.x", "A.x = B.x - 1", "A.x + 5 > 0"]
)
def test_sums_beyond_64_bits_are_compared_exactly(condition: str) -> None:
    for x in (2**63 - 1, -(2**63)):
        for pattern in ("SEQ(A, B)", "SEQ(A+, B)"):
            agree(f"RETURN COUNT(*) PATTERN {pattern} WHERE {condition}", f"A1/{x} A2/{x} B3/{x} B4/{x}")


def columns(names: Mapping[str, Kind], **values: list[Any]) -> EventBatch:
    """A and B in turn, at times 1, 2, ... ."""
    size = len(next(iter(values.values())))
    kinds = {Kind.INT: np.int64, Kind.FLOAT: np.float64}
    schema = Schema(("A", "B"), tuple(Attribute(name, kind) for name, kind in names.items()))
    arrays = {name: np.array(values[name], kinds[kind]) for name, kind in names.items()}
    at = np.arange(size, dtype=np.int64)
    return EventBatch(schema, at + 1, (at % 2).astype(np.int32), arrays, at)


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "=", "!="])
@pytest.mark.parametrize("pattern", ["SEQ(A, B)", "SEQ(A, B, A)"])
def test_no_number_equals_nothing_as_elsewhere(op: str, pattern: str) -> None:
    events = columns({"x": Kind.FLOAT}, x=[np.inf, 1.0, 2.0, np.inf, -np.inf])
    for side in ("0 * A.x", "A.x"):
        query = parse_query(f"RETURN COUNT(*) PATTERN {pattern} WHERE {side} {op} 0 * B.x")
        expected = run(make("sase"), query, [events])
        for specification in PLANS:
            assert run(make(specification), query, [events]).equals(expected)


@pytest.mark.parametrize(
    ("condition", "kind", "first", "second", "right", "in_sql"),
    [
        ("1.1 * {a}.x > {b}.x", Kind.INT, 50, 55, 1, 0),
        ("0 * {a}.x >= {b}.x", Kind.FLOAT, np.inf, 1.0, 0, 1),
        ("{a}.x + 1 > {b}.x", Kind.INT, 2**63 - 1, 0, 1, None),
    ],
)
def test_sql_in_the_same_words_answers_differently(
    condition: str, kind: Kind, first: float, second: float, right: int, in_sql: int | None
) -> None:
    """docs/findings.md, SQL is not IEEE 754."""
    events = columns({"x": kind}, x=[first, second])
    query = parse_query(f"RETURN COUNT(*) PATTERN SEQ(A, B) WHERE {condition.format(a='A', b='B')}")
    words = f"SELECT count(*) AS c FROM events AS a JOIN events AS b ON a.time < b.time AND {condition}"
    for specification in ("sase", *PLANS):
        assert run(make(specification), query, [events])["COUNT(*)"].sum() == right, specification
    table = {"time": events.time, "x": events.columns["x"]}
    if in_sql is None:
        with pytest.raises(CepbenchError, match="Overflow"):
            session.rows_of_statement(words.format(a="a", b="b"), table)
    else:
        assert session.rows_of_statement(words.format(a="a", b="b"), table)["c"].to_pylist() == [in_sql]


def test_names_that_sql_does_not_distinguish() -> None:
    names = ("key", "K", "k", 'a"b', "select", "Event", "x y", "E")
    events = columns(dict.fromkeys(names, Kind.INT), **{name: [i, i + 1] for i, name in enumerate(names)})
    condition = " AND ".join(f"A.`{name}` = {i} AND B.`{name}` = {i + 1}" for i, name in enumerate(names))
    sums = ", ".join(f"SUM(B.`{name}`)" for name in names)
    for pattern in ("SEQ(A, B)", "SEQ(A+, B)"):
        frame = run(make("duckdb"), parse_query(f"RETURN {sums} PATTERN {pattern} WHERE {condition}"), [events])
        assert frame.iloc[0, 3 : 3 + len(names)].tolist() == [i + 1 for i in range(len(names))]


def test_one_statement_closes_the_windows_of_all_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def execute(sql: str, events: Mapping[str, Any]) -> pa.Table:
        calls.append(len(events["key"]))
        return session.rows_of_statement(sql, events)

    monkeypatch.setattr(operator, "rows_of_statement", execute)
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) WHERE [x] WITHIN 8 s SLIDE 4 s")
    events = columns({"x": Kind.INT}, x=[0, 0, 1, 1, 2, 2])
    algorithm = DuckDB()
    running = algorithm.operator(algorithm.plan(compile_workload([query], events.schema), Statistics()))
    offsets = np.array([0, 2, 4, 6])
    rows = running.process(KeyedBatch(events.slice(0, 6), np.arange(3), offsets, 3))
    assert not calls
    nothing = events.slice(6, 6, watermark=20)
    rows = running.process(KeyedBatch(nothing, np.zeros(0, np.int64), np.zeros(1, np.int64), 3))
    assert calls == [6]
    assert sorted(rows[0].key.tolist()) == [0, 1, 2, 2]
    assert running.state().kinds == {"events": 6}
    assert running.state().kinds == {"events": 0}


def test_events_that_no_window_needs_are_dropped() -> None:
    events = batch(stream("A1 A2 C2 B3 B9 A9"))
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s")
    algorithm = DuckDB()
    plan = algorithm.plan(compile_workload([query], events.schema), Statistics())
    executor = OneKey(algorithm.operator(plan))
    executor.process(events.slice(0, 3))
    assert executor.state().kinds == {"events": 2}
    executor.process(events.slice(3, 5))
    executor.state()
    assert executor.state().kinds == {"events": 1}


@pytest.mark.parametrize(
    ("specification", "text", "reason"),
    [
        ("duckdb[plan=joins]", "RETURN COUNT(*) PATTERN SEQ(A+, B)", "at most 64 sequences of at most 24 events"),
        ("duckdb[plan=joins]", "RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(B+, C), A)", "duckdb[plan=recursive]"),
        ("duckdb[plan=joins]", "RETURN COUNT(*) PATTERN A{1,99}", "at most 64 sequences"),
        ("duckdb", "RETURN MATCHES PATTERN A AND B", "a count of pairs, not matches"),
        ("duckdb", "RETURN COUNT(*) PATTERN SEQ(A+, B, C) WHERE 0 * A.x < C.x", "a factor of 0"),
        ("duckdb", "RETURN COUNT(*) PATTERN A{300}", "299 transitions, and a statement at most 256"),
        ("duckdb[plan=recursive]", "PATTERN A AND B WITHIN 4 s PER MATCH", "no order that a recursion could follow"),
        ("duckdb", "PATTERN A AND B+ WITHIN 4 s PER MATCH", "a Kleene operand of an AND"),
        ("duckdb", "PATTERN (A AND B) OR SEQ(A, NOT B) WITHIN 4 s PER MATCH", "decided at different times"),
    ],
)
def test_what_is_refused(specification: str, text: str, reason: str) -> None:
    assert reason in str(make(specification).unsupported(parse_query(text)))


def test_a_statement_that_needs_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    small = duckdb.connect(":memory:", config={"threads": 1, "temp_directory": "", "memory_limit": "30MB"})
    monkeypatch.setattr(session, "current", lambda: small)
    query = parse_query("RETURN COMPLETE MATCHES PATTERN A+")
    events = batch(stream(" ".join(f"A{time}" for time in range(22))))
    with pytest.raises(NotEnoughMemory, match=r"^DuckDB: Out of Memory"):
        run(make("duckdb"), query, [events])


def test_a_statement_that_duckdb_refuses_is_one_line() -> None:
    with pytest.raises(session.DuckDBFailed, match=r"^DuckDB: Parser Error") as caught:
        session.rows_of_statement("SELEC", {"key": np.zeros(1, np.int64)})
    assert "\n" not in str(caught.value)


def test_an_interrupt_ends_a_statement() -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    events = {"key": np.zeros(1, np.int64)}
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            session.rows_of_statement("SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b", events)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert session.rows_of_statement("SELECT key FROM events", events)["key"].to_pylist() == [0]


def test_a_fork_has_a_connection_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = session.current()
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert session.current() is not connection
    session._connections.pop(-1).close()
