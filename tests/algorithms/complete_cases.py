"""Random queries for complete matches on random streams, compared with the oracle."""

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from cepbench.algorithms.base import Algorithm
from cepbench.queries.model import occurrences
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import expected_rows
from cepbench.verification.evaluators import answer_of, subject_of
from cepbench.verification.random_cases import Case, Rows, batch_of, random_cuts, split
from cepbench.verification.verify import smallest_failure, wrong

TRANSITIONS = {
    "A+": ("AA",),
    "SEQ(A+, B)": ("AA", "AB"),
    "(SEQ(A+, B))+": ("AA", "AB", "BA"),
    "A+ OR B+": ("AA", "BB"),
    "(A OR B)+": ("AA", "AB", "BA", "BB"),
    "SEQ(A, B?, C*)": ("AB", "AC", "BC", "CC"),
}
REPEATED = {
    "A{3,}": ("AA",),
    "SEQ(A{2,}, B)": ("AA", "AB"),
    "SEQ(B, A{2,}, B)": ("AA", "AB", "BA"),
    "SEQ(A, A+)": ("AA",),
    "SEQ(A+, B, A)": ("AA", "AB", "BA"),
    "SEQ(A, B, A)": ("AB", "BA"),
    "A{2}": ("AA",),
    "SEQ(A{2,}, B{2}, C?)": ("AA", "AB", "BB", "BC"),
    "(SEQ(A+, B)){2,}": ("AA", "AB", "BA"),
    "(A OR B){2,}": ("AA", "AB", "BA", "BB"),
    "SEQ(A?, B, A)": ("AB", "BA"),
}
"""Patterns with several positions of a type."""

NO_PATHS = {
    "A{1,3}": ("AA",),
    "SEQ(A{2,3}, B)": ("AA", "AB"),
    "SEQ(A+, A)": ("AA",),
    "(SEQ(A{2,}, B))+": ("AA", "AB", "BA"),
    "SEQ(A+, NOT C, B)": ("AA", "AB"),
    "A{2,} SEMANTICS next": ("AA",),
}
"""Patterns whose matches have to be compared with one another to find the complete matches."""
"""The transitions of each pattern, on which predicates are drawn."""

PREDICATES = ("{0}.x = NEXT({1}).y", "{0}.x != NEXT({1}).x", "{0}.x < NEXT({1}).x", "{0}.s = NEXT({1}).s")
"""All but the third hold for a and b, and b and c, without holding for a and c."""

SEEDS = range(40)


def check_complete_matches(algorithm: Algorithm, seed: int, patterns: tuple[str, ...] = tuple(TRANSITIONS)) -> int:
    """Asserts that the complete matches of a random case, and their digests, are right; returns how many there are."""
    case = complete_case(seed, patterns)
    subject = subject_of(algorithm)
    assert wrong(case, subject, [expected_matches(seed, patterns)]) is None, str(smallest_failure(case, subject))
    batches = split(batch_of(case.events), case.cuts)
    plain, summarised = (
        answer_of(algorithm, case.query, batches, promise=case.promise, pickled=case.pickled, summarised=flag)
        for flag in (False, True)
    )
    assert summarised.digest() == plain.digest()
    assert summarised.matches == plain.rows
    return plain.rows


@cache
def expected_matches(seed: int, patterns: tuple[str, ...] = tuple(TRANSITIONS)) -> Rows:
    """The oracle's answer to a case, for all that are asked."""
    [rows] = expected_rows(complete_case(seed, patterns), listed=True)
    return rows


@cache
def complete_case(seed: int, patterns: tuple[str, ...] = tuple(TRANSITIONS)) -> Case:
    """A query on a stream with ties in one or two groups, in one window or several, and where its batches are cut."""
    random = Random(seed)
    pattern = random.choice(patterns)
    all_transitions = (TRANSITIONS | REPEATED | NO_PATHS)[pattern]
    transitions = random.sample(all_transitions, random.randint(0, len(all_transitions)))
    predicates = [random.choice(PREDICATES).format(*transition) for transition in transitions]
    where = f" WHERE {' AND '.join(predicates)}" if predicates else ""
    group = random.choice(("", " GROUP-BY g"))
    windows = random.choice(
        ("", " WITHIN 6 s", " WITHIN 8 s SLIDE 3 s", " WITHIN 5 s SLIDE 2 s", " WITHIN 3 s SLIDE 5 s")
    )
    query = parse_query(f"RETURN COMPLETE MATCHES PATTERN {pattern}{where}{group}{windows}")
    types = sorted({event.type for event in occurrences(query.pattern)})
    events = _events(random, types, random.randint(0, 30 if windows and predicates else 11))
    return Case(seed, (query,), events, random_cuts(random, len(events)), random.random() < 0.5, random.random() < 0.3)


def _events(random: Random, types: list[str], size: int) -> tuple[Mapping[str, Any], ...]:
    """Few values, so that the predicates often hold."""
    ties, groups = random.choice((0.0, 0.2, 0.5)), random.choice((1, 2))
    time = random.choice((0, 4))
    events = []
    for _ in range(size):
        values = {"g": random.randint(1, groups), "h": 1, "x": random.randint(0, 2), "y": float(random.randint(0, 2))}
        events.append({"time": time, "type": random.choice(types), **values, "s": random.choice("uv")})
        time += 0 if random.random() < ties else random.choice((1, 1, 2))
    return tuple(events)
