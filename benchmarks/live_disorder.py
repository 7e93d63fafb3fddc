"""The share of late events over how late events are and how long the watermark waits; rows are those of the oracle.

An event arrives after its time by a delay that is drawn from an exponential distribution. Without Spark: which events
are late depends on the order of arrival alone.

Run by hand: python benchmarks/live_disorder.py [folder] [events]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from cepbench.algorithms.oracle import answer
from cepbench.events.reading import EXPECTED
from cepbench.events.statistics import Statistics
from cepbench.experiments.provenance import commit, environment
from cepbench.pipeline.jobs import parse_supported, prepare
from cepbench.pipeline.live.folder import File, layout_of
from cepbench.pipeline.live.processor import Processor
from cepbench.pipeline.live.sink import Folder
from cepbench.pipeline.live.source import schema_of
from cepbench.pipeline.live.state import Checkpoint
from cepbench.verification.agreement import difference

QUERY = "RETURN key, COUNT(*), SUM(A.x) PATTERN SEQ(A, B) GROUP-BY key WITHIN 20 s SLIDE 10 s"
ALGORITHM = "cogra"
MEANS = (1, 3, 10, 30)  # seconds by which events arrive late
WATERMARKS = (0, 1, 3, 10, 30, 100)
FILES = 5
DEFAULTS = ("results/live-disorder", "3000")


def events(n: int, mean: float) -> pd.DataFrame:
    """One event per second on average, in the order of arrival."""
    random = np.random.default_rng(round(mean * 10))
    frame = pd.DataFrame(
        {
            "time": np.sort(random.integers(0, n, n)),
            "type": random.choice(["A", "B", "C"], n),
            "key": random.integers(0, 3, n),
            "x": random.integers(0, 100, n),
        }
    )
    return frame.iloc[np.argsort(frame["time"] + random.exponential(mean, n), kind="stable")].reset_index(drop=True)


def point(n: int, mean: float, watermark: int) -> dict[str, Any]:
    frame = events(n, mean)
    with tempfile.TemporaryDirectory(prefix="cepbench-disorder-") as name:
        folder, files = Path(name), []
        for number, part in enumerate(np.array_split(np.arange(n), FILES)):
            files.append(folder / f"{number}.parquet")
            frame.iloc[part].to_parquet(files[-1])
        layout = layout_of(files[0], EXPECTED)
        queries, algorithm = parse_supported(QUERY, ALGORITHM)
        prepared = prepare(queries, algorithm, schema_of(queries, layout), "modular", Statistics())
        rows, late = Folder(folder / "rows"), Folder(folder / "late", "late")
        processor = Processor(prepared, layout, Checkpoint(folder / "state", {}), rows, late, 1, watermark)
        for number, file in enumerate(files):
            processor.run(number, [File(file, 0.0)])
        totals = processor.finish()
        newest = frame["time"].cummax().shift(fill_value=0)  # before each event
        on_time = frame[frame["time"] >= newest - watermark].sort_values("time", kind="stable")
        reported = pd.concat([pq.read_table(file).to_pandas() for file in sorted((folder / "rows").iterdir())])
    wanted = answer(queries[0], on_time.to_dict("records"))
    problem = difference(wanted, reported.sort_values(["key", "window_start"], ignore_index=True))
    if problem is not None or totals.late != n - len(on_time):
        raise SystemExit(f"mean delay {mean}, watermark {watermark}: {problem or 'other events are late'}")
    return {"mean": mean, "watermark": watermark, "events": n, "late": totals.late, "rows": totals.rows}


def draw(points: list[dict[str, Any]], file: Path) -> None:
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for mean, marker in zip(MEANS, "os^D", strict=True):
        mine = [entry for entry in points if entry["mean"] == mean]
        shares = [100 * entry["late"] / entry["events"] for entry in mine]
        axes.plot([entry["watermark"] for entry in mine], shares, marker=marker, label=f"{mean} s")
    axes.set_xscale("symlog", linthresh=1)
    axes.set(xlabel="watermark (s)", ylabel="late events (%)", ylim=(0, None))
    axes.legend(title="mean delay")
    figure.savefig(file, dpi=150)


def main() -> None:
    arguments = [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :]]
    folder, n = Path(arguments[0]), int(arguments[1])
    points = [point(n, mean, watermark) for mean in MEANS for watermark in WATERMARKS]
    for entry in points:
        share = f"{100 * entry['late'] / n:.2f}% late"
        print(f"mean {entry['mean']} s, watermark {entry['watermark']} s: {share}, {entry['rows']} rows of the oracle")
    folder.mkdir(parents=True, exist_ok=True)
    record = {"query": QUERY, "algorithm": ALGORITHM, "points": points}
    text = json.dumps({**record, "commit": commit(), "environment": environment()}, indent=1)
    (folder / "live-disorder.json").write_text(text)
    draw(points, folder / "live-disorder.png")


if __name__ == "__main__":
    main()
