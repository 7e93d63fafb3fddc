"""Answers as tables and as digests."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.answers.matches import digested
from cepbench.algorithms.rows import AggregateRows, MatchDigests, MatchRows
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import parse_workload
from cepbench.verification.agreement import rows_of
from tests.contract.streams import batch

EVENTS = batch([{"time": 0, "type": "A", "n": 1, "s": "u", "x": 1.5}])
WORKLOAD = """
q1: RETURN n, COUNT(*), SUM(A.x) PATTERN A+ GROUP-BY n

q2: RETURN s, COUNT(*), MIN(A.n) PATTERN A+ GROUP-BY s WITHIN 5 s

q3: RETURN MATCHES PATTERN A
"""
COLUMNS = ["query", "n", "s", "window_start", "window_end", "COUNT(*)", "SUM(A.x)", "MIN(A.n)", "overflow", "match"]


def builder(text: str = WORKLOAD) -> AnswerBuilder:
    return AnswerBuilder(compile_workload(parse_workload(text), EVENTS.schema))


def rows(window: list[int], counts: list[int], sums: list[float], over: int = 0) -> AggregateRows:
    """Rows of COUNT(*), COUNT(A) (the same) and SUM(A.x)."""
    n = len(window)
    return AggregateRows(
        np.array(window),
        np.array([[count, count] for count in counts], np.uint64),
        np.full(n, over, np.uint64),
        np.array(sums).reshape(n, -1),
        np.empty((n, 0), np.int64),
    )


def least(window: int, count: int, value: int) -> AggregateRows:
    """A row of COUNT(*) and MIN(A.n)."""
    return AggregateRows(
        np.array([window]),
        np.array([[count]], np.uint64),
        np.zeros(1, np.uint64),
        np.empty((1, 0)),
        np.array([[value]]),
    )


def test_columns_do_not_depend_on_the_rows() -> None:
    empty = builder()
    partly = builder()
    partly.add(1, ("u",), least(0, 3, 7))
    for answer in (empty, partly):
        frame = answer.frame()
        assert list(frame) == COLUMNS
        assert frame.dtypes.astype(str).tolist() == [
            "object", "Int64", "object", "int64", "Int64", "UInt64", "Float64", "Int64", "boolean", "object",
        ]  # fmt: skip
        assert not answer.overflow
    assert (empty.rows, partly.rows, partly.matches) == (0, 1, 3.0)


def test_queries_keep_their_own_columns_exactly() -> None:
    answer = builder()
    for n in (2**60 + 1, 2**60):  # equal as floats
        answer.add(0, (n,), rows([0], [1], [0.5]))
    answer.add(1, ("u",), least(2, 4, -1))
    answer.add(2, (), MatchRows(np.array([0]), np.array([0, 2]), np.array([3, 5])))
    assert [list(row.values()) for row in rows_of(answer.frame())] == [
        ["q1", 2**60, None, 0, None, 1, 0.5, None, False, None],
        ["q1", 2**60 + 1, None, 0, None, 1, 0.5, None, False, None],
        ["q2", None, "u", 10, 15, 4, None, -1, False, None],
        ["q3", None, None, 0, None, None, None, None, None, [3, 5]],
    ]


def test_a_workload_of_aggregates_has_plain_flags() -> None:
    answer = builder("RETURN COUNT(*) PATTERN A")
    assert answer.frame().dtypes["overflow"] == np.dtype(bool)
    assert "match" not in answer.frame()


def test_partial_rows_of_a_group_add_up_by_window() -> None:
    text = "RETURN n, COUNT(*), SUM(A.x) PATTERN A+ WHERE [s] GROUP-BY n WITHIN 5 s"
    answer, further = builder(text), builder(text)
    answer.add(0, (1, "u"), rows([0, 3], [2, 2**63], [1.5, 2.5]))
    further.add(0, (1, "v"), rows([3, 4], [2**63, 1], [0.5, 1.0]))
    answer.merge(further.parts)
    frame = answer.frame()
    assert frame["window_start"].tolist() == [0, 15, 20]
    assert frame["COUNT(*)"].tolist() == [2, pd.NA, 1]  # the counts overflow only together
    assert frame["SUM(A.x)"].tolist() == [1.5, pd.NA, 1.0]
    assert frame["overflow"].tolist() == [False, True, False]
    assert answer.overflow
    assert answer.matches == float("inf")


def test_flags_and_minima_of_parts_reach_their_window() -> None:
    text = "RETURN n, COUNT(*), MIN(A.n) PATTERN A+ WHERE [s] GROUP-BY n WITHIN 5 s"
    answer = builder(text)
    answer.add(0, (1, "u"), least(0, 2, 7))
    answer.add(0, (1, "v"), least(0, 3, 9))
    answer.add(0, (1, "u"), replace(least(1, 4, 5), overflow=np.ones(1, np.uint64)))
    answer.add(0, (1, "v"), least(1, 1, 6))
    frame = answer.frame()
    assert frame["COUNT(*)"].tolist() == [5, pd.NA]
    assert frame["MIN(A.n)"].tolist() == [7, 5]
    assert frame["overflow"].tolist() == [False, True]


def digest(*parts: AggregateRows) -> str:
    answer = builder("RETURN COUNT(*), SUM(A.x) PATTERN A+ WITHIN 5 s")
    for part in parts:
        answer.add(0, (), part)
    return answer.digest()


def test_digests_do_not_depend_on_the_order_of_rows() -> None:
    assert digest(rows([0, 2], [1, 2], [0.5, 1.5])) == digest(rows([2], [2], [1.5]), rows([0], [1], [0.5]))


@pytest.mark.parametrize(
    "prices",
    [
        [12345678.25, 0.0],
        [0.1] * 3,
        [1234.56785 / 3] * 3,
        [0.1, 0.7, -0.8],
        [1e5 / 3, -1e5 / 7, -(1e5 / 3 - 1e5 / 7)],
        [0.0, -0.0],
        list(np.random.default_rng(1).normal(100, 20, 5000).round(2)),
    ],
)
def test_digests_do_not_depend_on_the_order_of_additions(prices: list[float]) -> None:
    sums: set[float] = {sum(prices), sum(reversed(prices)), sum(sorted(prices)), float(np.sum(prices))}
    nudged = {total + sign * abs(total) * 1e-14 for total in sums for sign in (-1, 0, 1)}
    assert len({digest(rows([0], [len(prices)], [total])) for total in nudged}) == 1


@pytest.mark.parametrize(
    "changed",
    [
        rows([0], [10], [2.5 + 1e-4]),
        rows([0], [11], [2.5]),
        rows([1], [10], [2.5]),
        rows([0], [10], [2.5], over=1),
        rows([0], [10], [-2.5]),
    ],
)
def test_digests_tell_answers_apart(changed: Any) -> None:
    assert digest(changed) != digest(rows([0], [10], [2.5]))


def test_float_sums_whose_counts_overflowed_do_not_count() -> None:
    """The sums are shown as overflowed, and their remainders depend on the algorithm."""
    assert digest(rows([0], [10], [2.5], over=3)) == digest(rows([0], [10], [99.0], over=3))


def test_a_carry_of_a_signed_sum_means_nothing() -> None:
    """-3 and 3 wrap around on their way to 0; 3 and -3 do not."""
    digests = set()
    for over in (0, 1 << 2):  # of COUNT(*), COUNT(A), SUM(A.n) and its magnitude
        answer = builder("RETURN SUM(A.n) PATTERN A+ WITHIN 5 s")
        ring, nothing = np.array([[2, 2, 0, 6]], np.uint64), np.empty((1, 0))
        flags = np.full(1, over, np.uint64)
        answer.add(0, (), AggregateRows(np.zeros(1, np.int64), ring, flags, nothing, nothing.astype(np.int64)))
        assert answer.frame()["SUM(A.n)"].tolist() == [0]
        digests.add(answer.digest())
    assert len(digests) == 1


def test_both_zeros_are_one_group() -> None:
    text = "RETURN x, COUNT(*), SUM(A.x) PATTERN A+ WHERE [n] GROUP-BY x"
    first, second = builder(text), builder(text)
    for answer, zeros in ((first, (0.0, -0.0)), (second, (-0.0, 0.0))):
        for n, zero in enumerate(zeros):
            answer.add(0, (zero, n), rows([0], [1], [0.5]))
    assert first.frame()["COUNT(*)"].tolist() == [2]
    assert first.digest() == second.digest()


def matches(*bindings: tuple[int, list[int]]) -> MatchRows:
    """Windows with the positions of a match."""
    offsets = np.cumsum([0, *(len(positions) for _, positions in bindings)])
    return MatchRows(
        np.array([window for window, _ in bindings]),
        offsets,
        np.array([position for _, positions in bindings for position in positions], np.int64),
    )


def matching(summarised: bool) -> AnswerBuilder:
    queries = parse_workload("RETURN MATCHES PATTERN A+ WHERE [s] GROUP-BY n WITHIN 5 s")
    return AnswerBuilder(compile_workload(queries, EVENTS.schema, summarised=summarised))


def test_matches_are_in_order_whatever_the_order_of_parts() -> None:
    answer = matching(summarised=False)
    answer.add(0, (1, "u"), matches((1, [4, 5]), (0, [2, 10]), (0, [2, 3, 4])))
    answer.add(0, (1, "v"), matches((0, [2, 3]), (1, [4]), (0, [2])))
    frame = answer.frame()
    assert frame["match"].tolist() == [[2], [2, 3], [2, 3, 4], [2, 10], [4], [4, 5]]
    assert frame["window_start"].tolist() == [0, 0, 0, 0, 5, 5]
    assert answer.table()["match"].to_pylist() == frame["match"].tolist()
    assert (answer.rows, answer.matches, answer.overflow) == (6, 6.0, False)


def test_matches_are_in_the_order_of_windows_first() -> None:
    answer = matching(summarised=False)
    answer.add(0, (1, "u"), matches((1, [2, 3]), (0, [2, 3]), (1, [1]), (0, [4])))
    frame = answer.frame()
    assert frame["window_start"].tolist() == [0, 0, 5, 5]
    assert frame["match"].tolist() == [[2, 3], [4], [1], [2, 3]]


def test_a_summarised_answer_counts_and_digests_matches() -> None:
    plain, single, whole = matching(False), matching(True), matching(True)
    parts = [matches((1, [4, 5]), (0, [2, 10])), matches((1, [7]), (1, [8, 9]))]
    for answer in (plain, single):
        for sub, part in zip("uv", parts, strict=True):
            answer.add(0, (1, sub), part)
    whole.add(0, (1, "u"), digested(matches((0, [2, 10]), (1, [8, 9]), (1, [7]), (1, [4, 5]))))
    assert plain.digest() == single.digest() == whole.digest()
    frame = whole.frame()
    assert list(frame) == ["query", "n", "window_start", "window_end", "matches", "digest"]
    assert frame["matches"].tolist() == [1, 3]
    assert [len(digest) for digest in frame["digest"]] == [16, 16]
    assert single.frame().equals(frame)
    assert (whole.rows, whole.matches, whole.overflow) == (2, 4.0, False)


def test_digests_tell_the_first_event() -> None:
    """Position 0 is an event, too."""
    digests = set()
    for positions in ([0, 1], [1]):
        answer = matching(summarised=True)
        answer.add(0, (1, "u"), matches((0, positions)))
        digests.add(answer.digest())
    assert len(digests) == 2


def test_digests_of_matches_add_up_modulo_2_64() -> None:
    answer = matching(summarised=True)
    for sub in "uv":
        answer.add(0, (1, sub), MatchDigests(np.array([3]), np.array([2], np.uint64), np.array([2**63 + 5], np.uint64)))
    assert answer.frame()[["matches", "digest"]].to_numpy().tolist() == [[4, "000000000000000a"]]


@pytest.mark.parametrize(
    "changed",
    [[(0, [1, 2])], [(0, [2, 1]), (0, [3])], [(1, [1, 2]), (0, [3])], [(0, [1]), (0, [2, 3])], [(0, [1, 2])] * 2],
)
def test_digests_tell_matches_apart(changed: list[tuple[int, list[int]]]) -> None:
    digests = []
    for bindings in ([(0, [1, 2]), (0, [3])], changed):
        answer = matching(summarised=True)
        answer.add(0, (1, "u"), matches(*bindings))
        digests.append(answer.digest())
    assert digests[0] != digests[1]


def test_rows_of_many_substreams_reach_their_groups_in_order() -> None:
    pooled, partial = builder(), builder()
    keys = [(7,), (-2,), (5,)]
    pooled_rows = rows([1, 0, 0, 1], [10, 20, 30, 40], [1.0, 2.0, 3.0, 4.0])
    pooled.add_rows(keys, {0: replace(pooled_rows, key=np.array([2, 0, 1, 2]))})
    partial.add_rows([(3,), (5,)], {0: replace(rows([1, 0], [100, 200], [0.5, 0.5]), key=np.array([1, 0]))})
    partial.add(0, (5,), rows([0], [1], [1.0]))
    pooled.merge(partial.parts)
    frame = pooled.frame()
    assert frame["n"].tolist() == [-2, 3, 5, 5, 7]
    assert frame["COUNT(*)"].tolist() == [30, 200, 1, 150, 20]
    assert frame["SUM(A.x)"].tolist() == [3.0, 0.5, 1.0, 5.5, 2.0]
    alone = builder()
    for key, window, count, total in (
        (7, 0, 20, 2.0),
        (5, 1, 150, 5.5),
        (3, 0, 200, 0.5),
        (-2, 0, 30, 3.0),
        (5, 0, 1, 1.0),
    ):
        alone.add(0, (key,), rows([window], [count], [total]))
    assert pooled.digest() == alone.digest()


def test_an_answer_that_was_packed_for_a_journey_is_the_same() -> None:
    whole, arrived = builder(), builder()
    whole.add_rows([(3,), (5,)], {0: replace(rows([1, 0], [100, 200], [0.5, 0.5]), key=np.array([1, 0]))})
    whole.add(0, (-2,), rows([0], [1], [1.0]))
    whole.add(0, (5,), rows([1, 2], [7, 8], [2.0, 3.0]))
    assert len(whole.parts[0].parts) == 3
    packed = whole.packed()
    assert len(packed[0].parts) == 1
    arrived.add(0, (9,), rows([0], [1], [1.0]))  # so that groups have other numbers there
    arrived.merge(packed)
    whole.add(0, (9,), rows([0], [1], [1.0]))
    assert arrived.frame().equals(whole.frame())
    assert arrived.digest() == whole.digest()


def test_single_matches_stay_by_group_when_packed() -> None:
    whole, arrived = matching(summarised=False), matching(summarised=False)
    whole.add(0, (2, "u"), matches((0, [1, 2]), (0, [3])))
    whole.add(0, (1, "u"), matches((1, [4])))
    arrived.merge(whole.packed())
    assert arrived.frame().equals(whole.frame())
    assert arrived.digest() == whole.digest()


def test_matches_of_many_keys_are_kept_by_group() -> None:
    whole, alone = matching(summarised=False), matching(summarised=False)
    match_rows = matches((0, [1, 2]), (0, [3]), (1, [4]), (0, [5, 6]))
    whole.add_rows([(2, "u"), (1, "u")], {0: replace(match_rows, key=np.array([0, 0, 1, 0]))})
    alone.add(0, (2, "u"), matches((0, [1, 2]), (0, [3]), (0, [5, 6])))
    alone.add(0, (1, "u"), matches((1, [4])))
    assert whole.frame().equals(alone.frame())
    assert whole.digest() == alone.digest()


def test_groups_of_strings_are_in_the_order_of_their_characters() -> None:
    answer = builder()
    answer.add_rows([("v",), ("u",), ("é",), ("Z",)], {1: AggregateRows(
        np.zeros(4, np.int64), np.ones((4, 1), np.uint64), np.zeros(4, np.uint64), np.empty((4, 0)),
        np.arange(4).reshape(4, 1), key=np.arange(4),
    )})  # fmt: skip
    assert answer.frame()["s"].tolist() == ["Z", "u", "v", "é"]
