"""The worked example of docs/panes.md is what the evaluator computes."""

import re
from pathlib import Path

import numpy as np

from cepbench.algorithms.compose import WHOLE_STREAM
from cepbench.algorithms.engine.lanes import OneLane
from cepbench.algorithms.trends.cogra.kernels.pane_products import PRODUCT
from cepbench.algorithms.trends.cogra.panes import PaneGrained
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.cases import stream
from tests.contract.streams import batch

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "panes.md").read_text()
QUERY = re.search(r"For `(RETURN [^`]*)` the events", PAGE)
NEGATED = re.search(r"For `(RETURN [^`]*)` the maps", PAGE)
NEGATED_ROWS = re.findall(r"^([AB\d ]+C[ABC\d ]+?)  +(A next|B next) +(\d+) +(\d+)$", PAGE, re.MULTILINE)
ROWS = re.findall(r"^([AB\d ]+?)  +(A next|A or B next) +(\d+) +(\d+)$", PAGE, re.MULTILINE)


Counts = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def counts_of(rows: list[tuple[str, ...]]) -> list[Counts]:
    """The table of each of the events, in the order of the page."""
    return [
        np.array([[int(a), int(b)] for events, _, a, b in rows if events == some])
        for some in dict.fromkeys(row[0] for row in rows)
    ]


def map_of(query: re.Match[str] | None, events: EventBatch) -> list[list[int]]:
    """Of all events, a row per entry; columns of positions in their order, of which the last is the only END."""
    assert query is not None
    [compiled] = compile_workload([parse_query(query[1])], events.schema).queries
    evaluator = PaneGrained(compiled, compiled.parts[0], WHOLE_STREAM)
    OneLane(evaluator).process(events)
    cells = evaluator.ended().cells.ring[0, int(PRODUCT) * 4 :][:4, 0]
    found: list[list[int]] = cells.reshape(2, 2)[:, ::-1].tolist()
    return found


def test_the_maps_of_the_example() -> None:
    for events, expected in zip(dict.fromkeys(row[0] for row in ROWS), counts_of(ROWS), strict=True):
        assert map_of(QUERY, batch(stream(events))) == expected.tolist()


def test_the_product_of_the_example() -> None:
    first, second, together = counts_of(ROWS)
    entry_after = [1, 0]
    assert (together == first + second + first @ second[entry_after]).all()
    assert f"{together[0, 1]} matches" in PAGE


def test_the_maps_of_the_example_with_negation() -> None:
    given = batch(stream("B1 C2 A3 B4 C5 B6"))
    parts = (given.slice(0, 3), given.slice(3, 6), given)
    for events, expected in zip(parts, counts_of(NEGATED_ROWS), strict=True):
        assert map_of(NEGATED, events) == expected.tolist()


def test_the_product_of_the_example_with_negation() -> None:
    first, second, together = counts_of(NEGATED_ROWS)
    kept = np.array([0, 1])  # a C in the second part removes what ends with an A
    goes_on = np.array([[1], [0]])  # and one in the first part what comes after the entry B next
    assert (together == first * kept + second * goes_on + first[:, :1] * second[1]).all()
