"""The optimizers on random workloads: valid plans, the same optimum, options that are what they say."""

import math
from collections.abc import Sequence as Many
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cepbench.algorithms.base import NotEnoughMemory, PlanningTooLong
from cepbench.algorithms.engine.event_sequence import Sequence
from cepbench.algorithms.sequences.plan import Candidate, sharing_candidates
from cepbench.algorithms.sequences.sharon.benefit import BenefitModel
from cepbench.algorithms.sequences.sharon.graph import bits, construct, expanded_candidates, options
from cepbench.algorithms.sequences.sharon.integer_program import best_plan
from cepbench.algorithms.sequences.sharon.limits import LimitReached, Limits
from cepbench.algorithms.sequences.sharon.optimizer import OPTIMIZERS, PHASES, Decision, merged, optimize
from cepbench.algorithms.sequences.sharon.search import find_plan
from tests.algorithms.sequences.sharon.workloads import sequences, symbols

RATES = st.fixed_dictionaries({letter: st.sampled_from((0.0, 0.5, 1.0, 3.0)) for letter in "ABCDEF"})
WORKLOADS = st.lists(st.text("ABCDEF", min_size=1, max_size=5), min_size=2, max_size=6)


def planned(
    workload: Many[Sequence], rates: dict[str, float], optimizer: str, limits: Limits | None = None
) -> Decision:
    model = BenefitModel(workload, [1.0] * len(workload), rates)
    return optimize(workload, ["x"] * len(workload), model, optimizer, limits or Limits(60))


@settings(max_examples=150, deadline=None)
@given(WORKLOADS, RATES)
def test_plans_are_valid_and_optimal(texts: list[str], rates: dict[str, float]) -> None:
    workload = sequences(texts)
    best, greedy, integer, none = (planned(workload, rates, o) for o in ("sharon", "greedy", "integer", "none"))
    for decision in (best, greedy, integer, none):
        assert not any(one.overlaps(other) for one, other in combinations(decision.shared, 2))
        for candidate in decision.shared:
            assert len(candidate.sequences) > 1
            for sequence, offset in candidate.occurrences:
                end = offset + len(candidate.pattern)
                assert workload[sequence].symbols[offset:end] == candidate.pattern
    assert none.shared == ()
    assert best.details["fell_back"] == 0
    assert best.details["score"] >= greedy.details["score"] * (1 - 1e-9) >= 0
    assert integer.details["score"] >= best.details["score"] * (1 - 1e-6)
    assume(best.details["options"] <= 16)
    exhaustive = planned(workload, rates, "exhaustive")
    assert best.details["score"] == pytest.approx(exhaustive.details["score"], rel=1e-9)
    assert best.details["plans_visited"] <= exhaustive.details["plans_visited"]


@settings(max_examples=100, deadline=None)
@given(WORKLOADS)
def test_options_resolve_conflicts_for_some_of_the_queries(texts: list[str]) -> None:
    candidates = sharing_candidates(sequences(texts), ["x"] * len(texts))
    graph = construct(candidates, [1.0] * len(candidates), Limits(60))
    whole = {candidate.pattern: candidate for candidate in candidates}
    try:
        options = expanded_candidates(graph, Limits(60))
    except LimitReached:
        assume(False)
    assert set(candidates) <= set(options)
    assert len(set(options)) == len(options)
    for option in options:
        original = whole[option.pattern]
        assert option.occurrences == tuple(o for o in original.occurrences if o[0] in option.sequences)
        dropped = set(original.sequences) - set(option.sequences)
        neighbors = bits(graph.neighbors[candidates.index(original)])
        causing = {s for u in neighbors for s, _ in original.places & candidates[u].places}
        assert dropped <= causing
        assert len(option.sequences) > 1


def test_details_name_every_phase() -> None:
    for name in OPTIMIZERS:
        details = planned(sequences(["ABCD", "ABCE", "FBCD"]), {}, name).details
        assert {f"{phase}_seconds" for phase in PHASES} < details.keys()
        assert {f"{phase}_bytes_peak" for phase in PHASES} < details.keys()
        assert {"candidates", "candidates_beneficial", "candidates_pruned", "options", "score"} < details.keys()
        assert {"plans_visited", "shared_patterns", "fell_back"} < details.keys()
    sharon = planned(sequences(["ABCD", "ABCE", "FBCD"]), {}, "sharon").details
    assert all(sharon[f"{phase}_seconds"] > 0 for phase in PHASES)
    assert sharon["plan_bytes_peak"] == max(sharon[f"{phase}_bytes_peak"] for phase in PHASES)
    assert sharon["pruned_share_peak"] == sharon["candidates_pruned"] / sharon["options"]
    plans, left = (2.0 ** sharon["options"], 2.0 ** (sharon["options"] - sharon["candidates_pruned"]))
    assert sharon["space_pruned_share_peak"] == (plans - left) / (plans - 1)
    assert 0 < sharon["graph_share_peak"] < 1
    assert all(sharon[f"{phase}_bytes_peak"] > 0 for phase in ("graph", "expansion", "reduction"))
    integer = planned(sequences(["ABCD", "ABCE", "FBCD"]), {}, "integer").details
    assert integer["search_bytes_peak"] > integer["graph_bytes_peak"] == 0  # it needs the candidates alone


def crowded() -> list[Sequence]:
    """Many conflicts among many queries."""
    return sequences([("ABCDEFGHIJKL" * 3)[i : i + 12] for i in range(12)] * 2)


@dataclass
class Clock:
    """A second passes whenever it is read, so that a time limit bounds how often the search asks for the time."""

    now: float = 0.0

    def perf_counter(self) -> float:
        self.now += 1.0
        return self.now


def limits_of(limit: str, monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Limits of which the search of the crowded workload reaches one, on any machine."""
    monkeypatch.setattr("cepbench.algorithms.sequences.sharon.limits.time", Clock())
    return Limits(500.0, started=0.0) if limit == "time" else Limits(math.inf, vertices=100)


@pytest.mark.parametrize("limit", ["time", "options"])
def test_sharon_falls_back_to_gwmin_and_says_so(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decision = planned(crowded(), {}, "sharon", limits_of(limit, monkeypatch))
    greedy = planned(crowded(), {}, "greedy")
    assert decision.details["fell_back"] == 1
    assert greedy.details["fell_back"] == 0
    assert decision.details["score"] >= greedy.details["score"] * (1 - 1e-9) > 0
    assert not any(one.overlaps(other) for one, other in combinations(decision.shared, 2))


@pytest.mark.parametrize("optimizer", ["sharon", "greedy"])
def test_nothing_is_shared_where_the_time_ends_before_there_is_a_graph(
    optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepbench.algorithms.sequences.sharon.limits.time", Clock())
    decision = planned(crowded(), {}, optimizer, Limits(100.0, started=0.0))
    assert (decision.shared, decision.details["fell_back"]) == ((), 1)


@pytest.mark.parametrize(
    ("limit", "error", "what"),
    [("time", PlanningTooLong, "500 s"), ("options", NotEnoughMemory, "100 candidates and options")],
)
def test_exhaustive_search_gives_up_with_an_error(
    limit: str, error: type[Exception], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(error, match=f"the exhaustive optimizer needs more than .*{what}"):
        planned(crowded(), {}, "exhaustive", limits_of(limit, monkeypatch))


class Worth(BenefitModel):
    """Candidates are worth what a table says of their pattern."""

    def __init__(self, texts: Many[str], worth: dict[str, float]) -> None:
        super().__init__(sequences(texts), [1.0] * len(texts), {})
        self.worth = worth

    def benefit(self, candidate: Candidate) -> float:
        return self.worth["".join(symbol.type for symbol in candidate.pattern)]


def test_a_plan_that_was_found_before_the_limit_counts() -> None:
    """GWMIN takes AB and CD for 8; BC alone is worth 10, and there is no room for plans of two."""
    texts = ["ABC", "ABX", "YBCD", "CDZ"]
    model = Worth(texts, {"AB": 7.0, "BC": 10.0, "CD": 1.0})
    for limits, fell_back in ((Limits(math.inf, bytes=80), 1), (Limits(math.inf, bytes=96), 0)):
        decision = optimize(sequences(texts), "xxxx", model, "sharon", limits)
        assert (decision.details["score"], decision.details["fell_back"]) == (10.0, fell_back)
        assert [candidate.pattern for candidate in decision.shared] == [symbols("BC")]
    assert optimize(sequences(texts), "xxxx", model, "greedy", Limits(60)).details["score"] == 8.0


def test_as_many_options_as_are_allowed() -> None:
    graph = construct(sharing_candidates(sequences(["ABC", "ABC"]), "xx"), [1.0] * 3, Limits(60))
    assert len(expanded_candidates(graph, Limits(60, vertices=3))) == 3
    with pytest.raises(LimitReached, match="2 candidates and options"):
        expanded_candidates(graph, Limits(60, vertices=2))


def test_the_conflict_with_the_most_queries_decides_what_may_be_dropped() -> None:
    """AB may leave either conflicting query to ABC, which has a third; BCD could not do without either of them."""
    texts = ["ABCD", "ABCD", "ABX", "ABY", "ZABC"]
    conflicting = [((0, 1), (1, 1)), ((0, 1), (1, 1), (4, 2))]
    for order in (conflicting, conflicting[::-1]):
        others = [Candidate(symbols(f"{'BCD' if len(o) == 2 else 'BC'}"), o) for o in order]
        candidates = [Candidate(symbols("AB"), ((0, 0), (1, 0), (2, 0), (3, 0))), *others]
        graph = construct(candidates, [1.0] * 3, Limits(60))
        found = {option.sequences for option in options(graph, 0, Limits(60))}
        assert found == {(0, 1, 2, 3), (0, 2, 3), (1, 2, 3), (2, 3)}, texts


def test_integer_program_shares_with_two_queries_at_least() -> None:
    """It would pay to cut the first query in two, but not to share its end with the other one."""
    workload = sequences(["ABCDEF", "DEFH"])
    rates = {"A": 10.0, "H": 10.0} | dict.fromkeys("BCDEF", 1.0)
    model = BenefitModel(workload, [1.0, 1.0], rates)
    candidate = Candidate(symbols("DEF"), ((0, 3), (1, 0)))
    assert model.gain(candidate, 0) - model.pattern_cost(candidate) == 20 - 3
    assert model.gain(candidate, 1) == 13 - 100 - 10
    assert best_plan([candidate], model, 60).plan == ()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ABC", min_size=1, max_size=4), min_size=2, max_size=4), RATES)
def test_integer_program_is_optimal_over_all_subsets_of_queries(texts: list[str], rates: dict[str, float]) -> None:
    workload = sequences(texts)
    model = BenefitModel(workload, [1.0] * len(workload), rates)
    options = [
        candidate.restricted(frozenset(queries))
        for candidate in sharing_candidates(workload, ["x"] * len(workload))
        for size in range(2, len(candidate.sequences) + 1)
        for queries in combinations(candidate.sequences, size)
    ]
    graph = construct(options, [model.benefit(option) for option in options], Limits(60))
    outcome = find_plan(graph, graph.everything, 0, Limits(60))
    assume(outcome.stopped is None)
    solution = best_plan(sharing_candidates(workload, ["x"] * len(workload)), model, 60)
    assert solution.optimal
    assert sum(map(model.benefit, solution.plan)) == pytest.approx(graph.weight(outcome.plan), rel=1e-6)


def test_integer_program_sees_small_gains_beside_large_costs() -> None:
    """To share AB costs 10^20, as it cuts a query into five parts; to share the whole query gains 8 x 10^8."""
    workload, rates = sequences(["ABXABYAB", "ABXABYAB"]), dict.fromkeys("ABXY", 1e4)
    decision = planned(workload, rates, "integer")
    assert decision.details["score"] == pytest.approx(8e8)
    assert decision.details["score"] == pytest.approx(planned(workload, rates, "greedy").details["score"])


def test_integer_program_lets_a_query_join_at_a_loss_that_the_other_makes_up_for() -> None:
    """A pattern is shared by two queries at least; without the second, the gain of the first is lost."""
    candidate, *_ = sharing_candidates(sequences(["AB", "AB"]), ["x", "x"])
    for loss, shared in ((-4.0, True), (-6.0, False)):
        plan = best_plan([candidate], Uses({0: 9.0, 1: loss}, cost=4.0), 60).plan
        assert plan == ((candidate,) if shared else ())


class Uses(BenefitModel):
    """The gain of each query by a pattern, from a table."""

    def __init__(self, gains: dict[int, float], cost: float) -> None:
        super().__init__(sequences(["AB"] * len(gains)), [1.0] * len(gains), {})
        self.gains, self.cost = gains, cost

    def gain(self, candidate: Candidate, sequence: int) -> float:
        return self.gains[sequence]

    def pattern_cost(self, candidate: Candidate) -> float:
        return self.cost


def test_integer_program_without_time_falls_back_too() -> None:
    decision = planned(crowded(), {}, "integer", Limits(60, started=-math.inf))
    assert decision.details["fell_back"] == 1
    assert decision.details["score"] == planned(crowded(), {}, "greedy").details["score"]


def test_options_of_one_pattern_become_one_candidate() -> None:
    parts = [Candidate(symbols("AB"), ((2, 0), (3, 0))), Candidate(symbols("AB"), ((0, 0), (1, 0)))]
    other = Candidate(symbols("CD"), ((0, 2), (1, 2)))
    assert merged([*parts, other], "xxxx") == (Candidate(symbols("AB"), ((0, 0), (1, 0), (2, 0), (3, 0))), other)
    assert merged(parts, "yyxx") == tuple(parts)
