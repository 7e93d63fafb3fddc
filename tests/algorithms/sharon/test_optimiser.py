"""The optimisers on random workloads: valid plans, the same optimum, options that are what they say."""

from collections.abc import Sequence as Many
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algorithms.base import NotEnoughMemory
from algorithms.sequences import Sequence
from algorithms.sharon.optimiser import OPTIMISERS, BenefitModel, Decision, optimise
from algorithms.sharon.optimiser.candidates import sharing_candidates
from algorithms.sharon.optimiser.expansion import expanded_candidates
from algorithms.sharon.optimiser.integer_program import best_plan
from algorithms.sharon.optimiser.limits import LimitReached, Limits
from algorithms.sharon.optimiser.optimiser import PHASES, SearchTooLong, merged
from algorithms.sharon.optimiser.plan_finder import find_plan
from algorithms.sharon.optimiser.sharon_graph import bits, construct
from algorithms.sharon.plan import Candidate
from tests.algorithms.sharon.workloads import sequences, symbols

RATES = st.fixed_dictionaries({letter: st.sampled_from((0.0, 0.5, 1.0, 3.0)) for letter in "ABCDEF"})
WORKLOADS = st.lists(st.text("ABCDEF", min_size=1, max_size=5), min_size=2, max_size=6)


def planned(workload: Many[Sequence], rates: dict[str, float], optimizer: str, seconds: float = 60) -> Decision:
    model = BenefitModel(workload, [1.0] * len(workload), rates)
    return optimise(workload, ["x"] * len(workload), model, optimizer, Limits(seconds))


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
        neighbours = bits(graph.neighbours[candidates.index(original)])
        causing = {s for u in neighbours for s, _ in original.places & candidates[u].places}
        assert dropped <= causing
        assert len(option.sequences) > 1


def test_details_name_every_phase() -> None:
    for name in OPTIMISERS:
        details = planned(sequences(["ABCD", "ABCE", "FBCD"]), {}, name).details
        assert {f"{phase}_seconds" for phase in PHASES} < details.keys()
        assert {f"{phase}_bytes_peak" for phase in PHASES} < details.keys()
        assert {"candidates", "candidates_beneficial", "candidates_pruned", "options", "score"} < details.keys()
        assert {"plans_visited", "shared_patterns", "fell_back"} < details.keys()
    sharon = planned(sequences(["ABCD", "ABCE", "FBCD"]), {}, "sharon").details
    assert all(sharon[f"{phase}_seconds"] > 0 for phase in PHASES)
    assert sharon["plan_bytes_peak"] == max(sharon[f"{phase}_bytes_peak"] for phase in PHASES)
    assert sharon["pruned_share_peak"] == sharon["candidates_pruned"] / sharon["options"]
    assert 0 < sharon["graph_share_peak"] < 1
    assert all(sharon[f"{phase}_bytes_peak"] > 0 for phase in ("graph", "expansion", "reduction"))


def test_sharing_with_conflicts_resolved_scores_higher() -> None:
    """AB and BC conflict in the first query only: if one of them leaves it out, both can be shared."""
    workload = sequences(["ABC", "ABX", "ABY", "ABZ", "CBC", "XBC", "YBC", "ZBC"])
    rates = dict.fromkeys("ABCXYZ", 1.0)
    best, greedy = planned(workload, rates, "sharon"), planned(workload, rates, "greedy")
    assert best.details["score"] > greedy.details["score"]
    assert len(best.shared) == 2
    assert len(greedy.shared) == 1


def crowded() -> list[Sequence]:
    """Many conflicts among many queries."""
    return sequences([("ABCDEFGHIJKL" * 3)[i : i + 12] for i in range(12)] * 2)


def test_sharon_falls_back_to_gwmin_and_says_so() -> None:
    decision = planned(crowded(), {}, "sharon", seconds=0.2)
    greedy = planned(crowded(), {}, "greedy")
    assert decision.details["fell_back"] == 1
    assert greedy.details["fell_back"] == 0
    assert decision.details["score"] >= greedy.details["score"] * (1 - 1e-9)
    assert not any(one.overlaps(other) for one, other in combinations(decision.shared, 2))


def test_exhaustive_search_gives_up_with_an_error() -> None:
    with pytest.raises((NotEnoughMemory, SearchTooLong), match="the exhaustive optimizer needs more than"):
        planned(crowded(), {}, "exhaustive", seconds=0.2)


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
    found = find_plan(graph, graph.everything, 0, Limits(60))
    assume(found.stopped is None)
    solution = best_plan(sharing_candidates(workload, ["x"] * len(workload)), model, 60)
    assert solution.optimal
    assert sum(map(model.benefit, solution.plan)) == pytest.approx(graph.weight(found.plan), rel=1e-6)


def test_integer_program_without_time_falls_back_too() -> None:
    decision = planned(crowded(), {}, "integer", seconds=1e-9)
    assert decision.details["fell_back"] == 1
    assert decision.details["score"] == planned(crowded(), {}, "greedy").details["score"]


def test_options_of_one_pattern_become_one_candidate() -> None:
    parts = [Candidate(symbols("AB"), ((2, 0), (3, 0))), Candidate(symbols("AB"), ((0, 0), (1, 0)))]
    other = Candidate(symbols("CD"), ((0, 2), (1, 2)))
    assert merged([*parts, other], "xxxx") == (Candidate(symbols("AB"), ((0, 0), (1, 0), (2, 0), (3, 0))), other)
    assert merged(parts, "yyxx") == tuple(parts)
