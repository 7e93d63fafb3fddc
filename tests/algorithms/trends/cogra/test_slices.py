"""COGRA by slices of time: the rows of plain COGRA and of the oracle, wherever a sub-stream is cut.

500 random cases against plain COGRA and 100 against the oracle; `CEPBENCH_PANES_CASES=5000` for as many.
"""

import os
import pickle
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pandas as pd
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Plan, UnsupportedQuery
from cepbench.algorithms.options import WrongOption
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import AggregateRows, Rows, joined
from cepbench.algorithms.slices import slicing_of
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.events.windows import END, TimeSlice
from cepbench.pipeline.jobs import check_supported, prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.pipeline.slicing import Crossings, Portion, crossings_of, join_slices, portion_operator
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import Subject
from cepbench.verification.random_cases import Case, batch_of, split
from cepbench.verification.verify import verify_subject
from tests.algorithms.cases import stream
from tests.algorithms.trends.cogra.pane_cases import NEGATED, PATTERNS, PaneCase, pane_case
from tests.algorithms.trends.cogra.test_panes import assert_equal, rows_of
from tests.contract.streams import batch

BY_TIME = "cogra[parallel=time]"
CASES = int(os.environ.get("CEPBENCH_PANES_CASES", "0"))
EACH = 100


def compiled(query: str, events: EventBatch, arithmetic: str) -> Workload:
    return compile_workload([parse_query(query)], events.schema, arithmetic)


def sliced(workload: Workload, pieces: Sequence[EventBatch], edges: Sequence[int], *, pickled: bool = False) -> Rows:
    """The rows of all slices between `edges`, which need not have events, and of the windows that reach over them."""
    slicing = slicing_of(make(BY_TIME))
    assert slicing is not None
    plan = Plan(workload)
    parts: list[Rows] = []
    crossings = []
    for begin, end in pairwise([0, *edges, END]):
        executor = slicing.executor(plan, TimeSlice(begin, end))
        some = False
        for piece in pieces:
            first, last = np.searchsorted(piece.time, [begin, end]).tolist()
            if last > first or (some and piece.watermark is not None):
                some = True
                parts.append(executor.process(piece.slice(first, last, piece.watermark)))
            if pickled:
                executor = pickle.loads(pickle.dumps(executor))
        if some:
            parts.append(executor.finish())
            crossings.append(pickle.loads(pickle.dumps(executor.crossing())))
    parts.append(slicing.join(plan, crossings))
    return joined(parts)


def by_window(rows: Rows) -> AggregateRows | None:
    if not rows:
        return None
    unordered = rows[0]
    assert isinstance(unordered, AggregateRows)
    order = np.argsort(unordered.window, kind="stable")
    assert len(set(unordered.window.tolist())) == len(order)
    return AggregateRows(*(getattr(unordered, name)[order] for name in ("window", "ring", "overflow", "real", "least")))


def edges_of(random: Random, events: EventBatch) -> list[int]:
    """Times at which a stream is cut: of events, next to them, beyond them, or none."""
    times = events.time.tolist() or [0]
    some = [random.choice(times) + random.choice((0, 0, 1, -1, 7)) for _ in range(random.choice((0, 1, 1, 2, 3, 9)))]
    return sorted({time for time in some if time > 0})


def sliced_rows(case: PaneCase, seed: int, arithmetic: str) -> AggregateRows | None:
    edges = edges_of(Random(seed), case.events)
    workload = compiled(case.query, case.events, arithmetic)
    return by_window(sliced(workload, case.pieces, edges, pickled=seed % 5 == 0))


@pytest.mark.full
@pytest.mark.parametrize("patterns", [PATTERNS, NEGATED], ids=["plain", "negated"])
@pytest.mark.parametrize("first", range(0, CASES or 500, EACH))
def test_random_slices_get_the_rows_of_plain_cogra(first: int, patterns: tuple[str, ...]) -> None:
    answered = 0
    for seed in range(first, first + EACH):
        case = pane_case(seed, patterns)
        arithmetic = "float" if seed % 4 == 3 else "modular"
        expected = rows_of("cogra", case.query, (case.events,), arithmetic)
        assert_equal(expected, sliced_rows(case, seed, arithmetic))
        answered += expected is not None
    assert answered > EACH / 3


def answer_by_slices(case: Case) -> pd.DataFrame:
    """As of a store whose only bucket is cut at random."""
    algorithm = make(BY_TIME)
    events = batch_of(case.events)
    prepared = prepare(case.queries, algorithm, events.schema, "modular", Statistics())
    answer = AnswerBuilder(prepared.workload)
    crossings: list[tuple[int, int, Crossings]] = []
    for number, job in enumerate(prepared.jobs):
        for begin, end in pairwise([0, *edges_of(Random(str(case)), events), END]):
            pieces = split(events, case.cuts)
            inside = [piece.slice(*np.searchsorted(piece.time, [begin, end]).tolist()) for piece in pieces]
            loop = Loop(job, portion_operator(job, algorithm, Portion(0, TimeSlice(begin, end))))
            loop.run(inside, into(answer), pickled=case.pickled)
            crossings.append((number, 0, crossings_of(loop)))
    join_slices(prepared, crossings, answer)
    return answer.frame()


@pytest.mark.full
def test_random_slices_get_the_answers_of_the_oracle() -> None:
    subject = Subject(BY_TIME, make(BY_TIME).refusal, answer_by_slices)
    report = verify_subject(subject, CASES or 100, seed=43, thorough=False)
    assert report.clean, str(report)


def test_windows_reach_over_many_slices() -> None:
    """Each window of 6 s over slices of 1 to 3 s; the events at a time stamp come before those of the next slice."""
    events = batch(stream("A1 A1 B2 A3 B3 B5 A6 B7 B9 A10 B11"))
    query = "RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 6 s SLIDE 2 s"
    expected = rows_of("cogra", query, (events,))
    workload = compiled(query, events, "modular")
    for edges in ([3], [1, 2, 3], [4, 8], [2, 5, 6, 7, 8, 9, 10, 11, 12, 40]):
        assert_equal(expected, by_window(sliced(workload, (events,), edges)))


def test_an_overflow_in_a_slice_that_no_window_has_raises_nothing() -> None:
    types = ["B", *"C" * 99, *"B" * 100, *"C" * 10, "A", "B"]
    events = batch([{"time": time, "type": kind, "x": 1} for time, kind in enumerate(types)])
    workload = compiled("RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+)", events, "modular")
    rows = by_window(sliced(workload, (events,), [50, 205]))
    assert rows is not None
    assert rows.ring[:, 0].tolist() == [1]
    assert not rows.overflow.any()


def test_a_product_of_slices_overflows_from_2_to_the_64_on() -> None:
    for size, over in ((63, False), (64, False), (65, True)):
        events = batch([{"time": time, "type": "A", "x": 0} for time in range(size)])
        rows = by_window(sliced(compiled("RETURN COUNT(*) PATTERN A+", events, "modular"), (events,), [31, 47]))
        assert rows is not None
        assert bool(rows.overflow[0]) is over
        assert rows.ring[0, 0] == (2**size - 1) % 2**64


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("RETURN COUNT(*) PATTERN SEQ(NOT SEQ(C, D), A)", "a negated sequence may begin in one pane"),
        ("RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x", "predicates on adjacent events need the earlier events"),
        ("RETURN COUNT(*) PATTERN A+ SEMANTICS cont", "only under skip-till-any-match"),
        ("RETURN COUNT(*) PATTERN A+ WITHIN 5 events", "it cannot have windows of events"),
    ],
)
def test_what_slices_cannot_evaluate_is_refused(query: str, reason: str) -> None:
    with pytest.raises(UnsupportedQuery, match=reason):
        check_supported([parse_query(query)], make(BY_TIME), BY_TIME)
    check_supported([parse_query(query)], make("cogra"))


def test_options_of_slices() -> None:
    assert slicing_of(make("cogra")) is None
    slicing = slicing_of(make("cogra[parallel=time, slices=3]"))
    assert slicing is not None
    assert slicing.slices == 3
    with pytest.raises(WrongOption, match=r"cogra\[parallel=space\]: parallel is keys or time"):
        make("cogra[parallel=space]")
    make("cogra[parallel=time, windows=panes]")
    for windows in ("each", "auto"):
        with pytest.raises(WrongOption, match=rf"cogra\[windows={windows}, parallel=time\]: slices of time are evalu"):
            make(f"cogra[windows={windows}, parallel=time]")
    with pytest.raises(WrongOption, match="slices is a whole number from 1"):
        make("cogra[parallel=time, slices=0]")
