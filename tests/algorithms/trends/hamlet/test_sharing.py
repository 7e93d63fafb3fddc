"""Work that sharing saves, reported details, and counts that overflow for some of the sharing queries only."""

from collections.abc import Sequence

import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.hamlet.algorithm import GRANULARITIES
from cepbench.algorithms.trends.hamlet.plan import plan_of
from cepbench.algorithms.trends.hamlet.sharing import Sharing
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference, rows_of
from cepbench.verification.evaluators import OneKey, run
from tests.algorithms.trends.hamlet.decisions import Apart, Forced, apart
from tests.algorithms.trends.sets import hamlet, sets_of, trace_of
from tests.contract.streams import batch
from tests.streams import stream

MODES = ("never", "static", "dynamic")


def executor(queries: Sequence[str], text: str, sharing: Sharing, *, shares: bool = True) -> OneKey:
    events = batch(stream(text))
    workload = compile_workload([parse_query(f"q{n}: RETURN {q}") for n, q in enumerate(queries)], events.schema)
    made = hamlet(plan_of(workload, shares=shares), sharing)
    made.process(events)
    made.finish()
    return made


def burst(kind: str, first: int, size: int) -> str:
    return " ".join(f"{kind}{time}/{time % 7}" for time in range(first, first + size))


@pytest.mark.parametrize("where", ["", "WHERE B.x != NEXT(B).x"])
def test_shared_events_are_visited_once_however_many_queries_there_are(where: str) -> None:
    text = f"A0/1 {burst('B', 1, 20)} A30/1 {burst('B', 31, 20)} Z60/0"
    numbers = (2, 5, 20)
    details = [
        dict(executor([f"COUNT(*) PATTERN SEQ(A, B+) {where}"] * k, text, Sharing("static")).details()) for k in numbers
    ]
    assert [work["event_visits"] - 2 * k for k, work in zip(numbers, details, strict=True)] == [40] * 3, (
        "each query puts the two As into a graphlet of its own"
    )
    assert len({work["edges"] for work in details}) == 1
    for name in ("graphlet_snapshots", "event_snapshots", "shared_bursts"):
        assert len({work[name] for work in details}) == 1, name
    alone = executor([f"COUNT(*) PATTERN SEQ(A, B+) {where}"] * 5, text, Sharing(), shares=False).details()
    assert alone.get("edges", 0) == 5 * details[0]["edges"]
    assert bool(alone.get("edges")) == bool(where)
    work = executor([f"COUNT(*) PATTERN SEQ(A, B+) {where}"] * 5, text, Sharing(decide=apart)).details()
    assert work["event_visits"] == 5 * 42


@pytest.mark.parametrize("sharing", [Sharing("static"), Sharing(decide=apart)], ids=["static", "apart"])
def test_only_trends_of_simultaneous_events_wait_for_the_next_time(sharing: Sharing) -> None:
    """B9 ends the burst, since a window begins at 10."""
    for text, waiting in (("A0/1 B8/1 B9/1 Z12/0", 0), ("A0/1 B8/1 B9/1 Z9/0 Z12/0", 2)):
        events = batch(stream(text))
        query = "RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 20 s SLIDE 10 s"
        workload = compile_workload([parse_query(f"q{n}: {query}") for n in range(2)], events.schema)
        made = hamlet(plan_of(workload), sharing)
        made.process(events)
        assert made.details()["bursts"] == 1
        assert sets_of(made)[0].set_state.counts["touched"] == waiting, "the slot of B+ of each query"


@pytest.mark.parametrize(("size", "shared"), [(5, 0), (50, 10)])
def test_long_bursts_are_shared_and_short_ones_are_not(size: int, shared: int) -> None:
    """Without sharing an event costs a query a few sums: less than its part in a snapshot for five events."""
    text = " ".join(f"A{first}/1 {burst('B', first + 1, size)}" for first in range(0, 10 * (size + 1), size + 1))
    queries = [f"COUNT(*) PATTERN SEQ(A, B+) {where}" for where in ("", "WHERE B.x >= 3") for _ in range(10)]
    details = executor(queries, text, Sharing()).details()
    assert (details["bursts"], details["shared_bursts"]) == (10, shared)
    assert details["event_snapshots"] == 0, "only queries that match the same events share"


@pytest.mark.parametrize("mode", [*MODES, "apart"])
@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("A1 N5 N7 B7", [None, None]),  # at time 7, N5 forbids A1
        ("A1 N5 N7 B8", [None, None]),
        ("A1 N7 B7", [1, None]),  # N7 is not before B7
        ("C1 A1 N5 A6 N7 B7", [1, 1]),
    ],
)
def test_a_negated_event_within_a_burst_forbids_what_comes_with_its_last(
    mode: str, text: str, counts: list[int | None]
) -> None:
    patterns = ("SEQ(A, NOT N, B+)", "SEQ(C, B+)")
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN {p} WITHIN 100 s") for n, p in enumerate(patterns)]
    algorithm = Apart() if mode == "apart" else make(f"hamlet[sharing={mode}]")
    rows = {row["query"]: row["COUNT(*)"] for row in rows_of(run(algorithm, queries, [batch(stream(text))]))}
    assert [rows.get(f"q{n}") for n in range(2)] == counts


@pytest.mark.parametrize("mode", [*MODES, "apart"])
@pytest.mark.parametrize(("text", "count"), [("A0 N1 B1 D2", 1), ("A0 B1 N1 D2", 1), ("A0 B1 N2 D3", None)])
def test_a_negated_event_does_not_forbid_trends_that_end_at_its_time(mode: str, text: str, count: int | None) -> None:
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN SEQ(A, B+, NOT N, D) WITHIN 100 s") for n in range(2)]
    algorithm = Apart() if mode == "apart" else make(f"hamlet[sharing={mode}]")
    rows = {row["query"]: row["COUNT(*)"] for row in rows_of(run(algorithm, queries, [batch(stream(text))]))}
    assert [rows.get(f"q{n}") for n in range(2)] == [count, count]


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_a_negated_event_of_the_same_type_forbids_a_part_of_a_run(granularity: str) -> None:
    patterns = ("SEQ(B+, NOT B n, D, E+)", "SEQ(A?, B+, NOT B n, D, E+)")  # which share E+
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN {p} WHERE n.x = 5") for n, p in enumerate(patterns)]
    events = batch(stream("A0/0 B1/1 B2/2 B3/5 B4/1 B4/5 B5/1 B6/2 D9/0 E10/0 E11/0"))
    algorithms = [make(f"hamlet[sharing={mode}, granularity={granularity}]") for mode in MODES] + [
        Apart(granularity=granularity),
        *(Forced(seed, granularity) for seed in range(5)),
    ]
    expected = rows_of(run(make("greta"), queries, [events]))
    assert [row["COUNT(*)"] for row in expected] == [264, 528]
    for algorithm in algorithms:
        assert rows_of(run(algorithm, queries, [events])) == expected


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_queries_with_and_without_predicates_share_events_that_they_extend_differently(granularity: str) -> None:
    texts = ("", "WHERE B.x <= NEXT(B).x", "")
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN B+ {where}") for n, where in enumerate(texts)]
    algorithm = make(f"hamlet[sharing=static, granularity={granularity}]")
    rows = rows_of(run(algorithm, queries, [batch(stream("B1/5 B2/1 B3/3"))]))
    assert [row["COUNT(*)"] for row in rows] == [7, 4, 7]


def test_what_overflows_for_one_query_does_not_for_another() -> None:
    """The coefficients that both share exceed 2^64, but the second query begins no trend before them."""
    queries = [parse_query(f"q{n}: RETURN COUNT(*), COUNT(B) PATTERN SEQ({t}, B+)") for n, t in enumerate("AC")]
    text = f"A0 {' '.join(f'B{time}' for time in range(1, 71))} C80 B81 B82"
    for mode in MODES:
        first, second = rows_of(run(make(f"hamlet[sharing={mode}]"), queries, [batch(stream(text))]))
        assert (first["COUNT(*)"], first["overflow"]) == (None, True)
        assert (second["COUNT(*)"], second["COUNT(B)"], second["overflow"]) == (3, 4, False)


@pytest.mark.parametrize("size", [64, 65])
def test_the_largest_count_that_fits(size: int) -> None:
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN {p}") for n, p in enumerate(("B+", "SEQ(A, B+)", "B+"))]
    text = f"A0 {' '.join(f'B{time}' for time in range(1, size + 1))}"
    rows = rows_of(run(make("hamlet[sharing=static]"), queries, [batch(stream(text))]))
    expected = 2**size - 1 if size == 64 else None
    assert [row["COUNT(*)"] for row in rows] == [expected] * 3
    assert [row["overflow"] for row in rows] == [size > 64] * 3


@pytest.mark.full
def test_infinity_times_nothing_is_nothing() -> None:
    """In float arithmetic a coefficient becomes infinite after 1,024 events."""
    queries = [parse_query(f"q{n}: RETURN COUNT(*), SUM(B.x) PATTERN SEQ({t}, B+)") for n, t in enumerate("AC")]
    text = f"A0/1 {' '.join(f'B{time}/2' for time in range(1, 1101))} C2000/1 B2001/2"
    first, second = rows_of(run(make("hamlet[sharing=static]"), queries, [batch(stream(text))], "float"))
    assert first["overflow"] is True
    assert (second["COUNT(*)"], second["SUM(B.x)"], second["overflow"]) == (1.0, 2.0, False)


def test_graphlets_are_split_and_merged() -> None:
    """The first burst is alike for all; events of the second one match only some; the third is alike again."""
    alike = [f"B{time}/9" for time in range(1, 41)]
    mixed = [f"B{time}/{time % 2 * 9}" for time in range(51, 91)]
    again = [f"B{time}/9" for time in range(101, 141)]
    text = " ".join([*alike, "A50/0", *mixed, "A100/0", *again, "A200/0"])
    queries = [f"COUNT(*) PATTERN SEQ(A, B+) {w}" for w in ("", "", "", "WHERE B.x > 4", "WHERE B.x > 4")]
    made = executor(queries, f"A0/0 {text}", Sharing("dynamic", traced=3))
    assert trace_of(made)["queries"].tolist() == [5, 3, 5]
    assert (made.details()["splits"], made.details()["merges"]) == (1, 2)
    assert made.details()["graphlets"] == 1 + (1 + 2) + 1
    assert made.details()["snapshots"] == 3, "one where each shared graphlet begins"
    events = stream(f"A0/0 {text}")
    parsed = [parse_query(f"q{n}: RETURN {q}") for n, q in enumerate(queries)]
    rows = run(make("hamlet"), parsed, [batch(events)])
    expected = run(make("greta"), parsed, [batch(events)])
    assert rows.equals(expected)


def test_a_burst_is_buffered_over_batches() -> None:
    """So a decision sees the burst as a whole, wherever batches are cut."""
    text = f"A0/1 {burst('B', 1, 30)} A40/1"
    events = batch(stream(text))
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN SEQ(A, B+)") for n in range(3)]
    workload = compile_workload(queries, events.schema)
    made = hamlet(plan_of(workload), Sharing("dynamic"))
    for at in range(len(events)):
        made.process(events.slice(at, at + 1))
    assert made.details()["bursts"] == 1
    made.finish()


@pytest.mark.parametrize("mode", MODES)
def test_windows_of_different_lengths_share(mode: str) -> None:
    text = f"A0/1 {burst('B', 1, 6)} A8/1 {burst('B', 9, 8)} Z60/0"
    queries = [
        parse_query(f"q{n}: RETURN COUNT(*) PATTERN SEQ(A, B+) {w}")
        for n, w in enumerate(("WITHIN 10 s SLIDE 5 s", "WITHIN 15 s SLIDE 5 s", "", "WITHIN 4 s SLIDE 6 s"))
    ]
    for query in queries:  # each is asked beside the others, and answered as if it were alone
        frame = run(make(f"hamlet[sharing={mode}]"), queries, [batch(stream(text))])
        own = [row for row in rows_of(frame) if row["query"] == query.name]
        wanted = answer(query, stream(text))
        assert [row["COUNT(*)"] for row in own] == [row["COUNT(*)"] for row in wanted]
        assert [row["window_start"] for row in own] == [row["window_start"] for row in wanted]


def test_a_window_that_opens_for_one_sub_pattern_leaves_snapshots_of_another_alone() -> None:
    """Values of both are in the same rows; those of A+ are read after a window of C+ has opened."""
    patterns = ("SEQ(C+, A+)", "A+ WHERE A.x < NEXT(A).x", "C+ WITHIN 1 s")
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN {pattern}") for n, pattern in enumerate(patterns)]
    [row] = rows_of(run(make("hamlet[sharing=static]"), queries, [batch(stream("A1/0 A2/5"))]))
    assert (row["query"], row["COUNT(*)"]) == ("q1", 3)


class Script:
    """Decisions burst by burst, a letter per query: `s` shares. The last one is repeated."""

    def __init__(self, *bursts: str) -> None:
        self.bursts = list(bursts)

    def __call__(self, units: int) -> list[bool]:
        letters = self.bursts.pop(0) if len(self.bursts) > 1 else self.bursts[0]
        assert len(letters) == units
        return [letter == "s" for letter in letters]


@pytest.mark.parametrize("script", [("sss", "ss.", "..."), ("sss", "ss.", "sss"), ("...", "ss.", "sss")])
@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("where", ["", "WHERE B.x < NEXT(B).x"])
@pytest.mark.parametrize(
    "text",
    ["B1/1 B2/2 A3/0 B4/3 B5/4 A6/0", "B1/1 B2/2 A2/0 B2/3 A6/0", "B1/1 A2/0 B2/2 A2/0 B2/3 A6/0"],
    ids=["one after another", "leaving", "leaving and joining"],
)
def test_a_query_leaves_the_others_and_joins_them_again(
    script: tuple[str, ...], granularity: str, where: str, text: str
) -> None:
    """A query visits events that it shared, and those of its own graphlets, but none that others shared without it.

    It may leave, and join again, within a time stamp.
    """
    events = stream(f"A0/0 {text} B7/5 B8/0 B9/7 A10/0")
    queries = [parse_query(f"q{n}: RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) {where}") for n in range(3)]
    batches = batch(events)
    workload = compile_workload(queries, batches.schema)
    made = hamlet(plan_of(workload, granularity=granularity), Sharing(decide=Script(*script)))
    builder = AnswerBuilder(workload)
    for rows in (made.process(batches), made.finish()):
        for index, part in rows.items():
            builder.add(index, (), part)
    frame = builder.frame()
    for query in queries:
        assert difference(answer(query, events), frame[frame["query"] == query.name].reset_index(drop=True)) is None


@pytest.mark.parametrize(
    ("sharing", "most"), [(Sharing("static"), 10 * 600), (Sharing(decide=apart), 2 * 500)], ids=["static", "apart"]
)
def test_room_for_expressions_is_made_once_it_is_decided_who_shares(sharing: Sharing, most: int) -> None:
    """As much as events that only one query matches need: five of 500, beside a cell per query of an event.

    There is no room for 125,000 coefficients.
    """
    text = f"A0/1 {' '.join(f'B{time}/{int(time % 100 == 0)}' for time in range(1, 501))} A900/1"
    where = "B.x <= NEXT(B).x"
    queries = [f"COUNT(*) PATTERN SEQ(A, B+) WHERE {where}", f"COUNT(*) PATTERN SEQ(A, B+) WHERE {where} AND B.x < 1"]
    made = executor(queries, text, sharing)
    [sharable] = sets_of(made)
    assert made.details()["event_snapshots"] == (0 if sharing.decide else 5)
    assert len(sharable.set_state.vertices.cells.over) <= most
