"""Operands that are an OR of types, as one clause per type, and counts of detected matches."""

from __future__ import annotations

from random import Random

import pytest

from cepbench.algorithms.detection.mcep.aggregation import MAX_CLAUSES
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.detection.mcep.engine.plans import random_rows
from tests.contract.streams import batch


@pytest.mark.parametrize("spec", ["mcep[plan=sh]", "mcep[sharing=prefix, plan=trivial]", "mcep[adapt=2, sample=8]"])
@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ((A OR B) x, C c) WHERE x.x <= c.x WITHIN 5 s PER MATCH",
        "PATTERN SEQ((A a OR A b) x, B+) WHERE a.x > 1 AND b.x < 3 WITHIN 4 events PER MATCH",
        "RETURN COUNT(*) PATTERN SEQ((A OR B) x, (B OR C) y, A) WITHIN 6 s PER MATCH",
        "RETURN COUNT(*) PATTERN SEQ(A, NOT (C), B, NOT C) OR A AND B+ WITHIN 4 s PER MATCH",
        "RETURN g, COUNT(*) PATTERN SEQ(A, B) GROUP-BY g WITHIN 6 s PER MATCH",
    ],
)
def test_answers_are_those_of_the_oracle(spec: str, text: str) -> None:
    random = Random(text)
    query = parse_query(text)
    events = [{**row, "g": random.randrange(2)} for row in random_rows(random, 40)]
    expected = answer(query, events)
    assert expected
    pieces = split(batch(events), random_cuts(random, 40))
    assert difference(expected, run(make(spec), query, pieces, promise=True, pickled=True)) is None


def test_what_comes_to_no_clauses_or_to_too_many() -> None:
    mcep = make("mcep")
    reason = mcep.unsupported(parse_query("PATTERN SEQ(A, (B OR C)+ x) WITHIN 5 s PER MATCH"))
    assert reason is not None
    assert "OR in a Kleene operand" in reason
    many = ", ".join(f"(A OR B) x{n}" for n in range(9))
    reason = mcep.unsupported(parse_query(f"PATTERN {many} WITHIN 5 s PER MATCH"))
    assert reason is not None
    assert f"more than {MAX_CLAUSES} clauses" in reason
    assert mcep.unsupported(parse_query(f"PATTERN {many.removesuffix(', (A OR B) x8')} WITHIN 5 s PER MATCH")) is None
