"""Live streams without Spark: files of a random stream, and a driver that runs them as Spark would."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cepbench import evaluate
from cepbench.algorithms.base import UnsupportedQuery
from cepbench.algorithms.registry import make
from cepbench.events.reading import EXPECTED
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import Prepared, check_supported, parse_supported, prepare
from cepbench.pipeline.live.folder import File, layout_of
from cepbench.pipeline.live.processor import Processor
from cepbench.pipeline.live.sink import Folder
from cepbench.pipeline.live.source import schema_of
from cepbench.pipeline.live.state import Checkpoint
from cepbench.queries.errors import QueryError
from cepbench.queries.printing import to_text
from cepbench.verification.features import DETECTION, Feature
from cepbench.verification.random_cases import Case, random_case
from cepbench.verification.random_predicates import ATTRIBUTES

ARROW = {"time": pa.int64(), "type": pa.string()} | {
    name: {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string()}[kind]
    for name, kind in ATTRIBUTES.items()
}


def disordered(events: Sequence[Any], delay: int, random: Random) -> list[Any]:
    """The events in an order in which none is later than `delay`; those of equal time may change places."""
    due = [event["time"] + random.uniform(0, delay) for event in events]
    return [events[place] for place in np.argsort(due, kind="stable")]


def batch_rows(text: str, events: Sequence[Any], algorithm: str, folder: Path) -> list[tuple[Any, ...]]:
    """The rows of the batch run on the same events in the order of time."""
    file = folder / "all.parquet"
    pq.write_table(table_of(sorted(events, key=lambda event: event["time"])), file)
    return plain(evaluate(text, file, algorithm, notify=str))


def table_of(events: Sequence[Any]) -> pa.Table:
    return pa.table({name: pa.array([event.get(name) for event in events], kind) for name, kind in ARROW.items()})


def random_cuts(events: Sequence[Any], random: Random) -> list[int]:
    """Places where files end, which may be empty."""
    return sorted(random.choices(range(len(events) + 1), k=random.randint(0, 5)))


def write_files(folder: Path, events: Sequence[Any], cuts: Sequence[int]) -> list[Path]:
    """The events in files, which are cut before places."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, (start, stop) in enumerate(itertools.pairwise([0, *cuts, len(events)])):
        files.append(folder / f"{number:03d}.parquet")
        pq.write_table(table_of(events[start:stop]), files[-1])
    return files


def batches_of(files: Sequence[Path], random: Random) -> list[list[File]]:
    """Files in batches of one file or several."""
    batches: list[list[File]] = []
    for file in (File(path, 0.0) for path in files):
        if batches and random.random() < 0.3:
            batches[-1].append(file)
        else:
            batches.append([file])
    return batches


def prepared_for(text: str, algorithm: str, file: Path) -> Prepared:
    queries, instance = parse_supported(text, algorithm)
    return prepare(queries, instance, schema_of(queries, layout_of(file, EXPECTED)), "modular", Statistics())


def processor_in(folder: Path, prepared: Prepared, file: Path, buckets: int, delay: int) -> Processor:
    """A processor that has just started, perhaps after a processor that died."""
    return Processor(
        prepared,
        layout_of(file, EXPECTED),
        Checkpoint(folder / "checkpoint", {"stream": "of a test"}),
        Folder(folder / "rows"),
        Folder(folder / "late", "late"),
        buckets,
        delay,
    )


def rows_in(folder: Path) -> list[tuple[Any, ...]]:
    """All rows of a folder, in an order of their own."""
    files = sorted(folder.glob("*.parquet"))
    return plain(pd.concat([pq.read_table(file).to_pandas() for file in files])) if files else []


def plain(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Rows that can be compared, floats rounded."""
    rows = [tuple(_plain(value) for value in row) for row in frame.itertuples(index=False)]
    return sorted(rows, key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(int(part) for part in value)
    if value is None or value is pd.NA or value != value:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return float(f"{float(value):.9g}")  # a column of integers with nulls is read as floats
    return value


def live_cases(algorithm: str, number: int, most: int = 4000) -> list[Case]:
    """Random cases that an algorithm supports."""
    instance, cases = make(algorithm), []
    for seed in range(most):
        try:
            kinds = sorted(DETECTION) if instance.detects else [Feature.WORKLOAD, Feature.GROUPS, Feature.TIES]
            wanted_features = frozenset({kinds[seed % len(kinds)]})
            cases.append(random_case(seed, wanted_features, check=lambda queries: check_supported(queries, instance)))
        except (UnsupportedQuery, QueryError):
            continue
        if len(cases) == number:
            break
    return cases


def text_of(case: Case) -> str:
    return "\n\n".join(map(to_text, case.queries))
