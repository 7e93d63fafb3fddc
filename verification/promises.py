"""The promises of the interface of algorithms beyond right answers (docs/architecture.md, The operator interface)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Algorithm, OutOfOrder
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import algorithms
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.queries.workloads import parse_workload
from cepbench.verification.agreement import expect, expect_rows, frame_of, rows_of
from cepbench.verification.evaluators import Evaluation, run
from cepbench.verification.examples import batch, examples, papers, stream
from cepbench.verification.language_suite import SUITE
from cepbench.verification.random_cases import batch_of, random_case, split

PLAIN = (
    parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s"),
    parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS skip-till-next-match WITHIN 4 s SLIDE 2 s"),
    parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS contiguous WITHIN 4 s SLIDE 2 s"),
    parse_query("RETURN MATCHES PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s"),
    parse_query("PATTERN SEQ(A, B, NOT C) WITHIN 2 s PER MATCH"),
)
"""The promises are checked on the first of them that an algorithm supports.

Rows are reported at the end of a window, and matches of the last query at the end of their spans.
"""
STATES = tuple(
    map(
        parse_query,
        (
            "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s",
            "RETURN COUNT(*), SUM(B.x), MIN(B.x) PATTERN SEQ(A, B) WITHIN 6 s SLIDE 3 s",
            "RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 5 s",
            "RETURN COUNT(*), SUM(A.x) PATTERN A+ WHERE A.x <= NEXT(A).x WITHIN 4 s SLIDE 2 s",
            "RETURN COUNT(*) PATTERN A+ SEMANTICS skip-till-next-match WHERE A.x <= NEXT(A).x WITHIN 4 s",
            "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 5 EVENTS",
            "PATTERN SEQ(A, B+, C) WHERE B.x <= C.x WITHIN 5 s PER MATCH",
            "PATTERN A AND C WITHIN 4 EVENTS PER MATCH",
            "PATTERN SEQ(A, B, NOT C) WITHIN 2 s PER MATCH",
        ),
    )
)
"""Queries whose state rises and falls."""
WORKLOAD = parse_workload(
    "q1: RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s;"
    "q2: RETURN COUNT(*), COUNT(A) PATTERN SEQ(A+, B) WITHIN 4 s SLIDE 2 s;"
    "q3: RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN 6 s;"
    "q4: RETURN COUNT(*) PATTERN B+;"
    "q5: PATTERN SEQ(A, B) WITHIN 2 s PER MATCH;"
    "q6: PATTERN SEQ(A, B, NOT A) WITHIN 2 s PER MATCH;"
    "q7: PATTERN A AND B+ WITHIN 1 s PER MATCH"
)
NEGATED = parse_query("RETURN COUNT(*) PATTERN SEQ(NOT SEQ(C, NOT E, D), A) WITHIN 2 s")

EVENTS = stream("A1 B2 A2 B3 A3 B5 A8 B9 B9")
SUPPORTED = 5
"""A `narrow` algorithm must support more worked examples than this; others more than a quarter of those for windows."""

Promise = Callable[[], None]
"""Raises `AssertionError` if it does not hold."""


def promises(algorithm: Algorithm) -> Iterator[tuple[str, Promise]]:
    """The promises of an algorithm, by name; for refused queries only the reason."""
    for check in (_it_has_a_name_and_a_paper, _a_refusal_has_a_reason, _it_is_not_excused_everywhere):
        yield _words(check), partial(check, algorithm)
    yield _words(_nothing_comes_of_no_events), partial(_nothing_comes_of_no_events, algorithm)
    for query in _supported(algorithm, PLAIN)[:1]:
        yield from ((_words(promise), partial(promise, algorithm, query)) for promise in _ON_A_PLAIN_QUERY)
    for query in _supported(algorithm, STATES):
        promise = partial(_the_largest_state_inside_a_call_is_reported, algorithm, query)
        yield f"{_words(_the_largest_state_inside_a_call_is_reported)}: {_one_line(query)}", promise
    for query in _supported(algorithm, (NEGATED,)):
        yield (
            _words(_a_watermark_reaches_negated_patterns),
            partial(_a_watermark_reaches_negated_patterns, algorithm, query),
        )
    if queries := _supported(algorithm, WORKLOAD):
        promise = partial(_every_query_of_a_workload_has_its_own_answer, algorithm, queries)
        yield _words(_every_query_of_a_workload_has_its_own_answer), promise


def _it_has_a_name_and_a_paper(algorithm: Algorithm) -> None:
    expect(bool(algorithm.name and algorithm.paper), "an algorithm has a `name` and a `paper`")
    for kind in algorithms():
        if kind.name == algorithm.name:
            expect(kind is type(algorithm), f"another algorithm is named {algorithm.name!r}, too")


def _a_refusal_has_a_reason(algorithm: Algorithm) -> None:
    for query in _all_kinds_of_queries():
        try:
            reason = algorithm.refusal(query)
        except QueryError:
            _expect_wrong(query)
        else:
            in_words = reason is None or len(reason.split()) > 2
            expect(in_words, f"`unsupported` gives a reason in words or None, not {reason!r}, for\n{to_text(query)}")


def _it_is_not_excused_everywhere(algorithm: Algorithm) -> None:
    asked = papers()
    supported = len(_supported(algorithm, [example.query for example in asked]))
    least = SUPPORTED if algorithm.narrow else sum(example.query.span is None for example in asked) / 4
    expect(supported > least, f"it refuses all but {supported} of {len(asked)} worked examples; see `Algorithm.narrow`")


def _nothing_comes_of_no_events(algorithm: Algorithm) -> None:
    """An executor may end before its first batch, or after only empty ones."""
    events = batch([{"time": 1, "type": name, "x": 1, "g": 1} for name in "ABCDE"])
    for asked in SUITE:
        queries = parse_workload(asked.workload)
        if len(_supported(algorithm, queries)) < len(queries):
            continue
        for batches in ((), (events.slice(0, 0),), (events.slice(0, 0), events.slice(0, 0, watermark=40))):
            evaluation = Evaluation(algorithm, queries, events.schema)
            rows = sum(evaluation.process(empty) for empty in batches) + evaluation.copy().finish()
            expect(rows == 0, f"{rows} rows without events ({len(batches)} empty batches) for {asked.workload}")
            expect(len(evaluation.frame()) == 0, f"an answer without events for {asked.workload}")


def _older_events_are_refused(algorithm: Algorithm, query: Query) -> None:
    events = batch(stream("A1 B2 A3 B4"))
    evaluation = Evaluation(algorithm, query, events.schema)
    evaluation.process(events.slice(2, 4))
    try:
        evaluation.process(events.slice(0, 2))
    except OutOfOrder:
        return
    expect(False, "a batch that is older than the one before raises `OutOfOrder`")


def _a_batch_may_continue_the_last_time_stamp(algorithm: Algorithm, query: Query) -> None:
    events = stream("A1 B2 A2 B2 B3")
    expect_rows(answer(query, events), run(algorithm, query, split(batch(events), (2, 3))))


def _empty_batches_change_nothing(algorithm: Algorithm, query: Query) -> None:
    pieces = [piece for part in split(batch(EVENTS), (3, 6)) for piece in (part.slice(0, 0), part, part.slice(0, 0))]
    expect_rows(answer(query, EVENTS), run(algorithm, query, pieces))


def _types_that_no_query_names_change_nothing(algorithm: Algorithm, query: Query) -> None:
    events = stream("Z0 A1 Y1 B2 Z2 A2 B3 X3 A3 B5 A8 Z8 B9 B9")
    expect_rows(answer(query, events), run(algorithm, query, [batch(events)]))


def _types_that_no_event_has_are_waited_for(algorithm: Algorithm, query: Query) -> None:
    expect_rows([], run(algorithm, query, [batch(stream("Z1 A2 A3"))]))


def _a_watermark_closes_windows_without_later_events(algorithm: Algorithm, query: Query) -> None:
    events = batch(stream("A1 B2"))
    evaluation = Evaluation(algorithm, query, events.schema)
    evaluation.process(events.slice(0, 2, watermark=4))
    expect_rows(answer(query, stream("A1 B2")), evaluation.frame())
    expect(evaluation.finish() == 0, "rows are reported once")


def _a_watermark_alone_closes_windows(algorithm: Algorithm, query: Query) -> None:
    events = batch(stream("A1 B2"))
    evaluation = Evaluation(algorithm, query, events.schema)
    expect(evaluation.process(events) == 0, "a row is reported when its window has ended")
    expect(evaluation.process(events.slice(0, 0, watermark=4)) == 1, "an empty batch with a watermark closes windows")


def _a_copy_goes_on_by_itself(algorithm: Algorithm, query: Query) -> None:
    events = batch(EVENTS)
    evaluation = Evaluation(algorithm, query, events.schema)
    first, second = split(events, (4,))
    evaluation.process(first)
    copy = evaluation.copy()
    for branch in (evaluation, copy):
        branch.process(second)
        branch.finish()
        expect_rows(answer(query, EVENTS), branch.frame(), "after pickling")


def _state_shrinks_when_windows_close(algorithm: Algorithm, query: Query) -> None:
    events = batch([{"time": time, "type": "AB"[time % 2]} for time in range(400)])
    evaluation = Evaluation(algorithm, query, events.schema)
    sizes = []
    for piece in split(events, tuple(range(20, 400, 20))):
        evaluation.process(piece)
        state = evaluation.state()
        sizes.append(state.bytes)
        expect(all(count >= 0 for count in state.kinds.values()), f"no kind is negative in {state}")
    expect(max(sizes) > 0, "a window that is open has a state")
    expect(max(sizes[10:]) <= 4 * max(sizes[:5]), f"state grows with the stream, not with the window: {sizes} bytes")


def _batches_are_not_written(algorithm: Algorithm, query: Query) -> None:
    events = batch(EVENTS)
    arrays: list[NDArray[Any]] = [events.time, events.type, events.position, *events.columns.values()]
    before = [array.copy() for array in arrays]
    expected = run(algorithm, query, [events])
    same = all(np.array_equal(earlier, now) for earlier, now in zip(before, arrays, strict=True))
    expect(same, "the columns of a batch were changed")
    for array in arrays:
        array.flags.writeable = False  # as columns that Arrow owns
    expect_rows(rows_of(expected), run(algorithm, query, [events]), "of a batch that is read-only")


_ON_A_PLAIN_QUERY: tuple[Callable[[Algorithm, Query], None], ...] = (
    _older_events_are_refused,
    _a_batch_may_continue_the_last_time_stamp,
    _empty_batches_change_nothing,
    _types_that_no_query_names_change_nothing,
    _types_that_no_event_has_are_waited_for,
    _a_watermark_closes_windows_without_later_events,
    _a_watermark_alone_closes_windows,
    _a_copy_goes_on_by_itself,
    _state_shrinks_when_windows_close,
    _batches_are_not_written,
)


def _the_largest_state_inside_a_call_is_reported(algorithm: Algorithm, query: Query) -> None:
    """It is reset after the report."""
    times = [*range(0, 20, 4), *(time for time in range(20, 32) for _ in range(3)), *range(32, 60, 3)]
    events = batch([{"time": t, "type": "ABCA"[i % 4], "x": i * 7 % 5} for i, t in enumerate(times)])
    evaluation = Evaluation(algorithm, query, events.schema)
    states = []
    for n in range(len(events)):
        evaluation.process(events.slice(n, n + 1))
        states.append(evaluation.state().bytes)
    evaluation = Evaluation(algorithm, query, events.schema)
    evaluation.process(events)
    largest, live = evaluation.state().bytes, evaluation.state().bytes
    expect(largest >= max(states), f"{largest} bytes after a call, in which {max(states)} were live")
    expect(live <= states[-1], f"{live} bytes, where {states[-1]} are live: the largest state is not forgotten")


def _a_watermark_reaches_negated_patterns(algorithm: Algorithm, query: Query) -> None:
    events = stream("C0 A1 C2 D4 A5")
    whole = batch(events)
    pieces = [whole.slice(0, 3), whole.slice(0, 0, watermark=4), whole.slice(3, 5)]
    expect_rows(answer(query, events), run(algorithm, query, pieces))


def _every_query_of_a_workload_has_its_own_answer(algorithm: Algorithm, queries: Sequence[Query]) -> None:
    evaluation = Evaluation(algorithm, queries, batch(EVENTS).schema)
    for piece in split(batch(EVENTS), (2, 3, 7)):
        evaluation.process(piece)
    evaluation.finish()
    rows = rows_of(evaluation.frame())
    names = ["query", "window_start", "COUNT(*)", "match"]
    for query in queries:
        answered = [{name: row.get(name) for name in names} for row in rows if row["query"] == query.name]
        wanted = [{name: row.get(name) for name in names} for row in answer(query, EVENTS)]
        expect_rows(wanted, frame_of(answered), f"of {query.name}")
    expect({row["query"] for row in rows} <= {query.name for query in queries}, "rows of other queries")


@cache
def _all_kinds_of_queries() -> tuple[Query, ...]:
    suite = (query for asked in SUITE for query in parse_workload(asked.workload))
    return (*(example.query for example in examples()), *suite, *(random_case(seed).query for seed in range(200)))


def _expect_wrong(query: Query) -> None:
    """A query for which `unsupported` raises `QueryError` does not compile, either."""
    try:
        compile_workload([query], batch_of(()).schema)
    except QueryError:
        return
    expect(False, f"`unsupported` raises for a query that compiles:\n{to_text(query)}")


def _supported(algorithm: Algorithm, queries: Iterable[Query]) -> list[Query]:
    return [query for query in queries if algorithm.refusal(query) is None]


def _words(function: Callable[..., None]) -> str:
    return function.__name__.strip("_").replace("_", " ")


def _one_line(query: Query) -> str:
    return " ".join(to_text(query).split())
