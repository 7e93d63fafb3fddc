"""COGRA by panes: the answers of the oracle and of plain COGRA, overflow included, at a cost of its own.

30 random cases against the oracle and 150 against plain COGRA by default; `CEPBENCH_PANES_CASES=5000` for as many.
"""

import os
import pickle

import numpy as np
import pytest

from cepbench.algorithms.base import Idle, KeyedBatch, Operator, PerKey
from cepbench.algorithms.compose import Chosen, Several
from cepbench.algorithms.engine.lanes import Lanes, OneLane
from cepbench.algorithms.options import WrongOption
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.algorithms.trends.cogra.algorithm import panes_gain
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, subject_of
from cepbench.verification.verify import verify_subject
from tests.algorithms.cases import stream
from tests.algorithms.trends.cogra.pane_cases import NEGATED, PATTERNS, SCHEMA, pane_case
from tests.contract.streams import batch

PANES = "cogra[windows=panes]"
CASES = int(os.environ.get("CEPBENCH_PANES_CASES", "0"))
EACH = 50


def executor_of(specification: str, query: str, events: EventBatch, arithmetic: str = "modular") -> OneKey:
    algorithm = make(specification)
    workload = compile_workload([parse_query(query)], events.schema, arithmetic)
    return OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))


def operator_of(query: str, events: EventBatch) -> Operator:
    """That of `windows=auto`."""
    auto = make("cogra[windows=auto]")
    return auto.operator(auto.plan(compile_workload([parse_query(query)], events.schema, "modular"), Statistics()))


def lanes_of(executor: OneKey) -> Lanes:
    assert isinstance(executor.operator, Several)
    [operator] = executor.operator.parts
    if isinstance(operator, Lanes):
        return operator
    assert isinstance(operator, PerKey)
    own = operator.executors[0]
    assert isinstance(own, OneLane)
    return own.lanes


def rows_of(
    specification: str,
    query: str,
    pieces: tuple[EventBatch, ...],
    arithmetic: str = "modular",
    *,
    pickled: bool = False,
) -> AggregateRows | None:
    executor = executor_of(specification, query, pieces[0], arithmetic)
    answers = []
    for piece in pieces:
        answers.append(executor.process(piece))
        if pickled:
            executor = pickle.loads(pickle.dumps(executor))
    parts = [rows for part in (*answers, executor.finish()) for rows in part.values()]
    assert all(isinstance(part, AggregateRows) for part in parts)
    return AggregateRows.concatenate(parts) if parts else None  # type: ignore[arg-type]


def assert_equal(expected: AggregateRows | None, rows: AggregateRows | None) -> None:
    """Equal to the bit, but for floats, and for sums of floats over a number of trends that overflowed."""
    assert (expected is None) == (rows is None)
    if expected is None or rows is None:
        return
    assert expected.window.tolist() == rows.window.tolist()
    assert expected.overflow.tolist() == rows.overflow.tolist()
    assert expected.least.tolist() == rows.least.tolist()
    if expected.ring.dtype == np.uint64:
        assert expected.ring.tolist() == rows.ring.tolist()
    else:
        np.testing.assert_allclose(rows.ring, expected.ring, rtol=1e-9)
    finite = (expected.overflow & np.uint64(1) == 0) & np.isfinite(expected.ring.astype(np.float64)).all(axis=1)
    np.testing.assert_allclose(rows.real[finite], expected.real[finite], rtol=1e-9)


@pytest.mark.full
def test_random_cases_get_the_answers_of_the_oracle() -> None:
    report = verify_subject(subject_of(make(PANES)), CASES or 30, seed=31, thorough=bool(CASES))
    assert report.clean, str(report)


@pytest.mark.full
@pytest.mark.parametrize("patterns", [PATTERNS, NEGATED], ids=["plain", "negated"])
@pytest.mark.parametrize("first", range(0, CASES or 150, EACH))
def test_random_streams_get_the_rows_of_plain_cogra(first: int, patterns: tuple[str, ...]) -> None:
    answered = 0
    for seed in range(first, first + EACH):
        case = pane_case(seed, patterns)
        arithmetic = "float" if seed % 4 == 3 else "modular"
        expected = rows_of("cogra", case.query, (case.events,), arithmetic)
        assert_equal(expected, rows_of(PANES, case.query, case.pieces, arithmetic, pickled=seed % 5 == 0))
        answered += expected is not None
    assert answered > EACH / 4


def test_random_streams_overflow_here_and_there() -> None:
    cases = [pane_case(seed) for seed in range(200)]
    rows = [rows_of("cogra", case.query, (case.events,)) for case in cases]
    overflows = [bool((answer.overflow & np.uint64(1)).any()) for answer in rows if answer is not None]
    assert 5 < sum(overflows) < len(overflows) / 2


@pytest.mark.parametrize("overlap", [1, 7, 60])
@pytest.mark.parametrize("returns", ["COUNT(*)", "SUM(A.x), AVG(A.y)", "MIN(A.x), MAX(A.y)"])
def test_long_streams_get_the_rows_of_plain_cogra(overlap: int, returns: str) -> None:
    """About 24 events of each window count, so that hardly one overflows."""
    size = 20_000
    generator = np.random.default_rng(overlap)
    columns = {"x": generator.integers(-9, 9, size), "y": generator.random(size)}
    share = 12 / (40 * overlap)
    kinds = generator.choice(3, size, p=[share, share, 1 - 2 * share]).astype(np.int32)
    events = EventBatch(SCHEMA, np.arange(size) // 2, kinds, columns, np.arange(size))
    query = f"RETURN {returns} PATTERN (SEQ(A+, B))+ WITHIN {20 * overlap} s SLIDE 20 s"
    expected = rows_of("cogra", query, (events,))
    assert expected is not None
    assert (expected.overflow & np.uint64(1) == 0).sum() > 50
    assert_equal(expected, rows_of(PANES, query, (events,)))


def test_a_product_overflows_from_2_to_the_64_on() -> None:
    """Two panes with n and m trends of A+ have n * m + n + m together: each time with a pane that ends after 32."""
    for more, over in ((31, False), (32, False), (33, True)):
        events = batch([{"time": time, "type": "A", "x": 0} for time in range(32 + more)])
        query = "RETURN COUNT(*) PATTERN A+ WITHIN 64 s SLIDE 32 s"
        if more == 33:
            query = "RETURN COUNT(*) PATTERN A+ WITHIN 96 s SLIDE 32 s"
        rows = rows_of(PANES, query, (events,))
        assert rows is not None
        assert bool(rows.overflow[0]) is over
        assert rows.ring[0, 0] == (2 ** (32 + more) - 1) % 2**64


@pytest.mark.parametrize("arithmetic", ["modular", pytest.param("float", marks=pytest.mark.full)])
def test_what_overflows_in_a_map_alone_raises_nothing(arithmetic: str) -> None:
    """1100 events B of a pane could all go on from an A before it, but before them there is a B alone."""
    types = ["B", *"C" * 1199, *"B" * 1100, *"C" * 100, "A", "B"]
    events = batch([{"time": time, "type": kind, "x": 1} for time, kind in enumerate(types)])
    query = "RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WITHIN 2400 s SLIDE 1200 s"
    executor = executor_of(PANES, query, events, arithmetic)
    first = executor.process(events)
    rows = executor.finish()[0]
    assert first == {}
    assert isinstance(rows, AggregateRows)
    maps = lanes_of(executor).lanes.cells
    assert np.isinf(maps.counts).any() if arithmetic == "float" else maps.over.any()
    assert rows.window.tolist() == [1, 2]
    assert rows.ring[:, 0].tolist() == [1, 1]
    assert not rows.overflow.any()
    assert np.isfinite(rows.real).all()


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        # windows [0, 12), [4, 16), [8, 20), so that each of these has a pane of its own
        ("SEQ(A, NOT C, B)", "A1 C5 B9", {}),
        ("SEQ(A, NOT C, B)", "A1 C5 A6 B9", {0: 1, 1: 1}),
        ("SEQ(A, NOT C, B)", "A1 A5 C5 B9", {0: 1, 1: 1}),  # an A at the time of the C is not before it
        ("SEQ(NOT C, A)", "C1 A5", {1: 1}),  # the C is in window 0 alone
        ("SEQ(A, NOT C)", "A5 C9", {}),
        ("SEQ(A, NOT C)", "A9 C9", {0: 1, 1: 1, 2: 1}),
        ("SEQ(A, NOT C)", "A5 C13", {0: 1}),  # the C is after window 0
    ],
)
@pytest.mark.parametrize("cut", [False, True])
def test_a_negated_event_takes_away_what_came_before_its_pane(
    pattern: str, text: str, expected: dict[int, int], cut: bool
) -> None:
    events = batch(stream(text))
    pieces = tuple(events.slice(i, i + 1) for i in range(len(events))) if cut else (events,)
    rows = rows_of(PANES, f"RETURN COUNT(*) PATTERN {pattern} WITHIN 12 s SLIDE 4 s", pieces, pickled=cut)
    counts = {} if rows is None else dict(zip(rows.window.tolist(), rows.ring[:, 0].tolist(), strict=True))
    assert counts == expected


def test_space_is_that_of_the_panes() -> None:
    """A map of 2 x 2 cells of 16 bytes for each pane, and a row of 2 for each of those that were turned over."""
    generator = np.random.default_rng(1)
    size = 6000
    events = batch([{"time": time, "type": "AB"[kind]} for time, kind in enumerate(generator.integers(0, 2, size))])
    sizes = {}
    for overlap, panes in ((1, 1), (60, 60)):
        query = f"RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN {50 * overlap} s SLIDE 50 s"
        executor = executor_of(PANES, query, events)
        executor.process(events)
        sizes[overlap] = executor.state().bytes
        assert 16 * 4 * panes / 2 <= sizes[overlap] <= 16 * 4 * (panes + 3)
        executor.finish()
        lanes = lanes_of(executor)
        lanes.state()  # the largest so far
        assert lanes.state().kinds == {"aggregates": 4}


def test_events_between_windows_take_no_space() -> None:
    given = batch(stream("A1 A5 A6 A7 A8 A11 A12"))
    executor = executor_of(PANES, "RETURN COUNT(*) PATTERN A+ WITHIN 3 s SLIDE 10 s", given)
    executor.process(given.slice(0, 5))
    assert executor.state().kinds == {"aggregates": 3}  # two while the first window was open: a map, it waits
    executor.process(given.slice(5, 7))
    rows = executor.finish()[0]
    assert isinstance(rows, AggregateRows)
    assert rows.window.tolist() == [1]


@pytest.mark.parametrize(
    ("window", "chosen"),
    [
        ("WITHIN 50 s SLIDE 50 s", False),
        ("WITHIN 3000 s SLIDE 50 s", True),
        ("WITHIN 60 s SLIDE 1 s", False),  # an event per pane
        ("WITHIN 600 s SLIDE 1 s", True),
        ("", False),
    ],
)
def test_auto_takes_panes_where_they_cost_less(window: str, chosen: bool) -> None:
    events = batch([{"time": time, "type": "AB"[time % 2]} for time in range(1000)])
    operator = operator_of(f"RETURN COUNT(*) PATTERN (SEQ(A+, B))+ {window}", events)
    assert operator.details() == {"by_panes": 0.0}
    assert operator.state().bytes == 0
    operator.process(KeyedBatch.of_one_key(events.slice(0, 0)))
    operator.process(KeyedBatch.of_one_key(events))
    assert operator.details() == ({"by_panes": 1.0} if chosen else {"by_panes": 0.0, "edges": 0.0})
    assert operator.state().bytes > 0


def test_auto_loads_the_kernels_of_both_ways() -> None:
    """The few events of a warm-up choose each window, where a run may choose panes."""
    operator = operator_of("RETURN COUNT(*) PATTERN A+ WITHIN 600 s SLIDE 1 s", batch(stream("A1 B2")))
    assert isinstance(operator, Chosen)
    asked = []

    class Noted(Idle):
        def process(self, given: KeyedBatch) -> Rows:
            asked.append(len(given.events))
            return {}

    operator.both = (Noted(), Noted())
    operator.load()
    assert asked == [1, 1]
    assert operator.chosen is None


@pytest.mark.parametrize("window", ["WITHIN 50 s SLIDE 50 s", "WITHIN 3000 s SLIDE 50 s"])
def test_the_idle_baseline_of_auto_has_the_overhead_of_its_choice(window: str) -> None:
    events = batch([{"time": time, "type": "AB"[time % 2]} for time in range(1000)])
    operator = operator_of(f"RETURN COUNT(*) PATTERN (SEQ(A+, B))+ {window}", events)
    idle = operator.idle().idle()
    for one in (operator, idle):
        one.process(KeyedBatch.of_one_key(events))
    assert isinstance(operator, Chosen)
    assert isinstance(idle, Chosen)
    assert operator.chosen is not None
    assert type(idle.chosen) is type(operator.chosen.idle())


def test_auto_weighs_the_sides_of_and_that_panes_evaluate() -> None:
    """Queries with predicates on adjacent events save nothing by panes."""
    events = batch([{"time": time, "type": "AB"[time % 2], "x": time} for time in range(1000)])
    saved = []
    for pattern in ("B+ AND A+", "B+ AND A+ WHERE A.x < NEXT(A).x", "A+ WHERE A.x < NEXT(A).x"):
        query = parse_query(f"RETURN COUNT(*) PATTERN {pattern} WITHIN 3000 s SLIDE 50 s")
        [compiled] = compile_workload([query], events.schema, "modular")
        saved.append(panes_gain(compiled, KeyedBatch.of_one_key(events)))
    assert saved[0] > saved[1] > saved[2] == 0


def test_auto_chooses_by_the_rate_of_a_key() -> None:
    """Of many keys each has few events in a batch, which a call per key would be too expensive for."""
    size = 1000
    events = batch([{"time": time, "type": "AB"[time % 2]} for time in range(size)])
    operator = operator_of("RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN 600 s SLIDE 1 s", events)
    operator.process(KeyedBatch(events, np.arange(size), np.arange(size + 1), size))
    assert operator.details() == {"by_panes": 0.0, "edges": 0.0}


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ(NOT SEQ(C, D), A+)",
        "PATTERN A+ WHERE A.x < NEXT(A).x",
        "PATTERN A+ SEMANTICS next",
        "PATTERN A+ SEMANTICS cont",
        f"PATTERN SEQ(A{', NOT C, B' * 63})",
    ],
)
def test_what_is_no_linear_map_is_evaluated_as_ever(text: str) -> None:
    events = batch(stream("A1/5 A2/3 B3/4"))
    executor = executor_of(PANES, f"RETURN COUNT(*) {text} WITHIN 10 s SLIDE 1 s", events)
    assert type(lanes_of(executor)) is type(
        lanes_of(executor_of("cogra", f"RETURN COUNT(*) {text} WITHIN 10 s SLIDE 1 s", events))
    )


def test_windows_have_three_ways() -> None:
    with pytest.raises(WrongOption, match=r"cogra\[windows=some\]: windows is each, panes or auto"):
        make("cogra[windows=some]")
