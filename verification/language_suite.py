"""A small workload for each feature of the language, to find which features an algorithm supports.

They are as simple as possible, so that only the named feature can be a reason to refuse them. All of them have matches
on a stream of the types A to E with the attributes `x` and `g`.
"""

from __future__ import annotations

from typing import NamedTuple


class Asked(NamedTuple):
    """A feature, and queries that use it."""

    group: str
    name: str
    workload: str


def _count(pattern: str, rest: str = "") -> str:
    return f"RETURN COUNT(*) PATTERN {pattern} {rest} WITHIN 10 s".replace("  ", " ")


def _returning(items: str, rest: str = "") -> str:
    return f"RETURN {items} PATTERN SEQ(A, B) {rest} WITHIN 10 s".replace("  ", " ")


def _detect(pattern: str, rest: str = "", span: str = "10 s") -> str:
    return f"PATTERN {pattern} {rest} WITHIN {span} PER MATCH".replace("  ", " ")


_NEXT, _CONTIGUOUS = "SEMANTICS skip-till-next-match", "SEMANTICS contiguous"
_GROUPS: dict[str, dict[str, str]] = {
    "Semantics": {
        "skip-till-any-match": _count("SEQ(A, B)"),
        "skip-till-next-match": _count("SEQ(A, B)", _NEXT),
        "contiguous": _count("SEQ(A, B)", _CONTIGUOUS),
        "Kleene under skip-till-next-match": _count("SEQ(A+, B)", _NEXT),
        "Kleene under contiguous": _count("SEQ(A+, B)", _CONTIGUOUS),
    },
    "Pattern": {
        "sequence": _count("SEQ(A, B, C)"),
        "Kleene": _count("SEQ(A+, B)"),
        "nested Kleene": _count("(SEQ(A+, B))+"),
        "at least n": _count("A{3,}"),
        "exactly n": _count("SEQ(A{2}, B)"),
        "between n and m": _count("SEQ(A{2,3}, B)"),
        "Kleene that may be empty": _count("SEQ(A*, B)"),
        "optional part": _count("SEQ(A?, B)"),
        "type at several positions": _count("SEQ(A, B, A)"),
        "OR at the top": _count("SEQ(A, B) OR SEQ(C, D)"),
        "OR inside a sequence": _count("SEQ(A, B OR C)"),
        "AND": _count("SEQ(A, B) AND SEQ(C, D)"),
    },
    "Negation": {
        "NOT at the start": _count("SEQ(NOT E, A, B)"),
        "NOT in between": _count("SEQ(A, NOT E, B)"),
        "NOT at the end": _count("SEQ(A, B, NOT E)"),
        "NOT inside Kleene": _count("(SEQ(A, NOT E, B))+"),
        "NOT of a sequence at the start": _count("SEQ(NOT SEQ(E, D), A, B)"),
        "NOT of a sequence in between": _count("SEQ(A, NOT SEQ(E, D), B)"),
        "NOT of a sequence at the end": _count("SEQ(A, B, NOT SEQ(E, D))"),
        "NOT inside NOT": _count("SEQ(A, NOT SEQ(E, NOT C, D), B)"),
        "NOT under skip-till-next-match": _count("SEQ(A, NOT E, B)", _NEXT),
        "NOT under contiguous": _count("SEQ(A, B, NOT E)", _CONTIGUOUS),
    },
    "Predicates": {
        "local predicate": _count("SEQ(A, B)", "WHERE A.x > 2"),
        "local predicate of a negated type": _count("SEQ(A, NOT E, B)", "WHERE E.x > 2"),
        "two attributes of one event": _count("SEQ(A, B)", "WHERE A.x > A.g + 1"),
        "OR, NOT and IN on one event": _count("SEQ(A, B)", "WHERE (A.x IN (1, 2, 3) OR NOT A.g = 1) AND B.time > 1 s"),
        "equivalence": _count("SEQ(A, B)", "WHERE [g]"),
        "adjacent predicate between types": _count("SEQ(A, B)", "WHERE A.x < NEXT(B).x"),
        "adjacent predicate in Kleene": _count("A+", "WHERE A.x < NEXT(A).x"),
        "adjacent predicate with a factor": _count("A+", "WHERE A.x * 1.5 < NEXT(A).x"),
        "adjacent predicate with an offset": _count("A+", "WHERE A.x + 1 < NEXT(A).x"),
        "time between adjacent events": _count("SEQ(A, B)", "WHERE B.time - A.time <= 5 s"),
        "several adjacent predicates": _count("A+", "WHERE A.x < NEXT(A).x AND A.g = NEXT(A).g"),
        "adjacent predicate under skip-till-next-match": _count("A+", f"{_NEXT} WHERE A.x < NEXT(A).x"),
        "adjacent predicate under contiguous": _count("A+", f"{_CONTIGUOUS} WHERE A.x < NEXT(A).x"),
        "adjacent predicate beside NOT": _count("SEQ(A+, NOT E, B)", "WHERE A.x < NEXT(A).x"),
        "adjacent predicate inside NOT": _count("SEQ(A, NOT SEQ(E, D), B)", "WHERE E.x < NEXT(D).x"),
        "predicate on events that are not adjacent": _count("SEQ(A, B, C)", "WHERE A.x < C.x"),
    },
    "Returned": {
        "COUNT(*)": _returning("COUNT(*)"),
        "COUNT(E)": _returning("COUNT(A)"),
        "SUM": _returning("SUM(A.x)"),
        "AVG": _returning("AVG(A.x)"),
        "MIN": _returning("MIN(A.x)"),
        "MAX": _returning("MAX(A.x)"),
        "several aggregates": _returning("COUNT(*), COUNT(A), SUM(A.x), AVG(B.x), MIN(A.x), MAX(B.x)"),
        "SUM under skip-till-next-match": _returning("SUM(A.x)", _NEXT),
        "MATCHES": _returning("MATCHES"),
        "MATCHES of Kleene": "RETURN MATCHES PATTERN SEQ(A+, B) WITHIN 10 s",
        "MATCHES of AND": "RETURN MATCHES PATTERN SEQ(A, B) AND SEQ(C, D) WITHIN 10 s",
        "COMPLETE MATCHES": "RETURN COMPLETE MATCHES PATTERN SEQ(A+, B) WITHIN 10 s",
        "COMPLETE MATCHES of at least n": "RETURN COMPLETE MATCHES PATTERN SEQ(A{2,}, B) WITHIN 10 s",
        "COMPLETE MATCHES of n to m": "RETURN COMPLETE MATCHES PATTERN SEQ(A{2,3}, B) WITHIN 10 s",
        "COMPLETE MATCHES of a repeated type": "RETURN COMPLETE MATCHES PATTERN SEQ(A+, B, A) WITHIN 10 s",
    },
    "Groups and windows": {
        "GROUP-BY": "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g WITHIN 10 s",
        "no window": "RETURN COUNT(*) PATTERN SEQ(A, B)",
        "tumbling windows": "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s",
        "sliding windows": "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s SLIDE 2 s",
        "windows with gaps": "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 8 s SLIDE 10 s",
        "windows of events": "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 EVENTS",
        "sliding windows of events": "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 EVENTS SLIDE 3 EVENTS",
    },
    "Detection (PER MATCH)": {
        "detected sequence": _detect("SEQ(A, B, C)"),
        "detected within a number of events": _detect("SEQ(A, B)", span="6 EVENTS"),
        "detected Kleene": _detect("SEQ(A+, B)"),
        "detected AND": _detect("A AND B AND C"),
        "detected OR": _detect("SEQ(A, B) OR SEQ(C, D)"),
        "detected OR of types in a sequence": _detect("SEQ(A, (B OR C) x, D)"),
        "detected OR of types in Kleene": _detect("SEQ(A, (B OR C)+ x, D)"),
        "COUNT(*) of detected matches": f"RETURN COUNT(*) {_detect('SEQ(A, B, C)')}",
        "detected NOT at the start": _detect("SEQ(NOT E, A, B)"),
        "detected NOT in between": _detect("SEQ(A, NOT E, B)"),
        "detected NOT at the end": _detect("SEQ(A, B, NOT E)"),
        "detected predicate of two events": _detect("SEQ(A, B, C)", "WHERE A.x < C.x"),
        "detected predicate of two times": _detect("SEQ(A, B, C)", "WHERE C.time - A.time <= 6 s"),
        "detected OR, NOT and IN on one event": _detect("SEQ(A, B)", "WHERE A.x IN (1, 2, 3) OR NOT A.x < A.g + 4"),
    },
    "Workloads": {
        "queries that share a Kleene sub-pattern": f"{_count('SEQ(A, C+)')};{_count('SEQ(B, C+)')}",
        "queries that share a sub-sequence": f"{_count('SEQ(A, B, C)')};{_count('SEQ(A, B, D)')}",
        "queries with windows that differ": f"{_count('SEQ(A, B)')}; RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 20 s",
        "queries with aggregates that differ": f"{_returning('SUM(A.x)')};{_returning('MAX(A.x)')}",
        "queries with predicates that differ": (
            f"{_count('SEQ(A, B)', 'WHERE A.x > 2')};{_count('SEQ(A, B)', 'WHERE A.x > 4')}"
        ),
        "detection that shares a sub-sequence": f"{_detect('SEQ(A, B, C)')};{_detect('SEQ(A, B, D)')}",
    },
}

SUITE: tuple[Asked, ...] = tuple(
    Asked(group, name, workload) for group, asked in _GROUPS.items() for name, workload in asked.items()
)
