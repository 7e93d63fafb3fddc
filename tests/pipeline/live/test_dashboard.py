"""The page of a live stream: its content, and the hosts that may read it."""

import json
from collections.abc import Iterator
from datetime import datetime
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.live.dashboard import BATCHES, ROWS, Batch, Dashboard
from cepbench.pipeline.live.sink import Sink, as_json


class Kept(Sink):
    """A sink that keeps the names of its batches."""

    def __init__(self) -> None:
        self.batches: list[str] = []

    def put(self, batch: str, rows: pa.Table) -> None:
        self.batches.append(batch)


@pytest.fixture
def page() -> Dashboard:
    return Dashboard(Kept(), {"Queries": "RETURN COUNT(*) PATTERN A"})


@pytest.fixture
def port(page: Dashboard) -> Iterator[int]:
    with page.served(0) as address:
        assert address.startswith("http://127.0.0.1:")
        number = urlsplit(address).port
        assert number is not None
        yield number


def got(port: int, path: str, host: str = "127.0.0.1") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_numbers_that_json_does_not_know_are_texts() -> None:
    [row] = as_json(pa.table({"most": [float("inf")], "mean": [float("nan")], "sum": [1.5], "none": pa.nulls(1)}))
    assert json.loads(row) == {"most": "inf", "mean": "nan", "sum": 1.5}


def test_the_page_has_the_latest_batches_and_rows(page: Dashboard, port: int) -> None:
    for number in range(BATCHES + 5):
        page.note(Batch(number, 100, 1, 2, 50.0, 0.1, 0.4, 7, 1000), {"events": 100 * (number + 1)})
    page.put("00000000", pa.table({"query": ["q"] * 30, "window_end": [datetime(2024, 3, 1)] * 30, "n": range(30)}))
    assert isinstance(page.sink, Kept)
    assert page.sink.batches == ["00000000"]
    status, text = got(port, "/state")
    shown = json.loads(text)
    assert status == 200
    assert [batch["ended"] for batch in shown["batches"]] == [*range(5, BATCHES + 5)]
    assert shown["totals"] == {"events": 100 * (BATCHES + 5)}
    assert [row["n"] for row in shown["rows"]] == [*range(29, 29 - ROWS, -1)]
    assert shown["rows"][0]["window_end"] == "2024-03-01T00:00:00"


def test_the_page_loads_nothing_from_elsewhere(port: int) -> None:
    status, text = got(port, "/")
    assert status == 200
    assert "<title>" in text
    assert text.count("://") == text.count("http://www.w3.org/2000/svg")


def test_only_this_machine_is_served(port: int) -> None:
    assert got(port, "/", "localhost")[0] == 200
    assert got(port, "/state", "elsewhere.example")[0] == 403
    assert got(port, "/../etc")[0] == 404


def test_a_port_that_is_used_is_said_in_one_line(page: Dashboard, port: int) -> None:
    with pytest.raises(CepbenchError, match=f"dashboard: port {port} cannot be used"), page.served(port):
        pass
