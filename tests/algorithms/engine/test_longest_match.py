"""The longest match of Kleene patterns, window by window."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from cepbench.algorithms.compose import WHOLE_STREAM
from cepbench.algorithms.engine.longest_match import LongerMatch, LongestMatch
from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Matches, Query
from cepbench.queries.parser import parse_query
from cepbench.verification.random_cases import batch_of, random_case, split
from tests.contract.streams import batch
from tests.streams import stream


def followed(query: Query, batches: Sequence[EventBatch], max_length: int | None = None) -> LongestMatch:
    [compiled] = compile_workload([query], batches[0].schema)
    return LongestMatch(compiled, compiled.parts[0], compiled.window or WHOLE_STREAM, max_length)


def longest(text: str, events: str) -> int:
    pieces = split(batch(stream(events)), ())
    return followed(parse_query(f"RETURN COUNT(*) PATTERN {text}"), pieces).follow(pieces[0])


@pytest.mark.parametrize(
    ("pattern", "events", "length"),
    [
        ("A+", "A1 A2 A2 A3", 3),
        ("SEQ(A+, B)", "A1 A2 A3", 0),
        ("(SEQ(A, B))+", "A1 B2 B3 A3 B4 A5", 4),
        ("A+ WITHIN 3 s SLIDE 2 s", "A1 A2 A3 A4 A5", 3),
        ("A+ WITHIN 2 s", "A1 A2 A3 A4", 2),
        ("A+ WITHIN 1 s SLIDE 3 s", "A1 A2 A3 A4", 1),
        ("SEQ(A+, NOT C, B)", "A1 A2 C3 A4 B5", 4),
        ("SEQ(A+, NOT C, B)", "A1 A2 C2 B3", 3),
        ("SEQ(A+, NOT C, B)", "A1 A2 C3 B4", 0),
        ("SEQ(A+, NOT C, B)", "A1 C2 B2 A3 B4", 3),
        ("SEQ(A+, NOT C, B)", "A1 C2 D2 B3", 0),
        ("A+ WITHIN 4 EVENTS SLIDE 2 EVENTS", "A1 A1 A2 B3 A4 A5", 3),
    ],
)
def test_examples(pattern: str, events: str, length: int) -> None:
    assert longest(pattern, events) == length


def test_the_bound_is_named() -> None:
    pieces = split(batch(stream("A1 A2 A3")), ())
    follow = followed(parse_query("q7: RETURN COUNT(*) PATTERN A+"), pieces, 2)
    with pytest.raises(LongerMatch, match="query q7: a match has 3 events, more than max_length=2"):
        follow.check(pieces[0])


def test_a_match_as_long_as_the_bound_is_allowed() -> None:
    pieces = split(batch(stream("A1 A2 A3")), ())
    followed(parse_query("RETURN COUNT(*) PATTERN A+"), pieces, 3).check(pieces[0])


def test_windows_that_count_events_go_on_from_batch_to_batch() -> None:
    """The third and the fourth event are in no window together."""
    pieces = split(batch(stream("A1 A2 A3 A4 A5")), (1, 2))
    follow = followed(parse_query("RETURN COUNT(*) PATTERN A+ WITHIN 3 EVENTS"), pieces)
    assert [follow.follow(piece) for piece in pieces] == [1, 2, 3]


@pytest.mark.full
def test_random_cases_however_they_are_cut() -> None:
    compared = 0
    for seed in range(1200):
        case = random_case(seed)
        if case.query.partition:
            continue
        query = replace(case.query, returns=Matches())
        pieces = split(batch_of(case.events), case.cuts)
        try:
            rows = answer(query, case.events, limit=20_000)
            follow = followed(query, pieces)
        except (QueryError, TooManyMatches):
            continue
        part = follow.query.parts[0]
        simple = query.semantics.name == "ANY" and not follow.query.analysis.conjunction
        ends = any(position.start or position.end for position in part.automaton.positions)
        if not simple or ends or len(part.tables.adjacent.one) or part.automaton.pairwise:
            continue
        length = max(follow.follow(piece) for piece in pieces)
        assert length == max((len(row["match"]) for row in rows), default=0), seed
        compared += len(rows) > 0
    assert compared > 50


def test_shuffled_batches_of_one_time_stamp() -> None:
    random = Random(3)
    events = batch(stream("A1 B1 A1 A2 B2 A3"))
    for _ in range(10):
        cuts = sorted(random.sample(range(1, 6), 3))
        pieces = split(events, cuts)
        follow = followed(parse_query("RETURN COUNT(*) PATTERN (SEQ(A+, B?))+"), pieces)
        assert int(np.max([follow.follow(piece) for piece in pieces])) == 3


@pytest.mark.parametrize("name", ["aseq", "sharon", "spass"])
def test_bounds_are_read_alike(name: str) -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A+")
    assert make(f"{name}[max_length=4]").unsupported(query) is None
    assert make(f"{name}[max_length=none]").unsupported(query) == make(name).unsupported(query)
    for text in ("0", "-1", "many", "1.5", "9" * 5000):
        with pytest.raises(CepbenchError, match=f"max_length={text}.: max_length is none or a whole number"):
            make(f"{name}[max_length={text}]")
