"""What the executor interface promises beyond right answers (docs/architecture.md, The executor interface)."""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, Executor, OutOfOrder
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import ALGORITHMS, make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference, rows_of
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import batch_of, random_case, split
from tests.contract.streams import batch
from tests.streams import golden_cases, stream

PLAIN = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s"
"""Within the reach of every algorithm of the papers that aggregates."""

DETECTING = "PATTERN SEQ(A, B, NOT C) WITHIN 2 s PER MATCH"
"""For those that only detect; matches wait for the end of their spans, as rows for the end of their windows."""

STATES = (
    PLAIN,
    "RETURN COUNT(*), SUM(B.x), MIN(B.x) PATTERN SEQ(A, B) WITHIN 6 s SLIDE 3 s",
    "RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 5 s",
    "RETURN COUNT(*), SUM(A.x) PATTERN A+ WHERE A.x <= NEXT(A).x WITHIN 4 s SLIDE 2 s",
    "RETURN COUNT(*) PATTERN A+ SEMANTICS skip-till-next-match WHERE A.x <= NEXT(A).x WITHIN 4 s",
    "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 5 EVENTS",
    "PATTERN SEQ(A, B+, C) WHERE B.x <= C.x WITHIN 5 s PER MATCH",
    "PATTERN A AND C WITHIN 4 EVENTS PER MATCH",
    DETECTING,
)
"""Queries whose state rises and falls."""

EVENTS = "A1 B2 A2 B3 A3 B5 A8 B9 B9"


def plain(algorithm: Algorithm) -> Query:
    """A query that the algorithm supports."""
    query = parse_query(PLAIN)
    return query if algorithm.unsupported(query) is None else parse_query(DETECTING)


def start(algorithm: Algorithm, queries: Sequence[Query], events: EventBatch) -> tuple[Workload, Executor]:
    workload = compile_workload(queries, events.schema)
    return workload, algorithm.executor(algorithm.plan(workload, Statistics()))


def test_it_has_a_name_and_a_paper(algorithm: Algorithm) -> None:
    assert type(make(algorithm.name)) is type(algorithm)
    assert algorithm.paper


def test_names_are_unique() -> None:
    assert len({algorithm.name for algorithm in ALGORITHMS}) == len(ALGORITHMS)


def test_a_reason_is_given_in_words(algorithm: Algorithm) -> None:
    schema = batch_of(()).schema
    queries = [parse_query(case["query"]) for case in golden_cases()]
    for query in queries + [random_case(seed).query for seed in range(200)]:
        try:
            reason = algorithm.unsupported(query)
        except QueryError:
            with pytest.raises(QueryError):
                compile_workload([query], schema)
        else:
            assert reason is None or len(reason.split()) > 2


def test_older_events_are_refused(algorithm: Algorithm) -> None:
    events = batch(stream("A1 B2 A3 B4"))
    _, executor = start(algorithm, [plain(algorithm)], events)
    executor.process(events.slice(2, 4))
    with pytest.raises(OutOfOrder):
        executor.process(events.slice(0, 2))


def test_a_batch_may_continue_the_last_time_stamp(algorithm: Algorithm) -> None:
    events = batch(stream("A1 B2 A2 B2 B3"))
    query = plain(algorithm)
    found = rows_of(run(algorithm, query, split(events, (2, 3))))
    assert found == answer(query, stream("A1 B2 A2 B2 B3"))


def test_an_empty_stream_has_no_rows(algorithm: Algorithm) -> None:
    events = batch(stream("A1 B2")).slice(0, 0)
    _, executor = start(algorithm, [plain(algorithm)], events)
    assert not executor.process(events)
    assert not executor.finish()
    _, executor = start(algorithm, [plain(algorithm)], events)
    assert not executor.finish()


def test_empty_batches_change_nothing(algorithm: Algorithm) -> None:
    events = batch(stream(EVENTS))
    query = plain(algorithm)
    pieces = [piece for one in split(events, (3, 6)) for piece in (one.slice(0, 0), one, one.slice(0, 0))]
    assert difference(answer(query, stream(EVENTS)), run(algorithm, query, pieces)) is None


def test_types_that_no_query_names_change_nothing(algorithm: Algorithm) -> None:
    text = "Z0 A1 Y1 B2 Z2 A2 B3 X3 A3 B5 A8 Z8 B9 B9"
    query = plain(algorithm)
    found, wanted = rows_of(run(algorithm, query, [batch(stream(text))])), answer(query, stream(EVENTS))
    assert [_without_positions(row) for row in found] == [_without_positions(row) for row in wanted]


def _without_positions(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "match"}


def test_types_that_no_event_has(algorithm: Algorithm) -> None:
    assert len(run(algorithm, plain(algorithm), [batch(stream("Z1 A2 A3"))])) == 0


def test_until_closes_windows_without_later_events(algorithm: Algorithm) -> None:
    events = batch(stream("A1 B2"))
    workload, executor = start(algorithm, [plain(algorithm)], events)
    closed = executor.process(events.slice(0, 2, until=4))
    builder = AnswerBuilder(workload)
    for query, rows in closed.items():
        builder.add(query, (), rows)
    assert builder.frame()["window_start"].tolist() == [1 if workload[0].detects else 0]
    assert not executor.finish()


def test_until_alone_closes_windows(algorithm: Algorithm) -> None:
    events = batch(stream("A1 B2"))
    _, executor = start(algorithm, [plain(algorithm)], events)
    assert not executor.process(events)
    assert [len(rows) for rows in executor.process(events.slice(0, 0, until=4)).values()] == [1]


def test_until_alone_reaches_negated_patterns(algorithm: Algorithm) -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(NOT SEQ(C, NOT E, D), A) WITHIN 2 s")
    reason = algorithm.unsupported(query)
    if reason is not None:
        pytest.skip(reason)
    events = batch(stream("C0 A1 C2 D4 A5"))
    pieces = [events.slice(0, 3), events.slice(0, 0, until=4), events.slice(3, 5)]
    assert difference(answer(query, stream("C0 A1 C2 D4 A5")), run(algorithm, query, pieces)) is None


def test_a_pickled_executor_goes_on_by_itself(algorithm: Algorithm) -> None:
    events = batch(stream(EVENTS))
    query = plain(algorithm)
    workload, executor = start(algorithm, [query], events)
    first, second = split(events, (4,))
    before = executor.process(first)
    copy = pickle.loads(pickle.dumps(executor))
    executor.process(second)
    executor.finish()
    builder = AnswerBuilder(workload)
    for rows in (before, copy.process(second), copy.finish()):
        for index, found in rows.items():
            builder.add(index, (), found)
    assert difference(answer(query, stream(EVENTS)), builder.frame()) is None


def test_every_query_of_a_workload_has_its_own_answer(algorithm: Algorithm) -> None:
    texts = (
        "q1: RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s",
        "q2: RETURN COUNT(*), COUNT(A) PATTERN SEQ(A+, B) WITHIN 4 s SLIDE 2 s",
        "q3: RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN 6 s",
        "q4: RETURN COUNT(*) PATTERN B+",
        "q5: PATTERN SEQ(A, B) WITHIN 2 s PER MATCH",
        "q6: PATTERN SEQ(A, B, NOT A) WITHIN 2 s PER MATCH",
        "q7: PATTERN A AND B+ WITHIN 1 s PER MATCH",
    )
    queries = [query for query in map(parse_query, texts) if algorithm.unsupported(query) is None]
    if not queries:
        pytest.skip(str(algorithm.unsupported(parse_query(texts[0]))))
    events = batch(stream(EVENTS))
    workload, executor = start(algorithm, queries, events)
    builder = AnswerBuilder(workload)
    for piece in split(events, (2, 3, 7)):
        for index, found in executor.process(piece).items():
            builder.add(index, (), found)
    for index, found in executor.finish().items():
        builder.add(index, (), found)
    names = ["query", "window_start", "COUNT(*)", "match"]
    wanted = [[row.get(name) for name in names] for query in queries for row in answer(query, stream(EVENTS))]
    assert [[row.get(name) for name in names] for row in rows_of(builder.frame())] == wanted


def test_state_is_live_and_shrinks_when_windows_close(algorithm: Algorithm) -> None:
    events = batch([{"time": time, "type": "AB"[time % 2]} for time in range(400)])
    _, executor = start(algorithm, [plain(algorithm)], events)
    sizes = []
    for piece in split(events, tuple(range(20, 400, 20))):
        executor.process(piece)
        state = executor.state()
        sizes.append(state.bytes)
        assert all(count >= 0 for count in state.kinds.values())
    assert max(sizes) > 0
    assert max(sizes[10:]) <= 4 * max(sizes[:5]), "state grows with the stream, not with the window"
    executor.finish()


@pytest.mark.parametrize("text", STATES)
def test_the_largest_state_inside_a_call_is_told(algorithm: Algorithm, text: str) -> None:
    query = parse_query(text)
    reason = algorithm.unsupported(query)
    if reason is not None:
        pytest.skip(reason)
    times = [*range(0, 20, 4), *(time for time in range(20, 32) for _ in range(3)), *range(32, 60, 3)]
    events = batch([{"time": t, "type": "ABCA"[i % 4], "x": i * 7 % 5} for i, t in enumerate(times)])
    _, executor = start(algorithm, [query], events)
    states = []
    for n in range(len(events)):
        executor.process(events.slice(n, n + 1))
        states.append(executor.state())
    _, executor = start(algorithm, [query], events)
    executor.process(events)
    assert executor.state().bytes >= max(state.bytes for state in states)
    assert executor.state().bytes <= states[-1].bytes, "the largest state is not forgotten once it is told"


def test_batches_are_not_written(algorithm: Algorithm) -> None:
    events = batch(stream(EVENTS))
    arrays: list[NDArray[Any]] = [events.time, events.type, events.position, *events.columns.values()]
    before = [array.copy() for array in arrays]
    expected = run(algorithm, plain(algorithm), [events])
    assert all(np.array_equal(one, other) for one, other in zip(before, arrays, strict=True))
    for array in arrays:
        array.flags.writeable = False  # as columns that Arrow owns
    assert run(algorithm, plain(algorithm), [events]).equals(expected)


def test_counts_beyond_the_range_are_flagged(algorithm: Algorithm) -> None:
    query = parse_query("RETURN COUNT(*), COUNT(A), MIN(A.x), SUM(A.x), AVG(A.x) PATTERN A+")
    reason = algorithm.unsupported(query)
    if reason is not None:
        pytest.skip(reason)
    if algorithm.enumerates:
        pytest.skip("constructs every trend")
    size = 70  # 2^70 - 1 trends
    events = batch([{"time": time, "type": "A", "x": time + 1} for time in range(size)])
    for cuts in ((), (1, 30, 65)):
        [row] = rows_of(run(algorithm, query, split(events, cuts)))
        assert row["overflow"] is True
        assert [row[name] for name in ("COUNT(*)", "COUNT(A)", "SUM(A.x)", "AVG(A.x)")] == [None] * 4
        assert row["MIN(A.x)"] == 1
        [magnitude] = rows_of(run(algorithm, query, split(events, cuts), "float"))
        assert magnitude["overflow"] is False
        assert magnitude["COUNT(*)"] == pytest.approx(2.0**70 - 1)
        assert magnitude["COUNT(A)"] == pytest.approx(70 * 2.0**69)


def test_the_largest_count_is_exact(algorithm: Algorithm) -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A+")
    reason = algorithm.unsupported(query)
    if reason is not None:
        pytest.skip(reason)
    if algorithm.enumerates:
        pytest.skip("constructs every trend")
    for size, count in ((63, 2**63 - 1), (64, 2**64 - 1), (65, None)):
        [row] = rows_of(run(algorithm, query, [batch([{"time": time, "type": "A"} for time in range(size)])]))
        assert row["COUNT(*)"] == count
        assert row["overflow"] is (count is None)
