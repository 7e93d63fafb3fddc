"""End-to-end latency of a live stream, over rates and trigger intervals, beside what the virtual clock predicts.

Files of events come to a folder on a schedule that does not wait. The latency of a row is the time from the scheduled
arrival of the last event of its window until the file with the row is in the sink.

Run by hand, on a quiet machine: python benchmarks/live_latency.py [folder] [seconds per point] [rates] [triggers]
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from cepbench.events.files import read_events
from cepbench.events.reading import Reading
from cepbench.events.statistics import Statistics
from cepbench.experiments.provenance import commit, environment
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.jobs import parse_supported, prepare
from cepbench.pipeline.live.stream import stream
from cepbench.pipeline.replay import replay

QUERY = "RETURN key, COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 700 ms"
"""No trigger interval is a multiple of its window, so rows fall due at all phases of an interval."""
ALGORITHM = "cogra"
KEYS = 20
FILE_SECONDS = 0.1
WARM_SECONDS = 3.0  # of the stream that count for nothing: Spark and the kernels are loaded
LEAD_SECONDS = 1.0  # from the first file to the schedule
DEFAULTS = ("results/live-latency", "30", "1000,10000,100000", "0s,500ms,1s,2s")
PREDICTED = "virtual clock"


def events(rate: int, seconds: float) -> pd.DataFrame:
    """Event i is due (i + 1) / rate seconds after the start; times are milliseconds since the start."""
    random, n = np.random.default_rng(rate), int(rate * seconds)
    return pd.DataFrame(
        {
            "time": (np.arange(n) + 1) * 1000 // rate,
            "type": random.choice(["A", "B"], n),
            "key": random.integers(0, KEYS, n),
            "x": random.integers(0, 100, n),
        }
    )


def measured(rate: int, trigger: str, seconds: float) -> list[float]:
    """Latencies of all rows after the warm-up, in seconds."""
    frame = events(rate, seconds + WARM_SECONDS)
    with tempfile.TemporaryDirectory(prefix="cepbench-latency-") as name:
        folder = Path(name)
        (folder / "in").mkdir()
        began: list[float] = []

        def write(number: int, part: pd.DataFrame) -> None:
            hidden, file = (folder / "in" / f"{prefix}{number:06d}.parquet" for prefix in (".", ""))
            part.to_parquet(hidden)
            hidden.rename(file)

        def feed() -> None:
            step = int(rate * FILE_SECONDS)
            began.append(time.time() + LEAD_SECONDS)
            for number, start in enumerate(range(0, len(frame), step), 1):
                time.sleep(max(0.0, began[0] + number * FILE_SECONDS - time.time()))
                write(number, frame.iloc[start : start + step])

        def first_batch(totals: object) -> None:
            if not threads:
                threads.append(threading.Thread(target=feed, daemon=True))
                threads[0].start()

        threads: list[threading.Thread] = []
        write(0, frame.iloc[:1].assign(time=0))
        stream(
            QUERY, ALGORITHM, f"folder:{folder / 'in'}", f"folder:{folder / 'rows'}", folder / "checkpoint",
            until_idle=5, trigger=trigger, reading=Reading(unit="ms"), master="local[2]", notify=str,
            progress=first_batch,
        )  # fmt: skip
        return [
            file.stat().st_ctime - (began[0] + end / 1000 - 1 / rate)
            for file in (folder / "rows").glob("rows-0*.parquet")
            for end in pq.read_table(file, columns=["window_end"])["window_end"].to_pylist()
            if end > 1000 * WARM_SECONDS
        ]


def predicted(rate: int, seconds: float) -> list[float]:
    """The same stream, in the same portions, on the virtual clock."""
    stream = read_events(events(rate, seconds + WARM_SECONDS), "ms")
    queries, algorithm = parse_supported(QUERY, ALGORITHM)
    prepared = prepare(queries, algorithm, stream.schema, "modular", Statistics())
    run = partial(replay, [stream.batch], OpenRate(rate, int(rate * FILE_SECONDS)), emit=lambda keys, rows: None)
    for _ in range(2):  # the first one compiles
        answer = run([(job, algorithm.operator(job.plan)) for job in prepared.jobs])
    due = np.array(answer.due)
    return np.array(answer.latency)[due > WARM_SECONDS].tolist()


def draw(points: list[dict[str, Any]], file: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    markers = cycle("os^Dv")
    for trigger in dict.fromkeys(point["trigger"] for point in points):
        mine = [point for point in points if point["trigger"] == trigger]
        low, middle, high = (
            np.array([1000 * np.quantile(point["latency"], q) for point in mine]) for q in (0.05, 0.5, 0.95)
        )
        style = {"linestyle": "--", "color": "black"} if trigger == PREDICTED else {}
        marker = next(markers)
        label = trigger if trigger == PREDICTED else "as soon as possible" if trigger == "0s" else f"every {trigger}"
        axes.errorbar(
            [point["rate"] for point in mine], middle, [middle - low, high - middle],
            marker=marker, capsize=3, label=label, **style,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="events per second", ylabel="latency of a row (ms): median, 5% and 95%")
    axes.legend(title="a batch begins")
    figure.savefig(file, dpi=150)


def main() -> None:
    arguments = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    folder, seconds, (rates, triggers) = Path(arguments[0]), float(arguments[1]), (a.split(",") for a in arguments[2:4])
    points = []
    for rate in map(int, rates):
        for trigger in (*triggers, PREDICTED):
            latencies = predicted(rate, seconds) if trigger == PREDICTED else measured(rate, trigger, seconds)
            points.append({"rate": rate, "trigger": trigger, "latency": latencies})
            shown = ", ".join(f"{1000 * value:.1f}" for value in np.quantile(latencies, (0, 0.5, 0.95)))
            print(f"{rate} events/s, {trigger}: {shown} ms (least, median, 95%) of {len(latencies)} rows", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "query": QUERY,
        "algorithm": ALGORITHM,
        "file_seconds": FILE_SECONDS,
        "seconds": seconds,
        "points": points,
    }
    text = json.dumps({**record, "commit": commit(), "environment": environment()}, indent=1)
    (folder / "live-latency.json").write_text(text)
    draw(points, folder / "live-latency.png")


if __name__ == "__main__":
    main()
