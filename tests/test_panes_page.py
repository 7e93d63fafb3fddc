"""The worked example of docs/panes.md is what the evaluator computes."""

import re
from pathlib import Path

import numpy as np
import pytest

from cepbench.algorithms.cogra.panes import PaneGrained
from cepbench.algorithms.running.evaluator import WHOLE_STREAM
from cepbench.events.windows import FOREVER
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.cases import stream
from tests.contract.streams import batch

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "panes.md").read_text()
QUERY = re.search(r"For `(RETURN [^`]*)` the events", PAGE)
ROWS = re.findall(r"^([AB\d ]+?)  +(A next|A or B next) +(\d+) +(\d+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("events", dict.fromkeys(row[0] for row in ROWS))
def test_the_maps_of_the_example(events: str) -> None:
    assert QUERY is not None
    given = batch(stream(events))
    [query] = compile_workload([parse_query(QUERY[1])], given.schema).queries
    evaluator = PaneGrained(query, query.parts[0], WHOLE_STREAM)
    evaluator.process(given)
    evaluator.advance(FOREVER - 1)
    expected = [[int(count) for count in row[2:]] for row in ROWS if row[0] == events]
    assert evaluator.current().ring[:, 0].reshape(2, 2).tolist() == expected


def test_the_product_of_the_example() -> None:
    first, second, together = (
        np.array([[int(a), int(b)] for events, _, a, b in ROWS if events == some])
        for some in dict.fromkeys(row[0] for row in ROWS)
    )
    entry_after = [1, 0]
    assert (together == first + second + first @ second[entry_after]).all()
    assert f"{together[0, 1]} matches" in PAGE
