"""A page on this machine that shows a live stream while it runs: rate, lag, latency, state, and the latest rows.

The page requests the numbers each second. It loads nothing from other hosts, and only this machine can open it.
"""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

import pyarrow as pa

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.live.sink import Sink, as_json

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""Accepted names in `Host`: a page of another site that resolves its own name to this machine is refused."""
BATCHES, ROWS = 600, 20
"""Numbers of the latest batches and rows that are shown."""


@dataclass(frozen=True)
class Batch:
    """The numbers of a batch on the page.

    - `ended`: seconds since 1970.
    - `events`: all that arrived; `late`: the late ones of these; `rows`: written rows.
    - `rate`: events per second since the end of the previous batch.
    - `lag`: seconds from the first arrival to the start of the batch; `latency`: to its end, with rows in the sink.
    - `waiting`: events that wait for the watermark; `state`: bytes of the checkpoint after the batch.
    """

    ended: float
    events: int
    late: int
    rows: int
    rate: float
    lag: float
    latency: float
    waiting: int
    state: int


class Dashboard(Sink):
    """The page of a stream; passes rows on to `sink` and keeps the latest. `facts` are texts to show, by name."""

    def __init__(self, sink: Sink, facts: Mapping[str, str]) -> None:
        self.sink, self.facts = sink, facts
        self.batches: deque[Batch] = deque(maxlen=BATCHES)
        self.rows: deque[dict[str, Any]] = deque(maxlen=ROWS)
        self.totals: dict[str, int] = {}

    def __str__(self) -> str:
        return str(self.sink)

    def check_new(self) -> None:
        self.sink.check_new()

    def put(self, batch: str, rows: pa.Table) -> None:
        self.sink.put(batch, rows)
        self.rows.extend(json.loads(row) for row in as_json(rows.slice(max(0, rows.num_rows - ROWS))))

    def note(self, batch: Batch, totals: Mapping[str, int]) -> None:
        """Adds a finished batch and the new totals."""
        self.totals = dict(totals)
        self.batches.append(batch)

    def content(self) -> bytes:
        """The content of the page as JSON."""
        shown = {
            "facts": self.facts,
            "totals": self.totals,
            "batches": [asdict(batch) for batch in tuple(self.batches)],
            "rows": list(reversed(tuple(self.rows))),
        }
        return json.dumps(shown).encode()

    @contextmanager
    def served(self, port: int) -> Iterator[str]:
        """Serves the page and yields its address. Raises `CepbenchError` if the port cannot be used."""
        try:
            server = ThreadingHTTPServer((HOST, port), _handler(self))
        except OSError as error:
            raise CepbenchError(
                f"dashboard: port {port} cannot be used: {(error.strerror or str(error)).lower()}"
            ) from None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://{HOST}:{server.server_port}/"
        finally:
            server.shutdown()
            server.server_close()


def _handler(dashboard: Dashboard) -> type[BaseHTTPRequestHandler]:
    page = (files("cepbench.pipeline.live") / "dashboard.html").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Host", "").partition(":")[0] not in NAMES:
                self.send_error(403)
            elif self.path == "/":
                self._answer("text/html; charset=utf-8", page)
            elif self.path == "/state":
                self._answer("application/json", dashboard.content())
            else:
                self.send_error(404)

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; img-src data:")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are not logged."""

    return Handler
