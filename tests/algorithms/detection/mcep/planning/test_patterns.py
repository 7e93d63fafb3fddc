"""Detection queries as patterns of the optimizer."""

from cepbench.algorithms.detection.mcep.aggregation import detection_workload
from cepbench.algorithms.detection.mcep.planning.patterns import (
    NegatedElement,
    PairCondition,
    PatternElement,
    PatternScope,
    patterns_of,
)
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Op
from cepbench.queries.parser import parse_query
from tests.algorithms.detection.mcep.planning.workloads import SCHEMA, compared, local, patterns


def test_the_pattern_of_the_introduction() -> None:
    """Section 2: SEQ(A, B, C), the events of three sensors."""
    [found] = patterns("SEQ(A, B, C) WITHIN 10 seconds")
    assert found.ordered
    assert [element.type for element in found.elements] == ["A", "B", "C"]
    assert (found.window, found.scope, found.negated, found.conditions) == (10, PatternScope(), (), frozenset())
    assert found.everything == 0b111


def test_every_alternative_is_a_pattern() -> None:
    found = patterns("SEQ(A, B) OR (B AND C) OR D", "A")
    assert [(one.query, one.clause, one.ordered, len(one)) for one in found] == [
        (0, 0, True, 2),
        (0, 1, False, 2),
        (0, 2, False, 1),
        (1, 0, False, 1),
    ]


def test_operands_without_their_names() -> None:
    [found] = patterns("SEQ(A a, B+ b, NOT N n, C c) WHERE a.x > 3 AND 2 * n.y < 1.5")
    assert found.elements == (
        PatternElement("A", filters=frozenset({local("x", 1, Op.GT, 3)})),
        PatternElement("B", kleene=True),
        PatternElement("C"),
    )
    assert found.negated == (NegatedElement("N", 2, frozenset({local("y", 2, Op.LT, 1.5)})),)


def test_conditions_go_from_left_to_right() -> None:
    [one] = patterns("SEQ(A a, B b) WHERE a.x < b.y")
    [other] = patterns("SEQ(A a, B b) WHERE b.y > a.x")
    assert one.conditions == other.conditions == {PairCondition(0, 1, compared("x", 1, Op.LT, "y", 1))}


def test_next_is_how_a_condition_was_written() -> None:
    """Queries share sub-patterns however their conditions are written."""
    texts = [f"RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < {right} WITHIN 5 s" for right in ("NEXT(B).x", "B.x")]
    workload = compile_workload([parse_query(text) for text in texts], SCHEMA)
    one, other = patterns_of(detection_workload(workload))
    assert one.conditions == other.conditions


def test_windows_of_time_and_of_events() -> None:
    timed, counted = patterns("SEQ(A, B) WITHIN 2 minutes", "SEQ(A, B) WITHIN 7 events")
    assert (timed.window, timed.scope.counts_events) == (120, False)
    assert (counted.window, counted.scope.counts_events) == (7, True)


def test_patterns_of_other_sub_streams_have_another_scope() -> None:
    one, other = patterns("SEQ(A, B) WHERE [g]", "SEQ(A, B)")
    assert (one.scope.partition, other.scope.partition) == ({"g"}, frozenset())
