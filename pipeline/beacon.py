"""Tells the driver when the measured part of a worker begins and ends, so that limits do not count preparation.

A worker opens a connection to the driver, sends `{"token", "process", "host"}` when its clock starts, and closes the
connection after a last line when its clock stops. The token keeps strangers on the network from being heard.
"""

from __future__ import annotations

import json
import secrets
import socket
import socketserver
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType


@dataclass(frozen=True)
class Address:
    """Where workers find the beacon of one job; travels with the job."""

    host: str
    port: int
    token: str


@dataclass
class Running:
    """A worker inside its measured part: since when (driver's monotonic clock), and which process it is."""

    since: float
    process: int
    host: str


class Beacon:
    """Listens on the driver while one job runs."""

    def __init__(self, host: str) -> None:
        self.started = False  # any worker has begun
        self._running: dict[int, Running] = {}
        self._seen: list[Running] = []
        self._lock = threading.Lock()
        beacon = self
        token = secrets.token_hex(16)

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                beacon._listen(self.rfile.readline(4096), token, self)

        self._server = socketserver.ThreadingTCPServer((host, 0), Handler, bind_and_activate=True)
        self._server.daemon_threads = True
        self.address = Address(host, self._server.server_address[1], token)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Beacon:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def longest(self) -> float:
        """Seconds that the longest running worker has been inside its measured part; 0 if none is."""
        with self._lock:
            now = time.monotonic()
            return max((now - running.since for running in self._running.values()), default=0.0)

    def workers(self) -> list[Running]:
        """All workers that ever began."""
        with self._lock:
            return list(self._seen)

    def _listen(self, line: bytes, token: str, handler: socketserver.StreamRequestHandler) -> None:
        try:
            message = json.loads(line)
            if not secrets.compare_digest(str(message["token"]), token):
                return
            running = Running(time.monotonic(), int(message["process"]), str(message["host"]))
        except (ValueError, KeyError, TypeError):
            return
        with self._lock:
            self.started = True
            self._running[id(handler)] = running
            self._seen.append(running)
        handler.wfile.write(b"go\n")
        with suppress(OSError):
            handler.rfile.readline(64)  # ends with the worker's last line, or with its death
        with self._lock:
            self._running.pop(id(handler), None)


class Signal:
    """The worker's side: a context around the measured part."""

    def __init__(self, address: Address | None, process: int) -> None:
        self._address = address
        self._process = process
        self._connection: socket.socket | None = None

    def __enter__(self) -> Signal:
        if self._address is not None:
            self._connection = socket.create_connection((self._address.host, self._address.port), timeout=30)
            message = {"token": self._address.token, "process": self._process, "host": socket.gethostname()}
            self._connection.sendall(json.dumps(message).encode() + b"\n")
            self._connection.recv(8)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.sendall(b"done\n")
            self._connection.close()
