"""The features of a case follow from the case, whatever features were wanted."""

from random import Random

import pytest

from cepbench.algorithms.oracle import TooManyMatches
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import expected_rows
from cepbench.verification.coverage import PATIENCE, Coverage
from cepbench.verification.features import Feature, all_pairs, query_features
from cepbench.verification.random_cases import Case, features, pairs_of, random_case
from tests.streams import stream

F = Feature
PLAIN = {F.ANY, F.WHOLE_STREAM}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COUNT(*) PATTERN A", set()),
        ("COUNT(A) PATTERN A+", {F.KLEENE, F.COUNT_OF}),
        ("SUM(A.x), MIN(A.x) PATTERN (SEQ(A, B?))+", {F.NESTED_KLEENE, F.OPTIONAL, F.SUM, F.LEAST}),
        ("AVG(A.x) PATTERN SEQ(A, A B)", {F.REPEATED_TYPE, F.AVG}),
        ("COUNT(*) PATTERN A AND B*", {F.AND, F.KLEENE, F.OPTIONAL}),
        ("COUNT(*) PATTERN SEQ(NOT A, B)", {F.NOT_FIRST}),
        ("COUNT(*) PATTERN SEQ(B, NOT A)", {F.NOT_LAST}),
        ("COUNT(*) PATTERN SEQ(B, NOT A, C) WHERE A.x > 1", {F.NOT_BETWEEN, F.NOT_LOCAL}),
        ("COUNT(*) PATTERN SEQ(B, NOT SEQ(A, D), C)", {F.NOT_BETWEEN, F.NOT_SEQUENCE}),
        ("COUNT(*) PATTERN SEQ(B, NOT SEQ(A, NOT E, D), C)", {F.NOT_BETWEEN, F.NOT_SEQUENCE, F.NOT_NESTED}),
        ("COUNT(*) PATTERN SEQ(B, NOT SEQ(A, D), C) WHERE A.x < D.x", {F.NOT_BETWEEN, F.NOT_SEQUENCE, F.NOT_ADJACENT}),
        ("COUNT(*) PATTERN SEQ(A, B, C) WHERE A.x < C.x AND B.x = 1", {F.PAIRWISE, F.LOCAL}),
        ("COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x", {F.ADJACENT}),
        ("COUNT(*) PATTERN SEQ(A, B) WHERE A.x < -2 * B.x", {F.ADJACENT, F.NEGATIVE_FACTOR}),
        ("COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x AND A.y > B.y", {F.ADJACENT, F.SEVERAL_ADJACENT}),
        ("COUNT(*) PATTERN SEQ(A{2}, B)", {F.REPETITION}),
        ("COUNT(*) PATTERN SEQ(A{2,}, B)", {F.REPETITION, F.KLEENE}),
        ("COUNT(*) PATTERN (SEQ(A, B)){1,2}", {F.REPETITION}),
        ("COUNT(*) PATTERN A WHERE A.x > A.y + 1", {F.LOCAL, F.TWO_ATTRIBUTES}),
        ("COUNT(*) PATTERN A WHERE A.x IN (1, 2)", {F.LOCAL, F.LOGIC}),
        ("COUNT(*) PATTERN A WHERE NOT (A.x = 1 OR A.y > A.x)", {F.LOCAL, F.LOGIC, F.TWO_ATTRIBUTES}),
        ("COUNT(*) PATTERN SEQ(A, B) WHERE A.x + 1 < B.x", {F.ADJACENT, F.OFFSET}),
        ("COUNT(*) PATTERN SEQ(A, B) WHERE A.time < B.x", {F.ADJACENT, F.TIME}),
        ("COUNT(*) PATTERN SEQ(A, B, C) WHERE C.time - A.time < 5 s", {F.PAIRWISE, F.OFFSET, F.TIME}),
    ],
)  # fmt: skip
def test_of_a_query(text: str, expected: set[Feature]) -> None:
    assert query_features(parse_query(f"RETURN {text}")) == expected | PLAIN


@pytest.mark.parametrize(
    ("clause", "feature"),
    [
        ("WITHIN 4 s", F.TUMBLING),
        ("WITHIN 4 s SLIDE 2 s", F.OVERLAPPING),
        ("WITHIN 4 s SLIDE 6 s", F.GAPS),
        ("WITHIN 4 events SLIDE 2 events", F.COUNTED),
    ],
)
def test_of_a_window(clause: str, feature: Feature) -> None:
    assert query_features(parse_query(f"RETURN MATCHES PATTERN A SEMANTICS cont {clause}")) == {
        F.MATCHES, F.CONTIGUOUS, feature,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A WITHIN 4 s", {F.PER_MATCH}),
        ("SEQ(A, B+) WITHIN 4 events", {F.PER_MATCH_COUNTED, F.KLEENE}),
        ("A AND A q WHERE A.x = 1 WITHIN 4 s", {F.PER_MATCH, F.AND, F.REPEATED_TYPE, F.LOCAL}),
        ("A OR SEQ(B, A) WHERE B.x < A.x WITHIN 4 s", {F.PER_MATCH, F.OR, F.PAIRWISE}),
        ("NOT A, B WHERE A.x = 1 WITHIN 4 s", {F.PER_MATCH, F.NOT_FIRST, F.NOT_LOCAL}),
        ("A, NOT B, C, NOT B WITHIN 4 s", {F.PER_MATCH, F.NOT_BETWEEN, F.NOT_LAST}),
        ("A, B WHERE B.time - A.time < 3 WITHIN 4 s", {F.PER_MATCH, F.PAIRWISE, F.OFFSET, F.TIME}),
        ("A WHERE A.x IN (1) WITHIN 4 s", {F.PER_MATCH, F.LOCAL, F.LOGIC}),
        ("SEQ(A, (B OR C)+ x) WITHIN 4 s", {F.PER_MATCH, F.OPERAND_OR, F.KLEENE}),
        ("SEQ(A, (B OR B) x) OR C WITHIN 4 s", {F.PER_MATCH, F.OPERAND_OR, F.OR, F.REPEATED_TYPE}),
    ],
)
def test_of_detection(text: str, expected: set[Feature]) -> None:
    assert query_features(parse_query(f"PATTERN {text} PER MATCH")) == expected | {F.ANY, F.MATCHES}


def test_of_a_detected_count() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s PER MATCH")
    assert query_features(query) == {F.ANY, F.PER_MATCH, F.DETECTED_COUNT}


@pytest.mark.parametrize("kind", [F.PER_MATCH, F.PER_MATCH_COUNTED])
def test_detection_is_drawn_when_it_is_wanted(kind: Feature) -> None:
    cases = [random_case(seed, frozenset({kind, F.WORKLOAD})) for seed in range(60)]
    assert all(query.span is not None for case in cases for query in case.queries)
    assert sum(kind in query_features(query) for case in cases for query in case.queries) > 100
    assert any(case.query != query for case in cases for query in case.queries[1:])
    assert not any(query.span for seed in range(60) for query in random_case(seed, frozenset({F.MATCHES})).queries)


def case_of(text: str, events: str, **more: object) -> Case:
    return Case(0, (parse_query(text),), tuple(stream(events)), **more)  # type: ignore[arg-type]


def stream_features(case: Case) -> set[Feature]:
    [shown] = features(case, expected_rows(case))
    return set(shown - query_features(case.query))


def test_of_a_stream() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A, B)"
    assert stream_features(case_of(text, "A1 B2")) == set()
    assert stream_features(case_of(text, "A1 B1 B2")) == {F.TIES}
    assert stream_features(case_of(text, "A1 Z1 B2")) == set()
    grouped = f"{text} GROUP-BY g"
    assert stream_features(case_of(grouped, "A1@u B1@v B2@u")) == {F.GROUPS}
    assert stream_features(case_of(grouped, "A1@u B1@u B2@u")) == {F.TIES}
    assert stream_features(case_of(text, "A1@u B2@v")) == set()
    assert stream_features(case_of(text, "A1 B2", cuts=(1,), pickled=True)) == {F.BATCHES, F.PICKLED}
    assert stream_features(case_of(text, "A1 B2", promise=True)) == set()
    assert stream_features(case_of(text, "A1 B2", promise=True, cuts=(1,))) == {F.PROMISES, F.BATCHES}


def test_of_what_overflows() -> None:
    big = " ".join(f"A{time}/{2**62}" for time in range(3))
    assert stream_features(case_of("RETURN SUM(A.x), COUNT(*) PATTERN A", big)) == {F.SUM_OVERFLOW}
    assert stream_features(case_of("RETURN MIN(A.x), COUNT(*) PATTERN A", big)) == set()
    many = " ".join(f"A{time}/0" for time in range(70))
    assert stream_features(case_of("RETURN COUNT(*) PATTERN A+", many)) == {F.COUNT_OVERFLOW}
    assert stream_features(case_of("RETURN AVG(A.x), SUM(A.x) PATTERN A+", many)) == {F.SUM_OVERFLOW}


def test_queries_without_rows_show_nothing() -> None:
    assert pairs_of(case_of("RETURN COUNT(*) PATTERN SEQ(A, B)", "A1"), [[]]) == set()


@pytest.mark.parametrize("feature", Feature)
def test_a_feature_that_is_wanted_is_drawn(feature: Feature) -> None:
    drawn = 0
    random = Random(feature)
    for _ in range(60):
        case = random_case(random.getrandbits(48), frozenset({feature}))
        try:
            drawn += frozenset({feature}) in pairs_of(case, expected_rows(case))
        except TooManyMatches:
            continue
        if drawn == 5:
            return
    pytest.fail(f"{drawn} of 60 cases have it")


def test_what_is_banned_is_not_drawn() -> None:
    banned = frozenset({F.KLEENE, F.NESTED_KLEENE, F.NEXT, F.MATCHES, F.COUNTED, F.OR, F.AND, F.AVG})
    for seed in range(200):
        case = random_case(seed, frozenset({F.SUM}), banned)
        assert not banned & query_features(case.query)


def test_the_rarest_pair_is_drawn_next_until_it_is_given_up() -> None:
    coverage = Coverage()
    for pair in all_pairs():
        coverage.counts[pair] = 5
    rare, hopeless = frozenset({F.AND, F.TIES}), frozenset({F.AND, F.NULLS})
    coverage.counts[rare], coverage.counts[hopeless] = 2, 0
    for _ in range(PATIENCE):
        assert coverage.rarest() == (hopeless, 0)
        coverage.add(hopeless, set())
    assert coverage.rarest() == (rare, 2)
    assert coverage.refused() == [hopeless]
    assert F.NULLS in coverage.avoided(frozenset({F.AND, F.SUM}))
    assert F.NULLS not in coverage.avoided(frozenset({F.OR, F.SUM}))
    for _ in range(3):
        coverage.add(rare, {rare})
    assert coverage.rarest() == (frozenset({F.ANY}), 5)


def test_a_feature_that_is_never_compared_is_banned_with_all_its_pairs() -> None:
    coverage = Coverage()
    for _ in range(PATIENCE):
        coverage.add(frozenset({F.NEXT}), set())
    assert coverage.banned() == {F.NEXT}
    assert all(F.NEXT not in pair for pair in [coverage.rarest()[0]])  # type: ignore[index]
