"""Asks `cepbench advise` at the points of a run of the atlas: `python scripts/advice.py RESULTS`.

For each point at which several systems ran and one ended, the regret is the measured time of the recommended system
over that of the fastest one. `docs/atlas/advice.csv` has a row per point.
"""

import argparse
import csv
import io
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from statistics import median

from cepbench import advise
from cepbench.events.errors import CepbenchError
from cepbench.experiments.load import ATLAS
from cepbench.experiments.streams import STREAMS_FOLDER, prepare_stream
from cepbench.metrics.files import write
from cepbench.metrics.record import Record
from cepbench.metrics.results import load_results
from cepbench.metrics.status import Status
from cepbench.pipeline.session import session

ROOT = Path(__file__).resolve().parents[1]
TABLE = "docs/atlas/advice.csv"
HEADS = ("experiment", "point", "systems", "recommended", "fastest", "fastest_seconds", "regret")
PREFIX = "atlas-pays-"
BUDGET = 4.0
"""Seconds of each advice; most systems see a part of the events."""


def points(results: Path) -> Iterator[tuple[Record, dict[str, float]]]:
    """A record of each point, and the seconds of each system there: infinite for one that was stopped."""
    for shown in load_results(results):
        if shown.figure.profile != ATLAS or not shown.figure.experiment.startswith(PREFIX):
            continue
        cells: dict[str, list[Record]] = defaultdict(list)
        for record in shown.records:
            if record.status in (Status.OK, Status.TIMEOUT):
                cells[record.group].append(record)
        for records in cells.values():
            names = dict.fromkeys(record.configuration.get("algorithm", record.algorithm) for record in records)
            seconds = {name: _seconds(records, name) for name in names}
            if len(seconds) > 1 and min(seconds.values()) < inf:
                yield records[0], seconds


def row(record: Record, seconds: dict[str, float], results: Path) -> tuple[object, ...]:
    """The advice at a point, and its regret."""
    configuration = record.configuration
    stream = prepare_stream(configuration, results / STREAMS_FOLDER, session())
    advice = advise(configuration["workload"], stream.path, list(seconds), budget=BUDGET, notify=lambda line: None)
    fastest = min(seconds, key=lambda name: seconds[name])
    regret = seconds[advice.recommended] / seconds[fastest] if advice.recommended else float("inf")
    point = ", ".join(f"{axis} {value}" for axis, value in record.point.items())
    return (
        record.experiment,
        point,
        len(seconds),
        advice.recommended,
        fastest,
        f"{seconds[fastest]:.3g}",
        f"{regret:.4g}",
    )


def _seconds(records: Sequence[Record], name: str) -> float:
    own = [record for record in records if record.configuration.get("algorithm", record.algorithm) == name]
    return median(record.summary.service_total or inf for record in own)


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--points", type=int, default=200, help="number of points, drawn by a seed")
    arguments = parser.parse_args()
    try:
        candidates = list(points(arguments.results))
        drawn = random.Random(66).sample(candidates, min(arguments.points, len(candidates)))
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(HEADS)
        for number, (record, seconds) in enumerate(drawn, 1):
            writer.writerow(row(record, seconds, arguments.results))
            print(f"{number} of {len(drawn)}", flush=True)
        print(write(ROOT / TABLE, table.getvalue().encode()))
    except CepbenchError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
