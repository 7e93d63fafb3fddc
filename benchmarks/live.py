"""A live stream on local[2]: events per second from files to rows, sizes of the checkpoint, and the floor of latency.

Run by hand: python benchmarks/live.py [seconds of throughput, perhaps 0] [events per file]
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from cepbench.events.reading import Reading
from cepbench.pipeline.live.processor import Totals
from cepbench.pipeline.live.stream import stream

QUERY = "RETURN key, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 2 s SLIDE 1 s"
KEYS = 100
EVENTS_PER_SECOND = 200_000  # of the stream's own time
WAITING = 3  # files that wait, at most, where events come as fast as they are taken
LATENCIES = 40
PAUSE = 1.0  # between files, where latency is measured


class Measured:
    """Feeds a folder from a thread, and notes when batches were finished."""

    def __init__(self, folder: Path, events: int, seconds: float | None) -> None:
        self.folder, self.events, self.seconds = folder, events, seconds
        self.files: list[float] = []
        self.batches: list[tuple[float, Totals, int]] = []
        (folder / "in").mkdir()

    def run(self) -> None:
        self._feed(0)
        threading.Thread(target=self._rest, daemon=True).start()
        stream(
            QUERY, "cogra", f"folder:{self.folder}/in", f"folder:{self.folder}/rows", self.folder / "checkpoint",
            until_idle=3, reading=Reading(unit="ms"), master="local[2]", notify=str, progress=self._note,
        )  # fmt: skip

    def _rest(self) -> None:
        while not self.batches:
            time.sleep(0.01)
        began = time.monotonic()
        for number in count(1):
            if self.seconds is None:
                if number > LATENCIES:
                    return
                time.sleep(PAUSE)
            else:
                while (number - 1) * self.events - self.batches[-1][1].events >= WAITING * self.events:
                    time.sleep(0.005)
                if time.monotonic() - began > self.seconds:
                    return
            self._feed(number)

    def _feed(self, number: int) -> None:
        random, n = np.random.default_rng(number), self.events
        first = number * n if self.seconds is not None else number * EVENTS_PER_SECOND
        frame = pd.DataFrame(
            {
                "time": (first + np.arange(n)) * 1000 // EVENTS_PER_SECOND,
                "type": pd.Categorical.from_codes(random.integers(0, 2, n), ["A", "B"]).astype(str),
                "key": random.integers(0, KEYS, n),
                "x": random.integers(0, 100, n),
            }
        )
        hidden, file = (self.folder / "in" / f"{prefix}{number:06d}.parquet" for prefix in (".", ""))
        frame.to_parquet(hidden)
        hidden.rename(file)
        self.files.append(time.time())

    def _note(self, totals: Totals) -> None:
        sizes = [file.stat().st_size for file in (self.folder / "checkpoint" / "state").rglob("*") if file.is_file()]
        self.batches.append((time.time(), totals, sum(sizes)))


def throughput(seconds: float, events: int) -> None:
    with tempfile.TemporaryDirectory(prefix="cepbench-live-") as folder:
        measured = Measured(Path(folder), events, seconds)
        measured.run()
    begin, end = measured.batches[1], measured.batches[-1]
    rate = (end[1].events - begin[1].events) / (end[0] - begin[0])
    sizes = [size / 1e6 for *_, size in measured.batches]
    third = len(sizes) // 3
    print(
        f"throughput: {rate / 1e3:.0f} thousand events/s over {end[0] - begin[0]:.0f} s and {len(sizes)} batches; "
        f"state {np.median(sizes[:third]):.2f} MB in the first third, {np.median(sizes[-third:]):.2f} in the last"
    )


def latency() -> None:
    with tempfile.TemporaryDirectory(prefix="cepbench-live-") as folder:
        measured = Measured(Path(folder), 100, None)
        measured.run()
    # Every file ends a window. Rows are in the sink when their batch is finished, which may have several files.
    ends = [(wall, totals.events // measured.events) for wall, totals, _ in measured.batches]
    taken = [next(end for end, files in ends if files > n) - written for n, written in enumerate(measured.files)][1:]
    spread = ", ".join(f"{name} {1000 * value:.0f}" for name, value in
                       zip(("least", "p50", "p95"), np.quantile(taken, (0, 0.5, 0.95)), strict=True))  # fmt: skip
    print(f"ms from a file in the folder to its rows in the sink: {spread}; {len(taken)} files in {len(ends)} batches")


def main() -> None:
    arguments = [int(word) for word in sys.argv[1:]]
    if not arguments or arguments[0]:
        throughput(*(arguments + [60, 200_000][len(arguments) :]))
    latency()


if __name__ == "__main__":
    main()
