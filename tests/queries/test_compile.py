"""Queries bound to a schema."""

import numpy as np
import pytest

from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.windows import Window
from cepbench.queries.aggregates import Channel, Column, Transform
from cepbench.queries.compile import CompiledQuery, compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Condition, In, Op, Relation, Term
from cepbench.queries.parser import parse_query

SCHEMA = Schema(
    ("A", "B"),
    (Attribute("n", Kind.INT), Attribute("m", Kind.INT), Attribute("x", Kind.FLOAT), Attribute("s", Kind.STRING)),
    "ms",
    ("u", "v"),
)


def compiled(text: str, arithmetic: str = "modular") -> CompiledQuery:
    [query] = compile_workload([parse_query(f"RETURN {text}")], SCHEMA, arithmetic)
    return query


def test_tables_list_positions_and_transitions() -> None:
    tables = compiled("COUNT(*) PATTERN SEQ(A+, B, A?)").parts[0].tables
    assert tables.binding_ptr.tolist() == [0, 2, 3]
    assert tables.binding.tolist() == [0, 2, 1]
    assert tables.enter_ptr.tolist() == [0, 1, 2, 3]
    assert tables.source.tolist() == [0, 0, 1]
    assert tables.start.tolist() == [True, False, False]
    assert tables.end.tolist() == [False, True, True]


def test_types_that_the_stream_lacks_bind_nothing() -> None:
    tables = compiled("COUNT(*) PATTERN SEQ(A, Unseen)").parts[0].tables
    assert tables.binding.tolist() == [0]
    assert len(tables.start) == 2


def test_negations_have_tables_and_share_columns() -> None:
    query = compiled("COUNT(*) PATTERN SEQ(A, NOT SEQ(B x, NOT A y, B z), B) WHERE x.n < z.n AND y.n > 3")
    [negation] = query.parts[0].negations
    assert query.parts[0].tables.between.tolist() == [0]
    assert negation.tables.adjacent.one["op"].tolist() == [0]
    assert negation.negations[0].tables.local.tolist() == [0]
    assert query.ints == (Column("n", Transform.INT),)
    assert query.columns.flags == (Relation(Term("n"), Op.GT, 3),)


@pytest.mark.parametrize(
    ("where", "bound"),
    [
        ("A.s = 'v'", Relation(Term("s"), Op.EQ, 1)),
        ("A.s != 'unseen'", Relation(Term("s"), Op.NE, -1)),
        ("A.time + 2 s < 1 min", Relation(Term("time", 1, 2000), Op.LT, 60_000)),
        ("A.s IN ('v')", In("s", (1,))),
    ],
)
def test_conditions_have_codes_and_units_of_the_stream(where: str, bound: Condition) -> None:
    query = compiled(f"COUNT(*) PATTERN A WHERE {where}")
    assert query.columns.flags == (bound,)
    assert query.parts[0].tables.local.tolist() == [0]


@pytest.mark.parametrize(
    ("where", "passing"),
    [
        ("A.n < 3", [True, False, False]),
        ("A.n < 3.5", [True, True, False]),
        ("2 * A.n < 6", [True, False, False]),
        (f"A.n + 1 > {2**63 - 1}", [False, False, True]),
        (f"A.n + 0.0 >= {2**63 - 1}", [False, False, True]),
        (f"A.n IN (3, {2**63 - 1})", [False, True, True]),
        ("A.n < A.n + 1", [True, True, True]),
        ("A.n > A.x OR NOT A.n < 3", [True, True, True]),
        ("A.time > 4 AND A.time < 6", [False, True, False]),
    ],
)
def test_conditions_are_columns_of_a_batch(where: str, passing: list[bool]) -> None:
    query = compiled(f"COUNT(*) PATTERN A WHERE {where}")
    values = np.array([2, 3, 2**63 - 1])
    columns = {"n": values, "m": values, "x": np.array([1.0, 5.0, 1.0]), "s": np.zeros(3, np.int32)}
    events = EventBatch(SCHEMA, np.array([4, 5, 6]), np.zeros(3, np.int32), columns, np.arange(3))
    assert query.columns.matrices(events)[2].all(axis=0).tolist() == passing


@pytest.mark.parametrize(
    ("where", "real", "factors"),
    [
        ("A.n < B.m", False, (1.0, 1.0)),
        ("2 * A.n < B.m", True, (2.0, 1.0)),
        ("A.n < 2 * B.m", True, (1.0, 2.0)),
        ("A.x < B.m", True, (1.0, 1.0)),
    ],
)
def test_either_side_of_a_comparison_may_make_it_one_of_floats(
    where: str, real: bool, factors: tuple[float, float]
) -> None:  # fmt: skip
    query = compiled(f"COUNT(*) PATTERN SEQ(A, B) WHERE {where}")
    adjacent = query.parts[0].tables.adjacent
    columns = query.reals if real else query.ints
    left, right = (columns[int(adjacent.one[side][0])].attribute for side in ("left_column", "right_column"))
    assert (left, right) == (where.split(" <")[0][-1], "m")
    assert adjacent.one["real"].tolist() == [real]
    assert (adjacent.one["left_factor"][0], adjacent.one["right_factor"][0]) == factors


def test_negations_at_the_ends_have_lists_of_their_own() -> None:
    tables = compiled("COUNT(*) PATTERN SEQ(NOT A a, B?, A, B+, NOT A, NOT B c)").parts[0].tables
    assert (tables.leading_ptr.tolist(), tables.leading.tolist()) == ([0, 1, 2, 2], [0, 0])
    assert (tables.trailing_ptr.tolist(), tables.trailing.tolist()) == ([0, 0, 0, 2], [1, 2])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("COUNT(*) PATTERN A WHERE A.s = 3", "s is a string, but it is compared with 3"),
        ("COUNT(*) PATTERN A WHERE A.n = 'u'", "n is a number, but it is compared with 'u'"),
        ("COUNT(*) PATTERN A+ WHERE A.s = NEXT(A).n", "one is a string, the other a number"),
        ("COUNT(*) PATTERN A+ WHERE A.s < NEXT(A).s", "strings compare with = and != only"),
        ("SUM(A.s) PATTERN A", "needs a number, but 's' is a string"),
        ("SUM(A.y) PATTERN A", "no attribute 'y'; they have n, m, x, s"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=f"^query q: .*{problem}"):
        compiled(text)


def test_a_window_of_no_whole_number_of_units_is_refused() -> None:
    with pytest.raises(InputError, match=r"^WITHIN 1 ns is not a whole number of the stream's time unit 'ms'"):
        compiled("COUNT(*) PATTERN A WITHIN 1 ns")
    with pytest.raises(InputError, match=r"^SLIDE 0\.5 ms is not a whole number"):
        compiled("COUNT(*) PATTERN A WITHIN 1 ms SLIDE 0.5 ms")


def test_windows_are_in_units_of_the_stream() -> None:
    assert compiled("COUNT(*) PATTERN A WITHIN 2 s SLIDE 0.5 s").window == Window(2000, 500)
    assert compiled("COUNT(*) PATTERN A WITHIN 1 min SLIDE 250 ms").window == Window(60_000, 250)
    assert compiled("COUNT(*) PATTERN A WITHIN 6 EVENTS SLIDE 2 EVENTS").window == Window(6, 2, counts_events=True)
    assert compiled("COUNT(*) PATTERN A WITHIN 2 EVENTS").window == Window(2, 2, counts_events=True)
    assert compiled("COUNT(*) PATTERN A").window is None


def test_an_event_lies_in_at_most_2_to_the_20_windows() -> None:
    assert compiled(f"COUNT(*) PATTERN A WITHIN {2**20} EVENTS SLIDE 1 EVENT").window == Window(2**20, 1, True)
    assert compiled(f"COUNT(*) PATTERN A WITHIN {2**21} ms SLIDE 2 ms").window == Window(2**21, 2)
    for window in (f"{2**20 + 1} EVENTS SLIDE 1 EVENT", f"{2**21 + 1} ms SLIDE 2 ms"):
        with pytest.raises(QueryError, match=f"an event would lie in {2**20 + 1} windows; at most {2**20} may overlap"):
            compiled(f"COUNT(*) PATTERN A WITHIN {window}")


def test_windows_fit_into_64_bits() -> None:
    days = 2**62 // 86_400_000  # the last whole day below 2**62 ms
    assert compiled(f"COUNT(*) PATTERN A WITHIN {days} days").window == Window(days * 86_400_000, days * 86_400_000)
    for window in (f"{days + 1} days", f"1 s SLIDE {days + 1} days"):
        with pytest.raises(QueryError, match=r"WITHIN and SLIDE may be at most 2\*\*62 ms"):
            compiled(f"COUNT(*) PATTERN A WITHIN {window}")


def test_equal_aggregates_share_channels() -> None:
    layout = compiled("COUNT(*), COUNT(A), SUM(a.n), AVG(A.n), AVG(a.x) PATTERN A a").layout
    assert len(layout.ring) == 4  # COUNT(*), COUNT(A), SUM(A.n) and its magnitude
    assert len(layout.real) == 1
    assert compiled("SUM(A.n) PATTERN A", "float").layout.real


def test_a_count_reports_no_value_only_where_a_match_may_lack_it() -> None:
    assert len(compiled("MIN(A.n) PATTERN SEQ(A, B?)").layout.ring) == 1
    assert len(compiled("MIN(B.n) PATTERN SEQ(A, B?)").layout.ring) == 2


def test_minima_are_of_keys_and_maxima_of_inverted_ones() -> None:
    layout = compiled("MIN(A.n), MAX(B.x) PATTERN SEQ(A, B)").layout
    assert layout.least == (
        Channel("A", Column("n", Transform.KEY)),
        Channel("B", Column("x", Transform.INVERTED_KEY)),
    )


def test_both_sides_of_a_comparison_need_their_attributes() -> None:
    assert compiled("COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.n").needs == {"A": {"x"}, "B": {"n"}}
    assert compiled("COUNT(*) PATTERN SEQ(A, B+) WHERE B.n < NEXT(B).x").needs == {"B": {"n", "x"}}


def test_grouping_comes_before_equivalence_and_each_attribute_once() -> None:
    query = compiled("COUNT(*) PATTERN A WHERE [s, n, x] AND [s] GROUP-BY n")
    assert query.partition == ("n", "s", "x")


def test_what_events_need_is_known_by_type() -> None:
    query = compiled("n, SUM(A.x) PATTERN SEQ(A, NOT B b, A) WHERE [s] AND b.n > 0 GROUP-BY n")
    assert query.needs == {"*": {"n", "s"}, "A": {"x"}, "B": {"n"}}


def test_queries_that_read_the_same_columns_share_their_set() -> None:
    texts = ("SUM(A.n) PATTERN SEQ(A, B)", "SUM(B.n) PATTERN B", "SUM(A.x) PATTERN A")
    first, second, third = compile_workload([parse_query(f"RETURN {text}") for text in texts], SCHEMA)
    assert first.columns is second.columns
    assert first.columns is not third.columns
