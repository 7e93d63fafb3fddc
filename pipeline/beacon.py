"""Reports of workers to the driver during a job: that they are alive, and when their measured part begins and ends.

A worker opens a connection when its clock starts, and sends a line whenever its clock stops and starts again, so that
limits exclude preparation. Workers that wait for each other use it, too. A helper process beside the worker
(`pipeline.pulse`) has its own connection, from the worker's start to its end, and reports the worker's size every
second. Both begin with `{"token", "process", "host"}`; the token excludes other senders on the network.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from cepbench.pipeline import pulse

GO, ALONE = b"go\n", b"no\n"
"""Answers of the driver: to a clock that starts or to workers that met, and to one that waited without success."""
MEET = b"meet\n"
MEET_SECONDS = 30.0
"""Seconds to wait at a meeting if workers are missing."""


@dataclass(frozen=True)
class Address:
    """The address of the beacon of one job; sent with the job."""

    host: str
    port: int
    token: str


@dataclass
class Worker:
    """A worker of the job.

    - `since`: the start of its measured part, `reported`: its last report, by the driver's monotonic clock; None
      outside of measured parts, and before and after its reports.
    - `started`: whether it had a measured part; `resident`: its maximum bytes, `machine`: those of its machine.
    """

    process: int
    host: str
    since: float | None = None
    reported: float | None = None
    started: bool = False
    resident: int = 0
    machine: int = 0


class Beacon:
    """Receives reports on the driver during a job.

    `bind` is the address to listen on, `advertised` the one that workers connect to, `port` 0 any free port. The job
    has this many `workers`.
    """

    def __init__(self, bind: str, advertised: str | None = None, port: int = 0, workers: int = 1) -> None:
        self._known: dict[tuple[str, int], Worker] = {}
        self._lock = threading.Lock()
        self._workers, self._met = workers, 0
        self._meeting = threading.Condition(self._lock)
        beacon = self
        token = secrets.token_hex(16)

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                beacon._listen(self.rfile.readline(4096), token, self)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Server((bind, port), Handler, bind_and_activate=True)
        self.address = Address(advertised or bind, self._server.server_address[1], token)
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Beacon:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._server.socket.shutdown(socket.SHUT_RDWR)  # which wakes the thread
        self._thread.join()
        self._server.server_close()

    def longest(self, patience: float = float("inf")) -> float:
        """Seconds since the start of the longest measured part; 0 if there is none.

        Workers without a report for `patience` seconds do not count: they may be lost, which is not slow.
        """
        now = time.monotonic()
        times = (
            now - worker.since
            for worker in self.workers()
            if worker.since is not None and (worker.reported is None or now - worker.reported <= patience)
        )
        return max(times, default=0.0)

    def silent(self, seconds: float) -> Worker | None:
        """A worker that has not ended and has not reported for `seconds`; None if there is none."""
        now = time.monotonic()
        return next((one for one in self.workers() if one.reported is not None and now - one.reported > seconds), None)

    def living(self) -> int:
        """The number of workers that have not ended."""
        return sum(worker.reported is not None for worker in self.workers())

    def workers(self) -> list[Worker]:
        """All workers of the job."""
        with self._lock:
            return [replace(worker) for worker in self._known.values()]

    def _serve(self) -> None:
        """Serves until the end, which the server's own loop would notice only at its next poll."""
        while not self._ended:
            self._server.handle_request()

    def _listen(self, line: bytes, token: str, handler: socketserver.StreamRequestHandler) -> None:
        try:
            message = json.loads(line)
            if not secrets.compare_digest(str(message["token"]), token):
                return
            process, host = int(message["process"]), str(message["host"])
            machine = int(message.get("machine", 0))
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        with self._lock:
            worker = self._known.setdefault((host, process), Worker(process, host))
            worker.machine = machine or worker.machine
        if machine:
            self._watch(worker, handler)
        else:
            self._time(worker, handler)

    def _time(self, worker: Worker, handler: socketserver.StreamRequestHandler) -> None:
        again, meetings = True, 0
        while again:
            with self._lock:
                worker.since, worker.started = time.monotonic(), True
            with suppress(OSError):
                handler.wfile.write(GO)
                handler.rfile.readline(64)  # ends when the clock stops, or with the worker's death
            with self._lock:
                worker.since = None
            again = False
            with suppress(OSError):
                line = handler.rfile.readline(64)  # ends when the clock starts again, or with the worker
                while line == MEET:
                    meetings += 1
                    handler.wfile.write(GO if self._meet(meetings) else ALONE)
                    line = handler.rfile.readline(64)
                again = bool(line)

    def _meet(self, meeting: int) -> bool:
        """Waits for all workers at this meeting. False if workers are missing."""
        with self._meeting:
            self._met += 1
            self._meeting.notify_all()
            until = time.monotonic() + MEET_SECONDS
            while self._met < meeting * self._workers:
                living = sum(worker.reported is not None for worker in self._known.values())
                if self._ended or (living < self._workers and time.monotonic() > until):
                    return False
                self._meeting.wait(1.0)
            return True

    def _watch(self, worker: Worker, handler: socketserver.StreamRequestHandler) -> None:
        worker.reported = time.monotonic()
        with suppress(OSError, ValueError, KeyError):
            for line in handler.rfile:
                resident = int(json.loads(line)["resident"])
                with self._lock:
                    worker.reported, worker.resident = time.monotonic(), max(worker.resident, resident)
        worker.reported = None


class Signal:
    """The worker's side: a context around each measured part, all on one connection, which `close` ends."""

    def __init__(self, address: Address | None, process: int) -> None:
        self._address = address
        self._process = process
        self._connection: socket.socket | None = None

    def __enter__(self) -> Signal:
        if self._address is None:
            return self
        if self._connection is None:
            self._connection = _connected(self._address, _greeting(self._address, self._process))
        else:
            self._connection.sendall(b"again\n")
        self._connection.recv(8)
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.sendall(b"done\n")

    def meet(self) -> bool:
        """Waits until all workers of the job have reached this point. False if one of them does not."""
        if self._address is None:
            return True
        if self._connection is None:  # no clock has started
            with self:
                pass
        assert self._connection is not None
        self._connection.sendall(MEET)
        return self._connection.recv(8) == GO

    def close(self) -> None:
        """Ends the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextmanager
def pulsing(address: Address | None) -> Iterator[None]:
    """The worker's side: a context around all of its work, during which it reports to the driver every second."""
    if address is None:
        yield
        return
    process = os.getpid()
    greeting = {**_greeting(address, process), "machine": pulse.machine_bytes()}
    with start_pulse(address, greeting, process):
        yield


def start_pulse(address: Address, greeting: dict[str, object], process: int) -> subprocess.Popen[bytes]:
    """Starts the helper of `process`, which reports on its own connection; closing its standard input ends it."""
    with open(pulse.__file__, encoding="utf-8") as file:
        source = file.read()
    with _connected(address, greeting) as connection:
        command = [sys.executable, "-S", "-E", "-c", source, str(process)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=connection.fileno())


def _connected(address: Address, greeting: dict[str, object]) -> socket.socket:
    connection = socket.create_connection((address.host, address.port), timeout=30)
    connection.settimeout(None)  # workers that meet wait for each other as long as runs take
    # otherwise a second line waits 40 ms for the first one
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(json.dumps(greeting).encode() + b"\n")
    return connection


def _greeting(address: Address, process: int) -> dict[str, object]:
    return {"token": address.token, "process": process, "host": socket.gethostname()}
