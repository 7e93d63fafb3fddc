"""Templates, and which sharing plans are valid (Definitions 2.6 and 2.7)."""

from collections.abc import Sequence

import pytest

from cepbench.algorithms.trends.gloria.plan import WorkloadSharingPlan
from tests.algorithms.trends.gloria.graphs import sharing, template, transition
from tests.algorithms.trends.gloria.validity import InvalidSharingPlan, check, unshared


def test_a_template_has_each_transition_once_with_its_queries() -> None:
    """Figure 5 with a negation: q2 may not share (B, C)."""
    merged = template("SEQ(F, A, B, C, D)", "SEQ(A, B, NOT G, C, D)", "SEQ(E, C, D)")
    assert {str(t): sorted(members) for t, members in merged.transitions.items()} == {
        "(F, A)": [0],
        "(A, B)": [0, 1],
        "(B, C)": [0, 1],
        "(C, D)": [0, 1, 2],
        "(E, C)": [2],
    }
    assert {str(s): sorted(members) for s, members in merged.start.items()} == {"F": [0], "A": [1], "E": [2]}
    assert {str(s): sorted(members) for s, members in merged.end.items()} == {"D": [0, 1, 2]}
    assert {str(t): sorted(members) for t, members in merged.alone.items()} == {"(B, C)": [1]}


def test_types_that_occur_again_are_states_of_their_own() -> None:
    merged = template("SEQ(A, B, A+)", "SEQ(A, B)")
    assert [str(state) for state in merged.states[0]] == ["A", "B", "A2"]
    assert sorted(map(str, merged.transitions)) == ["(A, B)", "(A2, A2)", "(B, A2)"]


def test_the_optimal_plan_of_the_paper_is_valid() -> None:
    plan = sharing(FA="1", AB="12A", BC="12A", EC="3", CD="12A 3")
    check(plan, template("SEQ(F, A, B, C, D)", "SEQ(A, B, C, D)", "SEQ(E, C, D)"))


VALID = [
    (["SEQ(A, B)+"] * 2, {"AB": "12A", "BA": "12A"}),
    (["SEQ(A, B)+"] * 2, {"AB": "12B", "BA": "12B"}),
    (["SEQ(C, SEQ(A, B)+)"] * 2, {"CA": "12C", "AB": "12C", "BA": "12C"}),
    (["SEQ(C, SEQ(A, B)+)"] * 2, {"CA": "1 2", "AB": "12A", "BA": "12A"}),
    (["SEQ(A, B, C)", "SEQ(A, B, D)"], {"AB": "12A", "BC": "1", "BD": "2"}),
    (["SEQ(A, B, C)"] * 3, {"AB": "12A 3", "BC": "123B"}),
]


@pytest.mark.parametrize(("patterns", "plans"), VALID)
def test_valid_plans(patterns: Sequence[str], plans: dict[str, str]) -> None:
    check(sharing(**plans), template(*patterns))


FAULTS = [
    (["SEQ(A, B, C)"] * 2, {"AB": "12A"}, "has the transitions of its template"),
    (["SEQ(A, B, C)"] * 2, {"AB": "12A", "BC": "1"}, r"\(B, C\): the Q-sets do not partition"),
    (["SEQ(A, B, C)"] * 2, {"AB": "12A", "BC": "12A 2"}, r"\(B, C\): the Q-sets do not partition"),
    (["SEQ(A, B)"] * 2, {"AB": "1A 2"}, r"\(A, B\): \(1\)\^A is alone, so it has no snapshots"),
    (["SEQ(A, B)"] * 2, {"AB": "12"}, r"\(A, B\): \(1,2\) is shared, so it has snapshots"),
    (["SEQ(A, NOT C, B)"] * 2, {"AB": "12A"}, r"\(1,2\)\^A has a query with a negation, which goes alone"),
    (["SEQ(A, B, C)"] * 2, {"AB": "1 2", "BC": "12A"}, r"\(1,2\)\^A has no snapshots of A to reuse"),
    (["SEQ(A, B, C)"] * 3, {"AB": "123A", "BC": "12A 3"}, r"\(1,2\)\^A has no snapshots of A to reuse"),
    (["SEQ(A, B, C)", "SEQ(A?, B, C)"], {"AB": "12A", "BC": "12A"}, "has no snapshots of A to reuse"),
    (["SEQ(A?, B, C)", "SEQ(A, B, C)"], {"AB": "1 2", "BC": "12A"}, "has no snapshots of A to reuse"),
    (["SEQ(C, SEQ(A, B)+)"] * 2, {"CA": "1 2", "AB": "12B", "BA": "12B"}, "has no snapshots of B to reuse"),
    (["SEQ(A, B)+"] * 2, {"AB": "12D", "BA": "12D"}, "goes round without any snapshot of D"),
]


@pytest.mark.parametrize(("patterns", "plans", "message"), FAULTS)
def test_faults_of_plans_are_named(patterns: Sequence[str], plans: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidSharingPlan, match=message):
        check(sharing(**plans), template(*patterns))


def test_an_empty_q_set_is_no_part() -> None:
    single = template("SEQ(A, B)")
    plan = unshared(single)
    empty = type(plan.transitions[transition("AB")][0])(frozenset())
    with pytest.raises(InvalidSharingPlan, match="do not partition"):
        check(WorkloadSharingPlan({transition("AB"): (*plan.transitions[transition("AB")], empty)}), single)


def test_nobody_need_share() -> None:
    merged = template("SEQ(A, B)+", "SEQ(A, NOT C, B+)", "A")
    check(unshared(merged), merged)
