"""Kills of a live stream: SIGKILL of a Spark worker, the driver, or both, while events come; then rows are compared.

Run by hand: PYTHONPATH=. python benchmarks/live_kills.py [kills per algorithm] [seed] [folder or kafka] [algorithm]
Events and rows are files, or messages of topics of a real broker, which the tests start.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow.parquet as pq

from cepbench.pipeline.in_process import evaluate

WINDOWS = """
grouped: RETURN g, COUNT(*), SUM(A.x), MAX(B.x) PATTERN SEQ(A+, B) WHERE [h] GROUP-BY g WITHIN 6 s SLIDE 2 s

whole: RETURN COUNT(*), AVG(A.x) PATTERN SEQ(A, B) WHERE [g] AND A.x > 1 WITHIN 8 s SLIDE 4 s
"""
MATCHES = """
found: RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE [g] AND a.x < b.x WITHIN 5 s PER MATCH

sequel: RETURN MATCHES PATTERN SEQ(A a, C c) WHERE [g] AND a.x != c.x WITHIN 3 s PER MATCH
"""
EVENTS_ALONE = """
found: RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE [g] AND a.x > 1 AND b.x < 3 WITHIN 5 s PER MATCH

sequel: RETURN g, COUNT(*) PATTERN SEQ(A a, C c) WHERE c.x != 0 GROUP-BY g WITHIN 3 s PER MATCH
"""
QUERIES = {"cogra": WINDOWS, "sase": WINDOWS, "hamlet": WINDOWS, "mcep": MATCHES, "core": EVENTS_ALONE}
EVENTS_PER_FILE = 40
SECONDS_PER_FILE = 4  # of the stream's own time, so that many events carry the same time
DELAY = 3  # by which events are out of order
PAUSE = 0.2  # between two files
KINDS = ("worker", "driver", "worker", "both")
SHORT = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1", **os.environ}  # of a Java that will not live long


class Feeder:
    """A random stream, some events at a time, as files of a folder; rows are files of another one."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random, self.frames = np.random.default_rng(seed), list[pd.DataFrame]()
        self.events, self.rows = folder / "in", folder / "rows"
        self.source, self.sink = f"folder:{self.events}", f"folder:{self.rows}"
        self.begin()

    def begin(self) -> None:
        """Makes the places of events and rows."""
        self.events.mkdir()

    def feed(self) -> None:
        """The next events."""
        number, n = len(self.frames), EVENTS_PER_FILE
        frame = pd.DataFrame(
            {
                "time": number * SECONDS_PER_FILE + self.random.integers(0, SECONDS_PER_FILE + DELAY, n),
                "type": self.random.choice(["A", "B", "C", "D"], n),
                "g": self.random.choice(["u", "v", "w"], n),
                "h": self.random.integers(0, 4, n),
                "x": self.random.integers(0, 5, n),
            }
        )
        self.put(frame, number)
        self.frames.append(frame)

    def put(self, frame: pd.DataFrame, number: int) -> None:
        """The next file."""
        hidden = self.events / f".{number:05d}.parquet"
        frame.to_parquet(hidden)
        hidden.rename(self.events / hidden.name[1:])

    def frame(self) -> pd.DataFrame:
        """All events in the order of time."""
        return pd.concat(self.frames, ignore_index=True).sort_values("time", kind="stable", ignore_index=True)

    def received(self) -> pd.DataFrame:
        """All rows of the sink."""
        return pd.concat([pq.read_table(file).to_pandas() for file in sorted(self.rows.iterdir())])


class TopicFeeder(Feeder):
    """The same, as messages of a topic of two partitions; a reader of the rows leaves out keys that it has had."""

    def __init__(self, folder: Path, seed: int, address: str) -> None:
        self.address, self.name, self.began = address, folder.name, int(time.time() * 1000)
        super().__init__(folder, seed)

    def begin(self) -> None:
        from tests.pipeline.live.brokers import create

        for place, partitions in (("in", 2), ("out", 1)):
            create(self.address, f"{self.name}-{place}", partitions)
        self.source, self.sink = (f"kafka:{self.address}/{self.name}-{place}" for place in ("in", "out"))

    def put(self, frame: pd.DataFrame, number: int) -> None:
        from tests.pipeline.live.brokers import send

        # A portion is in one partition: events of equal time in several would arrive in an order that batches decide.
        partitions = [number % 2] * len(frame)
        send(self.address, f"{self.name}-in", frame.to_dict("records"), partitions, self.began + number * 10_000)

    def received(self) -> pd.DataFrame:
        from tests.pipeline.live.brokers import received

        return pd.DataFrame([row for _, row in received(self.address, f"{self.name}-out")])


class Driver:
    """The command, as somebody would start it again who watches it."""

    def __init__(self, folder: Path, algorithm: str, feeder: Feeder) -> None:
        (folder / "query.sase").write_text(QUERIES[algorithm])
        options = {
            "-q": folder / "query.sase",
            "-a": algorithm,
            "--source": feeder.source,
            "--sink": feeder.sink,
            "--checkpoint": folder / "checkpoint",
            "--watermark": f"{SECONDS_PER_FILE + DELAY}s",
            "--master": "local[2]",
            "--until-idle": "8",
        }
        self._command = ["cepbench.cli.main", "stream", *(str(word) for pair in options.items() for word in pair)]
        self._log = folder / "log"
        self.starts = 0
        self.start()

    def start(self) -> None:
        self.starts += 1
        with self._log.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-m", *self._command], stderr=log, env=SHORT)

    def ensure(self) -> None:
        """Starts it again if it was killed. Raises `RuntimeError` if it failed by itself."""
        status = self.process.poll()
        if status not in (None, 0, -signal.SIGKILL):
            raise RuntimeError(self._log.read_text(errors="replace"))
        if status is not None:
            self.start()

    def workers(self) -> list[psutil.Process]:
        """Python processes that run tasks."""
        try:
            below = psutil.Process(self.process.pid).children(recursive=True)
            python = {process.pid: process for process in below if "python" in process.name()}
            return [process for process in python.values() if process.ppid() in python]
        except psutil.NoSuchProcess:
            return []

    def kill(self, kind: str, random: Random) -> bool:
        """Kills; False if there is nothing to kill."""
        if self.process.poll() is not None:
            return False
        if kind != "driver":
            workers = self.workers()
            if not workers:
                return False
            try:
                random.choice(workers).kill()
            except psutil.NoSuchProcess:
                return False
        if kind != "worker":
            self.process.kill()
            self.process.wait()
        return True


def kills(folder: Path, algorithm: str, wanted: int, seed: int = 0, address: str | None = None) -> dict[str, Any]:
    """Runs a stream with so many kills to its end: what happened, and whether rows are those of the batch run.

    Events and rows are files, or messages of the broker at an `address`.

    Kills are at random times, some while the driver starts, most while batches run: those of kind "worker" and "both"
    wait until there is a worker.
    """
    random = Random(seed)
    feeder = Feeder(folder, seed) if address is None else TopicFeeder(folder, seed, address)
    feeder.feed()
    driver, counted, during = Driver(folder, algorithm, feeder), Counter[str](), Counter[str]()
    plan = _plan(random, 0)
    begun, since = time.monotonic(), finished(folder)
    while sum(counted.values()) < wanted:
        time.sleep(PAUSE * random.random())
        if random.random() < 0.3:
            feeder.feed()
        driver.ensure()
        ready = time.monotonic() - begun > plan.seconds and finished(folder) - since >= plan.batches
        if ready and driver.kill(plan.kind, random):
            counted[plan.kind] += 1
            during["a batch" if _begun(folder) else "other times"] += 1
            print(f"{algorithm}: {plan.kind} after batch {finished(folder)}", file=sys.stderr, flush=True)
            plan = _plan(random, sum(counted.values()))
            begun, since = time.monotonic(), finished(folder)
    for _ in range(10):
        feeder.feed()
    while True:
        driver.ensure()
        if driver.process.wait() == 0:
            break
    rows, expected = (
        plain(feeder.received()),
        plain(evaluate(QUERIES[algorithm], feeder.frame(), algorithm, notify=str)),
    )
    return {
        "algorithm": algorithm,
        "kills": dict(counted),
        "during": dict(during),
        "starts": driver.starts,
        "portions": len(feeder.frames),
        "rows": len(expected),
        "lost": sum((Counter(expected) - Counter(rows)).values()),
        "doubled or wrong": sum((Counter(rows) - Counter(expected)).values()),
    }


@dataclass(frozen=True)
class Plan:
    """Kill so many seconds, and finished batches, after the last kill."""

    kind: str
    seconds: float
    batches: int


def _plan(random: Random, number: int) -> Plan:
    """One kill in four may hit a start, the others a stream that is running."""
    return Plan(KINDS[number % len(KINDS)], random.uniform(0, 2), random.choice((0, 1, 2, 3)))


def finished(folder: Path) -> int:
    """The number of the last batch that Spark knows to be finished."""
    return max((int(file.name) for file in (folder / "checkpoint/spark/commits").glob("[0-9]*")), default=-1)


def plain(frame: pd.DataFrame) -> list[str]:
    """Rows as texts that can be compared; columns that are null are left out."""
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return sorted(
        repr({k: v if isinstance(v, str) else _number(v) for k, v in sorted(row.items()) if v is not None})
        for row in records
    )


def _number(value: Any) -> Any:
    return [int(part) for part in value] if isinstance(value, list | np.ndarray) else f"{float(value):.9g}"


def _begun(folder: Path) -> bool:
    """Whether Spark's log has a batch that is not finished."""
    numbers = [int(file.name) for file in (folder / "checkpoint/spark/offsets").glob("[0-9]*")]
    return max(numbers, default=-1) > finished(folder)


def main() -> None:
    arguments = sys.argv[1:]
    wanted, seed = (int(arguments[n]) if n < len(arguments) else default for n, default in enumerate((10, 0)))
    failed = 0
    for algorithm in arguments[3:] or QUERIES:
        with tempfile.TemporaryDirectory(prefix="cepbench-kills-") as folder, _broker(arguments[2:3]) as address:
            report = kills(Path(folder), algorithm, wanted, seed, address)
        print("; ".join(f"{name} {value}" for name, value in report.items()), flush=True)
        failed += report["lost"] + report["doubled or wrong"]
    sys.exit(1 if failed else 0)


def _broker(arguments: list[str]) -> AbstractContextManager[str | None]:
    if arguments != ["kafka"]:
        return nullcontext()
    from tests.pipeline.live.brokers import broker

    return broker()


if __name__ == "__main__":
    main()
