"""Selectivities that are measured on a sample, and given ones."""

from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.patterns import patterns_of
from cepbench.algorithms.detection.mcep.planning.selectivities import (
    Selectivities,
    conditions_of,
    measured_selectivities,
)
from cepbench.events.errors import CepbenchError
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Op
from cepbench.queries.parser import parse_query
from tests.algorithms.detection.mcep.planning.workloads import alone, compared, local, pair, patterns
from tests.contract.streams import batch
from tests.streams import stream

LESS = compared("x", 1, Op.LT, "x", 1)


def test_pairs_and_filters_of_a_small_sample() -> None:
    measured = measured_selectivities(
        patterns("SEQ(A a, B b) WHERE a.x < b.x AND a.x > 3"), batch(stream("A1/2 B1/5 A2/4 B4/3 A9/9"))
    )
    assert measured.of(pair("A", "B", LESS)) == (3 + 1) / (6 + 2)  # 2 < 5, 2 < 3, 4 < 5
    assert measured.of(alone("A", local("x", 1, Op.GT, 3))) == (2 + 1) / (3 + 2)
    assert measured.events == 5
    assert measured.seconds > 0


def test_conditions_on_two_events_are_measured_together_and_one_by_one() -> None:
    """Where both values of one event are above those of the other, which neither condition alone tells."""
    events = [{"time": t, "type": "AB"[t % 2], "x": t % 5, "y": 4 - t % 5} for t in range(20)]
    measured = measured_selectivities(patterns("SEQ(A a, B b) WHERE a.x < b.x AND a.y < b.y"), batch(events))
    of_y = compared("y", 1, Op.LT, "y", 1)
    assert measured.of(pair("A", "B", LESS, of_y)) == (0 + 1) / (100 + 2)
    assert measured.of(pair("A", "B", LESS)) == measured.of(pair("A", "B", of_y)) == (40 + 1) / (100 + 2)


def test_filters_of_an_event_are_measured_together() -> None:
    measured = measured_selectivities(patterns("A a WHERE a.x > 3 AND a.x < 5"), batch(stream("A1/2 A2/4 A3/6 A4/8")))
    above, below = local("x", 1, Op.GT, 3), local("x", 1, Op.LT, 5)
    assert measured.of(alone("A", above, below)) == (1 + 1) / (4 + 2)


def test_no_event_is_compared_with_itself() -> None:
    measured = measured_selectivities(patterns("SEQ(A p, A q) WHERE p.x = q.x"), batch(stream("A1/1 A2/1 A3/2")))
    same = compared("x", 1, Op.EQ, "x", 1)
    assert measured.of(pair("A", "A", same)) == (2 + 1) / (6 + 2)


def test_factors_and_strings() -> None:
    events = [{"time": t, "type": "AB"[t % 2], "x": t, "s": "uv"[t % 3 == 0]} for t in range(8)]
    sample = batch(events)
    texts = ["SEQ(A a, B b) WHERE 2 * a.x < b.x", "SEQ(A a, B b) WHERE a.s = b.s AND b.s = 'u'"]
    queries = [parse_query(f"PATTERN {text} WITHIN 9 s PER MATCH") for text in texts]

    measured = measured_selectivities(patterns_of(compile_workload(queries, sample.schema)), sample)
    pairs = [(a, b) for a in events for b in events if (a["type"], b["type"]) == ("A", "B")]
    doubled = sum(2 * int(str(a["x"])) < int(str(b["x"])) for a, b in pairs)
    assert measured.of(pair("A", "B", compared("x", 2, Op.LT, "x", 1))) == (doubled + 1) / 18
    equal = sum(a["s"] == b["s"] for a, b in pairs)
    assert measured.of(pair("A", "B", compared("s", 1, Op.EQ, "s", 1))) == (equal + 1) / 18
    passing = sum(one["s"] == "u" for one in events if one["type"] == "B")
    assert measured.of(alone("B", local("s", 1, Op.EQ, "u"))) == (passing + 1) / 6


def test_a_large_sample_is_thinned_evenly() -> None:
    random = Random(1)
    events = " ".join(f"{'AB'[t % 2]}{t}/{random.randrange(1000)}" for t in range(4000))
    given = patterns("SEQ(A a, B b) WHERE a.x < b.x")
    thin, every = (measured_selectivities(given, batch(stream(events)), k) for k in (200, 2000))
    assert thin.of(pair("A", "B", LESS)) == pytest.approx(every.of(pair("A", "B", LESS)), abs=0.05)
    assert thin.of(pair("A", "B", LESS)) != every.of(pair("A", "B", LESS))


def test_what_is_unknown_holds() -> None:
    given = patterns("SEQ(A a, B b) WHERE a.x < b.x")
    measured = measured_selectivities(given, batch(stream("A1/1 A2/2")))
    assert measured.of(pair("A", "B", LESS)) == 1
    assert not measured.values


def test_conditions_are_listed_once() -> None:
    found = conditions_of(patterns("SEQ(A a, B b) WHERE a.x < b.x", "SEQ(B b, A a) WHERE a.x < b.x AND a.x > 1"))
    assert found == (pair("A", "B", LESS), alone("A", local("x", 1, Op.GT, 1)))
    of_y = compared("y", 1, Op.GT, "y", 1)
    both = conditions_of(patterns("SEQ(A a, B b) WHERE a.x < b.x AND a.y > b.y", "SEQ(A a, B b) WHERE a.x < b.x"))
    assert both == (pair("A", "B", LESS, of_y), pair("A", "B", LESS), pair("A", "B", of_y))


@pytest.mark.parametrize("value", [-0.1, 1.5])
def test_probabilities_only(value: float) -> None:
    with pytest.raises(CepbenchError, match="must be between 0 and 1"):
        Selectivities({pair("A", "B", LESS): value})
