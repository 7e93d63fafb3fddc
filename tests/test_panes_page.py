"""The worked example of docs/panes.md is what the evaluator computes."""

import re
from pathlib import Path

import numpy as np
import pytest

from cepbench.algorithms.cogra.panes import PaneGrained
from cepbench.algorithms.running.evaluator import WHOLE_STREAM
from cepbench.algorithms.running.lanes import OneLane
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.cases import stream
from tests.contract.streams import batch

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "panes.md").read_text()
QUERY = re.search(r"For `(RETURN [^`]*)` the events", PAGE)
NEGATED = re.search(r"For `(RETURN [^`]*)` the numbers", PAGE)
NEGATED_ROWS = re.findall(
    r"^([ABC\d ]+?)  +(no event|A before C or B|ends with B) +(\d+) +(\d+) +(\d+)$", PAGE, re.MULTILINE
)
ROWS = re.findall(r"^([AB\d ]+?)  +(A next|A or B next) +(\d+) +(\d+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("events", dict.fromkeys(row[0] for row in ROWS))
def test_the_maps_of_the_example(events: str) -> None:
    assert QUERY is not None
    given = batch(stream(events))
    [query] = compile_workload([parse_query(QUERY[1])], given.schema).queries
    evaluator = PaneGrained(query, query.parts[0], WHOLE_STREAM)
    OneLane(evaluator).process(given)
    expected = [[int(count) for count in row[2:]] for row in ROWS if row[0] == events]
    assert evaluator.product().ring[:, 0].reshape(2, 2).tolist() == expected


def test_the_product_of_the_example() -> None:
    first, second, together = (
        np.array([[int(a), int(b)] for events, _, a, b in ROWS if events == some])
        for some in dict.fromkeys(row[0] for row in ROWS)
    )
    entry_after = [1, 0]
    assert (together == first + second + first @ second[entry_after]).all()
    assert f"{together[0, 1]} matches" in PAGE


def negated_map(events: str) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[int(count) for count in row[2:]] for row in NEGATED_ROWS if row[0] == events])


@pytest.mark.parametrize("events", dict.fromkeys(row[0] for row in NEGATED_ROWS))
def test_the_maps_of_the_example_with_negation(events: str) -> None:
    assert NEGATED is not None
    given = batch(stream("A1 B2 C3 B4"))  # of which the query's types are known
    [query] = compile_workload([parse_query(NEGATED[1])], given.schema).queries
    evaluator = PaneGrained(query, query.parts[0], WHOLE_STREAM)
    first, last = (0, 2) if events == "A1 B2" else (2, 4)
    OneLane(evaluator).process(given.slice(first, last))
    found = evaluator.product().ring[:, 0].reshape(4, 3)[:, ::-1]  # columns: B, A, no event
    assert found[0].tolist() == found[3].tolist() == negated_map(events)[0].tolist()
    assert found[:0:-1].tolist() == negated_map(events).tolist()


def test_the_product_of_the_example_with_negation() -> None:
    row = (negated_map("A1 B2") @ negated_map("C3 B4"))[0]
    assert f"In the product, the first row is {', '.join(map(str, row.tolist()))}" in PAGE
