"""Events and conditions as plain values."""

import pandas as pd
import pytest

from cepbench.algorithms.engine.plain import compares_neighbors_only, may_follow, plain_events
from cepbench.events.files import read_events
from cepbench.queries.analysis import analyse
from cepbench.queries.parser import parse_query

EVENTS = pd.DataFrame(
    {"time": [1, 2, 2], "type": ["A", "B", "A"], "n": [1, 2, 1], "x": [1.5, 3.0, 1.5], "name": ["u", "v", "u"]}
)


def test_events_are_dictionaries() -> None:
    assert plain_events(read_events(EVENTS).batch) == EVENTS.to_dict("records")
    assert plain_events(read_events(EVENTS).batch.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("S.n < NEXT(S).n", True),
        ("S.n >= NEXT(S).n", False),
        ("S.n != NEXT(S).n", True),
        ("S.name = NEXT(S).name", False),
        ("2 * S.n <= NEXT(S).n", True),
        ("2 * S.x < NEXT(S).x", False),
        ("S.x > NEXT(S).n", False),
        ("NEXT(S).n - S.n <= 1", True),
        ("S.x + 1 >= NEXT(S).x", False),
        ("NEXT(S).time - S.time < 1000 ms", False),
        ("NEXT(S).time - S.time < 2 s", True),
        ("[name] AND S.n < NEXT(S).n AND S.x > NEXT(S).x", False),
    ],
)
def test_conditions_of_a_transition(condition: str, holds: bool) -> None:
    [transition] = analyse(parse_query(f"RETURN COUNT(*) PATTERN E+ S WHERE {condition}")).automata[0].transitions
    first, second, third = plain_events(read_events(EVENTS).batch)
    assert may_follow(transition, first, second, "s") is holds
    assert not may_follow(transition, second, third, "s"), "they are simultaneous"


@pytest.mark.parametrize(
    ("condition", "only"),
    [
        ("[n]", True),
        ("a.n < b.n", True),
        ("b.n < NEXT(b).n", True),
        ("b.n > 3", False),
        ("a.n < c.n", False),
    ],
)
def test_queries_that_compare_neighbors_only(condition: str, only: bool) -> None:
    query = parse_query(f"RETURN COUNT(*) PATTERN SEQ(A a, B+ b, C c) WHERE {condition}")
    assert compares_neighbors_only(query) is only
