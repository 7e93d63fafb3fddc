"""The trace of decisions, as a specification asks for it (Section 4: what was predicted, and what was chosen)."""

import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from cepbench.algorithms.options import WrongOption
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.hamlet.sharing import NUMBERS, DecisionTrace
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.algorithms.trends.sets import trace_of
from tests.contract.streams import batch
from tests.streams import stream

TEXT = " ".join(f"A{at}/1 " + " ".join(f"B{at + n}/{n % 7}" for n in range(1, size + 1)) for at, size in
                ((0, 30), (40, 2), (50, 3), (60, 31), (100, 1)))  # fmt: skip
QUERIES_OF_B = [f"RETURN COUNT(*) PATTERN SEQ(A, B+) {where}" for where in ("", "", "", "WHERE B.x > 2")]


def executor(
    specification: str, cuts: tuple[int, ...] = (), text: str = TEXT, queries: Sequence[str] = QUERIES_OF_B
) -> OneKey:
    """After the stream, pickled after every batch."""
    events = batch(stream(f"{text} Z200/0"))
    workload = compile_workload([parse_query(f"q{n}: {q}") for n, q in enumerate(queries)], events.schema)
    algorithm = make(specification)
    made = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    for first, stop in zip((0, *cuts), (*cuts, len(events)), strict=True):
        made.process(events.slice(first, stop))
        made = pickle.loads(pickle.dumps(made))
    made.finish()
    return made


@pytest.mark.parametrize("cuts", [(), (7, 20, 21, 45, 60)])
def test_every_decision_with_both_predicted_costs(cuts: tuple[int, ...]) -> None:
    made = executor("hamlet[trace=100]", cuts)
    trace, details = trace_of(made), made.details()
    assert trace["size"].tolist() == [30, 2, 3, 31, 1]
    assert trace["mixed"].tolist() == [14, 2, 2, 14, 1]
    assert np.all((trace["shared"] > 0) & (trace["alone"] > 0))
    assert np.all((trace["queries"] > 0) == (trace["shared"] < trace["alone"]))
    assert trace["created"].sum() == details["event_snapshots"]
    assert np.count_nonzero(trace["queries"]) == details["shared_bursts"] > 0


def test_details_add_decisions_up_by_size_of_burst() -> None:
    made = executor("hamlet[trace=100]")
    trace, details = trace_of(made), made.details()
    for size, own in (("1", [4]), ("2", [1, 2]), ("16", [0, 3])):
        rows = trace[own]
        sums = [rows[name].sum() for name in ("created", "shared", "alone")]
        expected = (len(own), np.count_nonzero(rows["queries"]), *sums)
        assert [details[f"{name}_{size}"] for name in NUMBERS] == pytest.approx(expected)
    assert sum(name.startswith("traced_bursts") for name in details) == 3


@pytest.mark.parametrize(("choice", "queries"), [("queries", [3, 3, 3, 3, 3]), ("burst", [0, 4, 4, 0, 4])])
def test_by_the_burst_all_queries_share_or_none(choice: str, queries: list[int]) -> None:
    """One query does not match half of the events of each burst, which are snapshots if it shares with the others."""
    trace = trace_of(executor(f"hamlet[benefit=paper, choice={choice}, trace=100]"))
    assert trace["queries"].tolist() == queries
    assert (trace["created"] > 0).tolist() == [number == 4 for number in queries]


def test_queries_alike_do_not_share_behind_an_event_that_went_alone() -> None:
    """They look for the predecessors of each event, so that a snapshot each is needed where these were not shared."""
    alike = ["RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x"] * 4
    burst = "A40/1 " + " ".join(f"B{time}/{time % 7}" for time in range(41, 71))
    first = trace_of(executor("hamlet[trace=9]", text=burst, queries=alike))
    assert first[["size", "queries", "created"]].tolist() == [(30, 4, 0)]
    behind = trace_of(executor("hamlet[trace=9]", text=f"A0/1 B1/1 {burst}", queries=alike))
    assert behind[["size", "queries", "created"]].tolist() == [(1, 0, 0), (30, 0, 0)]


def test_only_as_many_decisions_are_kept_as_were_asked_for() -> None:
    made = executor("hamlet[trace=2]", (7, 20, 21, 45, 60))
    assert trace_of(made)["size"].tolist() == [31, 1]
    assert sum(number for name, number in made.details().items() if name.startswith("traced_bursts")) == 5


def test_nothing_is_traced_unless_it_is_asked_for() -> None:
    made = executor("hamlet[sharing=static]")
    assert len(trace_of(made)) == 0
    assert not any(name.startswith(NUMBERS) for name in made.details())


def test_a_mode_that_decides_nothing_predicts_nothing() -> None:
    trace = trace_of(executor("hamlet[sharing=static, trace=100]"))
    assert np.all((trace["shared"] == 0) & (trace["alone"] == 0))
    assert np.all(trace["queries"] == 4)


def test_the_largest_burst_has_a_class() -> None:
    trace = DecisionTrace(1)
    bursts = np.zeros(2, trace.newest.dtype)
    bursts["size"] = 4096
    trace.add(bursts)
    assert trace.details()["traced_bursts_4096"] == 2
    assert len(trace.newest) == 1
    assert trace.newest.base is None


@pytest.mark.parametrize("text", ["0", "all", "-1", "1.5"])
def test_what_is_no_number_of_decisions_is_refused(text: str) -> None:
    with pytest.raises(WrongOption, match="trace is none or a whole number"):
        make(f"hamlet[trace={text}]")
