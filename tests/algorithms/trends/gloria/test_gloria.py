"""Gloria as a whole: plans of workloads, what they tell, options and limits."""

import math

import pytest

from cepbench.algorithms.base import PlanningTooLong
from cepbench.algorithms.options import WrongOption
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.gloria.algorithm import Gloria
from cepbench.algorithms.trends.gloria.optimizer.costs import PaperCosts
from cepbench.algorithms.trends.gloria.plan import GloriaPlan
from cepbench.algorithms.trends.gloria.template import template_of
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.trends.gloria.validity import check
from tests.contract.streams import batch

SCHEMA = batch([{"time": 0, "type": kind, "x": 1} for kind in "ABCDEF"]).schema
GOLDEN = ("SEQ(F, A, B, C, D)", "SEQ(A, B, C, D)", "SEQ(E, C, D)")
RATES = {"F": 1.0, "A": 0.5, "B": 1.0, "C": 1.2, "D": 0.4, "E": 0.3}


def workload(*patterns: str, window: str = "WITHIN 10 s", returns: str = "COUNT(*)") -> Workload:
    texts = [f"q{n}: RETURN {returns} PATTERN {pattern} {window}" for n, pattern in enumerate(patterns)]
    return compile_workload([parse_query(text) for text in texts], SCHEMA)


def plan(specification: str, queries: Workload, duration: int = 1000) -> GloriaPlan:
    gloria = make(specification)
    assert isinstance(gloria, Gloria)
    return gloria.plan(queries, Statistics(1000, duration, RATES))


def test_frequencies_are_those_of_a_window() -> None:
    assert plan("gloria[costs=paper]", workload(*GOLDEN)).details["plan_weight"] == pytest.approx(307)
    longer = plan("gloria[costs=paper]", workload(*GOLDEN, window="WITHIN 40 s SLIDE 5 s"), duration=10)
    assert longer.details["plan_weight"] == pytest.approx(307)
    assert plan("gloria[costs=paper]", workload(*GOLDEN, window="WITHIN 20 s")).details["plan_weight"] > 2 * 307


def test_rates_are_divided_among_sub_streams() -> None:
    queries = workload(*GOLDEN, window="WITHIN 20 s")
    assert plan("gloria[costs=paper,substreams=2]", queries).details["plan_weight"] == pytest.approx(307)


def test_queries_that_share_have_frequencies_of_their_own_windows() -> None:
    """(1,2)^A costs the events of the longer window, and evaluations those of each."""
    costs = PaperCosts([2.0, 3.0, 5.0], [1.0, 10.0], [1, 1], [1.0, 0.1])
    assert costs.shared(1, 2, 0b11, 0) == 30 * 20
    assert costs.shared(0, 1, 0b11, 0) == 20
    assert costs.evaluation(2, 0, 0b11) == 5 * 2 + 50 * 20
    assert costs.alone(0, 1, 0b11) == 2 * 3 + 20 * 30
    assert costs.start(0, 0b10) == 20


def test_without_statistics_every_type_has_one_event() -> None:
    gloria = make("gloria[costs=paper,optimizer=greedy]")
    planned = gloria.plan(workload("SEQ(A, B)", "SEQ(A, B)"), Statistics())
    assert planned.details["plan_weight"] == 2 + 1 + 2


def test_details_of_a_plan() -> None:
    details = plan("gloria[optimizer=algorithm1,costs=paper]", workload(*GOLDEN)).details
    assert details["sharable_sets"] == 1
    assert (details["nodes"], details["pruned_nodes"]) == (1 + 2 + 3 + 1 + 4, 2)
    assert (details["shared_transitions"], details["snapshot_types"]) == (3, 1)
    assert details["graph_edges"] > details["pruned_edges"] > 0
    assert details["graph_bytes"] > 40 * 9
    assert min(details[name] for name in ("template_seconds", "graph_seconds", "search_seconds")) > 0
    assert details["thinned"] == details["fell_back"] == 0


def test_the_whole_graph_is_larger_than_the_pruned_one() -> None:
    names = ("exact", "algorithm1")
    full, pruned = (plan(f"gloria[optimizer={name},costs=paper]", workload(*GOLDEN)).details for name in names)
    assert full["pruned_nodes"] == full["pruned_edges"] == 0
    assert full["nodes"] == pruned["nodes"] + 1
    assert full["graph_bytes"] > pruned["graph_bytes"]


def test_queries_whose_windows_count_events_go_alone() -> None:
    planned = plan("gloria", workload("SEQ(A, B)", "SEQ(A, B)", window="WITHIN 5 EVENTS SLIDE 2 EVENTS"))
    assert planned.sets == ()
    assert planned.alone == ()


def test_each_sharable_set_has_a_valid_plan_of_its_own() -> None:
    queries = workload("SEQ(A, B, C)", "SEQ(A, B, D)", "SEQ(E, F)+", "SEQ(E, F)+", "A", window="WITHIN 100 s")
    planned = plan("gloria[costs=paper]", queries)
    assert planned.details["sharable_sets"] == 3
    assert [[member.query.index for member in one.members] for one in planned.sets] == [[2, 3]]
    assert [member.query.index for member in planned.alone] == [0, 1, 4]
    for one in planned.sets:
        check(one.sharing, template_of(one.members))


def test_blocks_of_queries_are_planned_apart() -> None:
    queries = workload(*["SEQ(F, A, B, C, D)"] * 6, window="WITHIN 100 s")
    whole, apart = (plan(f"gloria[costs=paper{block}]", queries) for block in ("", ",block=3"))
    assert (whole.details["sharable_sets"], apart.details["sharable_sets"]) == (1, 2)
    assert [[m.query.index for m in one.members] for one in apart.sets] == [[0, 1, 2], [3, 4, 5]]
    assert whole.details["plan_weight"] < apart.details["plan_weight"]


def test_members_share_nothing_where_that_costs_less() -> None:
    """A set of few queries costs more than a lane for each, one of many less; the paper's costs know no lanes."""
    few, many = (workload(*["SEQ(F, A, B, C, D)"] * queries, window="WITHIN 1000 s") for queries in (2, 200))
    assert [len(plan("gloria", queries).sets) for queries in (few, many)] == [0, 1]
    assert [plan("gloria", queries).details["left_alone"] for queries in (few, many)] == [1, 0]
    left, shared = (plan("gloria", queries).details for queries in (few, many))
    assert (left["shared_transitions"], left["snapshot_types"]) == (0, 0)
    assert (
        0 < left["plan_weight"] < plan("gloria[optimizer=greedy]", few).details["plan_weight"] < shared["plan_weight"]
    )
    assert len(plan("gloria[costs=paper]", few).sets) == 1
    for other in ("gloria[optimizer=greedy]", "gloria[optimizer=exact]", "gloria[granularity=event]"):
        assert plan(other, few).details["left_alone"] == 0
    assert make("gloria").plan(few, Statistics()).details["left_alone"] == 0, "nothing is known of the stream"


def test_windows_longer_than_the_stream_close_as_often_as_they_begin() -> None:
    """One window of each query begins in 20 seconds, though two would hold an event of a longer stream."""
    queries = workload(*["SEQ(F, A, B, C, D)"] * 200, window="WITHIN 1000 s SLIDE 500 s")
    assert plan("gloria", queries, duration=20).details["left_alone"] == 0
    assert plan("gloria", queries, duration=5).details["left_alone"] == 1, "a window that ends soon is dear"


def test_a_search_without_time_falls_back_to_the_greedy_plan_and_says_so() -> None:
    planned = plan("gloria[seconds=1e-9,costs=paper]", workload(*GOLDEN))
    assert planned.details["fell_back"] == 1
    assert any("greedy" in notice for notice in planned.notices)
    assert planned.details["plan_weight"] == pytest.approx(
        plan("gloria[optimizer=greedy,costs=paper]", workload(*GOLDEN)).details["plan_weight"]
    )


def test_the_whole_graph_has_no_plan_to_fall_back_on() -> None:
    with pytest.raises(PlanningTooLong, match="exact needs more than 1e-09 s") as error:
        plan("gloria[optimizer=exact,seconds=1e-9]", workload(*GOLDEN))
    assert math.isclose(error.value.seconds, 1e-9)


@pytest.mark.parametrize("wrong", ["optimizer=best", "costs=none", "seconds=0", "substreams=-1"])
def test_wrong_options_are_refused(wrong: str) -> None:
    with pytest.raises(WrongOption, match=wrong.split("=")[0]):
        make(f"gloria[{wrong}]")
