"""The benefit model on numbers worked out by hand (Equations 22.1-22.11)."""

from math import log

import pytest

from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.sharon.benefit import COMBINATION, SNAPSHOT, BenefitModel, ExecutorBenefit
from tests.algorithms.sequences.sharon.workloads import sequences, symbols

RATES = {"A": 2.0, "B": 3.0, "C": 5.0, "D": 7.0, "E": 11.0}


def model(*texts: str, window: float = 1.0, rates: dict[str, float] = RATES) -> BenefitModel:
    return BenefitModel(sequences(texts), [window] * len(texts), rates)


def test_prefix_pattern_suffix() -> None:
    costs = model("ABCD", "BCE")
    candidate = Candidate(symbols("BC"), ((0, 1), (1, 0)))
    assert costs.not_shared(0) == 2 * (2 + 3 + 5 + 7)
    assert costs.computation(candidate, 0) == 2 * 2 + 7 * 7
    assert costs.combination(candidate, 0) == 2 * 3 * 7
    assert costs.not_shared(1) == 3 * (3 + 5 + 11)
    assert costs.computation(candidate, 1) == 11 * 11
    assert costs.combination(candidate, 1) == 3 * 11
    assert costs.pattern_cost(candidate) == 3 * (3 + 5)
    gains = [34 - 53 - 42, 57 - 121 - 33]
    assert [costs.gain(candidate, s) for s in (0, 1)] == gains
    assert costs.benefit(candidate) == sum(gains) - 24


def test_whole_sequences_are_shared_without_combination() -> None:
    costs = model("ABC", "ABC", "ABC")
    candidate = Candidate(symbols("ABC"), ((0, 0), (1, 0), (2, 0)))
    assert costs.combination(candidate, 0) == 0
    assert costs.computation(candidate, 0) == 0
    assert costs.benefit(candidate) == 2 * (2 * (2 + 3 + 5))


def test_windows_scale_rates() -> None:
    candidate = Candidate(symbols("BC"), ((0, 1), (1, 0)))
    longer = model("ABCD", "BCE", window=10.0)
    assert longer.not_shared(0) == 100 * 34
    assert longer.combination(candidate, 0) == 1000 * 42


def test_a_type_counts_as_often_as_it_occurs() -> None:
    costs = model("ABA", "ABA")
    assert costs.not_shared(0) == 2 * (2 + 3 + 2)
    assert costs.pattern_cost(Candidate(symbols("ABA"), ((0, 0), (1, 0)))) == 2 * (2 + 3 + 2)


def test_several_occurrences_in_one_sequence() -> None:
    costs = model("ABCAB", "AB")
    candidate = Candidate(symbols("AB"), ((0, 0), (0, 3), (1, 0)))
    assert costs.computation(candidate, 0) == 5 * 5
    assert costs.combination(candidate, 0) == 2 * 5 * 2


def test_parts_that_equal_the_pattern_but_are_no_occurrence_are_paid_for() -> None:
    costs = model("ABAB", "AB")
    candidate = Candidate(symbols("AB"), ((0, 0), (1, 0)))
    assert costs.computation(candidate, 0) == 2 * (2 + 3)


def test_without_rates_every_type_has_one_event_per_window() -> None:
    costs = model("ABCD", "BCE", "BC", rates={}, window=0.0)
    candidate = Candidate(symbols("BC"), ((0, 1), (1, 0), (2, 0)))
    assert costs.benefit(candidate) == (4 - 2 - 1) + (3 - 1 - 1) + 2 - 2


def test_types_that_never_come_cost_nothing() -> None:
    candidate = Candidate(symbols("XY"), ((0, 0), (1, 0)))
    assert model("XY", "XYA").benefit(candidate) == pytest.approx(0 - 2 * 2)


def executor_model(*texts: str, overlap: int, window: float = 100.0) -> ExecutorBenefit:
    """All but C come at every time stamp, C at every second or so, in windows of 100 time stamps."""
    rates = {"A": 50.0, "B": 50.0, "C": -log(0.5), "D": 50.0}
    return ExecutorBenefit(sequences(texts), [window] * len(texts), rates, [overlap] * len(texts))


def test_executor_counts_per_time_stamp() -> None:
    costs = executor_model("ABCD", "CD", overlap=4)
    candidate = Candidate(symbols("CD"), ((0, 2), (1, 0)))
    assert costs.not_shared(0) == pytest.approx(100 + 100 * 7 / 8 * (100 + 50 + 100))
    assert costs.computation(candidate, 0) == pytest.approx(100 + 100 * 7 / 8 * 100)
    assert costs.combination(candidate, 0) == pytest.approx(4 * 50 * (SNAPSHOT + COMBINATION))
    assert costs.pattern_cost(candidate) == pytest.approx(50 + 50 * 7 / 8 * 100)
    assert costs.combination(candidate, 1) == 0


def test_executor_multiplies_slots_of_middle_parts_only() -> None:
    costs = executor_model("ABCD", "BC", overlap=4)
    candidate = Candidate(symbols("BC"), ((0, 1), (1, 0)))
    assert costs.combination(candidate, 0) == pytest.approx(4 * (2 * 100 * SNAPSHOT + 100 * 100 * COMBINATION))


def test_executor_needs_no_slots_at_the_start_where_windows_do_not_overlap() -> None:
    costs = executor_model("ABD", "AB", "DAB", overlap=1)
    assert costs.not_shared(0) == pytest.approx(3 * 100)
    prefix = Candidate(symbols("AB"), ((0, 0), (1, 0)))
    assert costs.pattern_cost(prefix) == pytest.approx(2 * 100)
    assert costs.computation(prefix, 0) == pytest.approx(100)
    assert costs.pattern_cost(Candidate(symbols("AB"), ((0, 0), (2, 1)))) == pytest.approx(100 + 100 / 2 * 100)
