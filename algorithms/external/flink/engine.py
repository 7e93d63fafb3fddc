"""The Java process of a worker: started on first use, used over its pipes, and ended with the worker.

The program ends when its standard input ends, however this process ends, so that none is left behind.
"""

from __future__ import annotations

import atexit
import os
import resource
import struct
import subprocess
import tempfile
import time
from collections import deque
from functools import cache

import numpy as np
import psutil
from numpy.typing import NDArray

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.external.flink.installation import SMALL, class_path, tool
from cepbench.events.errors import CepbenchError

Ints = NDArray[np.int64]

HEAP_SHARE = 0.5
"""Part of a worker's address-space limit or, without a limit, of a quarter of the machine's memory."""
MAX_JOBS = 40
EMPTY_CALLS = 20
OUT_OF_MEMORY = 3
"""The exit status of a Java process after its heap was full."""
OPTIONS = (
    *SMALL,
    "-XX:+ExitOnOutOfMemoryError",
    *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "time", "nio", "text")),
)


class FlinkFailed(CepbenchError):
    """Flink's process ended or a job failed; the message contains its output."""


class Engine:
    """One Java process with the jobs of the latest `MAX_JOBS` queries.

    Attributes
    ----------
    start_seconds
        From the start of the process to its first answer.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        started = time.perf_counter()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        java = tool("java")
        path = class_path()
        assert java is not None
        self._process = subprocess.Popen(
            [java, f"-Xmx{_heap() >> 20}m", *OPTIONS, "-cp", path, "cepbench.Server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        )
        self._jobs: dict[str, int] = {}
        self._users: dict[int, set[int]] = {}
        self._dropped: deque[tuple[int, int]] = deque()
        self._next = 0
        self._receive()
        self.start_seconds = time.perf_counter() - started

    def job(self, specification: str) -> int:
        """The number of the job that runs a query; starts it if necessary. Raises `FlinkFailed`."""
        number = self._jobs.pop(specification, None)
        if number is None:
            self._evict()
            [number] = self._call(b"J" + specification.encode())
            self._users[int(number)] = set()
        self._jobs[specification] = int(number)
        return int(number)

    def open(self, job: int) -> int:
        """Opens a key of a job and returns its number."""
        self._next += 1
        self._users[job].add(self._next)
        return self._next

    def process(self, job: int, name: int, low: int, first: int, time: Ints, columns: list[bytes]) -> Ints:
        """Sends events to a key: their times and their other columns. Returns the rows of its windows before `low`.

        Windows before `first` have been answered by another key. `java/Answer.java` defines the numbers.
        """
        head = struct.pack("<cicqqqi", b"E", job, b"E", name, low, first, len(time))
        try:
            return self._call(b"".join([head, little(time), *columns]))
        except FlinkFailed:  # a job ends with its first failure
            self._jobs = {text: number for text, number in self._jobs.items() if number != job}
            raise

    def state(self, job: int, name: int) -> Ints:
        """Peak state of a key since the last call: bytes, partial matches, events."""
        return self._call(struct.pack("<cicq", b"S", job, b"S", name))

    def close(self, job: int, name: int) -> None:
        """Drops a key; can be called at any time, and takes effect before the next call."""
        self._dropped.append((job, name))

    def memory(self) -> dict[str, float]:
        """Peaks in bytes: the heap, resident memory, the heap after a garbage collection, and that before any job."""
        names = ("heap", "resident", "live", "base")
        return {f"jvm_{name}_bytes_peak": float(size) for name, size in zip(names, self._call(b"M"), strict=True)}

    def empty_seconds(self, job: int, name: int) -> float:
        """Median seconds of a call without events."""
        times = []
        for _ in range(EMPTY_CALLS):
            started = time.perf_counter()
            self.process(job, name, 0, 0, np.zeros(0, np.int64), [])
            times.append(time.perf_counter() - started)
        return float(np.median(times))

    def stop(self) -> None:
        """Ends the process and waits for it."""
        if self.pid != os.getpid():
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _evict(self) -> None:
        """Ends unused jobs, the oldest first, until there is space for another one."""
        self._forget()
        for specification, number in list(self._jobs.items()):
            if len(self._jobs) < MAX_JOBS:
                return
            if not self._users[number]:
                del self._jobs[specification], self._users[number]
                self._call(struct.pack("<ci", b"X", number))

    def _forget(self) -> None:
        while self._dropped:
            job, name = self._dropped.popleft()
            users = self._users.get(job, set())
            if name in users:
                users.discard(name)
                self._exchange(struct.pack("<cicq", b"D", job, b"D", name))

    def _call(self, request: bytes) -> Ints:
        self._forget()
        return self._exchange(request)

    def _exchange(self, request: bytes) -> Ints:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(struct.pack(">i", len(request)) + request)
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        return self._receive()

    def _receive(self) -> Ints:
        size, failed = struct.unpack(">ib", self._read(5))
        body = self._read(size - 1)
        if failed:
            text = body.decode(errors="replace")
            if "OutOfMemoryError" in text:
                raise NotEnoughMemory(f"Flink: {text}")
            raise FlinkFailed(f"Flink: {text}")
        return np.frombuffer(body, "<i8").astype(np.int64, copy=False)

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        body = self._process.stdout.read(size)
        if len(body) < size:
            raise self._ended()
        return body

    def _ended(self) -> CepbenchError:
        """Why the process ended."""
        status = self._process.wait()
        engine.cache_clear()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        if status == OUT_OF_MEMORY or any("OutOfMemoryError" in line for line in lines):
            return NotEnoughMemory(f"Flink's heap of {_heap() >> 20} MiB is full")
        return FlinkFailed(f"Flink's process ended with status {status}: {lines[-1] if lines else 'no output'}")


@cache
def engine() -> Engine:
    """The engine of this process. Raises `FlinkMissing`."""
    started = Engine()
    atexit.register(started.stop)
    return started


def current() -> Engine:
    """The engine of this process; a new one after a fork. Raises `FlinkMissing`."""
    if engine().pid != os.getpid():
        engine.cache_clear()
    return engine()


def little(numbers: NDArray[np.generic]) -> bytes:
    """Numbers of eight bytes in the byte order of the program."""
    kind = "<f8" if numbers.dtype == np.float64 else "<i8"
    return np.ascontiguousarray(numbers.astype(kind, copy=False)).tobytes()


def _heap() -> int:
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    share = psutil.virtual_memory().total // 4
    if limit != resource.RLIM_INFINITY:
        share = min(share, limit)
    return max(256 << 20, int(HEAP_SHARE * share))
