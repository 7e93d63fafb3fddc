"""The worked examples of docs/panes.md have the numbers that COGRA answers.

A row of a map stands for the events before (none, or an A), and a column for the end of trends. A B behind all events
shows how many trends end with an A.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cepbench import evaluate

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "panes.md").read_text()
QUERIES = re.findall(r"For `(RETURN [^`]*)` the", PAGE)
TABLES = [
    re.findall(r"^((?:[ABC]\d )*[ABC]\d)  +[AB][ orAB]* next +(\d+) +(\d+)$", block, re.MULTILINE)
    for block in re.findall(r"```text\nevents.*?```", PAGE, re.DOTALL)
]


def maps(table: list[tuple[str, str, str]]) -> dict[str, np.ndarray]:
    """A row per entry, a column per position, of each of the events."""
    return {events: np.array([[int(a), int(b)] for text, a, b in table if text == events]) for events, *_ in table}


def count(query: str, events: str) -> int:
    stream = pd.DataFrame([{"type": word[0], "time": int(word[1:])} for word in events.split()])
    return int(evaluate(query, stream, "cogra[windows=panes]")["COUNT(*)"].sum())


@pytest.mark.filterwarnings("ignore:query q1. the stream has no events of type A")
@pytest.mark.parametrize(("query", "table"), list(zip(QUERIES, TABLES, strict=True)))
def test_the_maps_of_the_examples(query: str, table: list[tuple[str, str, str]]) -> None:
    assert len(table) == 6
    for events, expected in maps(table).items():
        whole, ended = count(query, events), count(query, f"{events} B9")
        begun, surrounded = count(query, f"A0 {events}"), count(query, f"A0 {events} B9")
        direct = count(query, " ".join(["A0", *(word for word in events.split() if "C" in word), "B9"]))
        to_b = np.array([whole, begun - whole])
        to_a = np.array([ended, surrounded - ended - direct]) - to_b
        answers = np.column_stack([to_a, to_b])
        assert answers.tolist() == expected.tolist(), events


def test_the_products_of_the_examples() -> None:
    first, second, together = maps(TABLES[0]).values()
    assert (together == first + second + first @ second[[1, 0]]).all()
    assert f"{together[0, 1]} matches" in PAGE
    first, second, together = maps(TABLES[1]).values()
    ending_in_b = np.array([0, 1])  # a C in the second part empties the column of the A's
    goes_on = np.array([[1], [0]])  # and a C in the first part empties the row of the entry "B next"
    assert (together == first * ending_in_b + second * goes_on + first[:, :1] * second[1]).all()
