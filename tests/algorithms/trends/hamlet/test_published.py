"""The workloads that the authors of Hamlet and Gloria published run in every mode, and agree with COGRA.

They are beside the repository, if at all. One file of each kind by default; `CEPBENCH_HAMLET_FILES=20
CEPBENCH_HAMLET_EVENTS=20000` for all, on longer streams.
"""

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.model import Query, occurrences
from cepbench.queries.parser import parse_query
from cepbench.queries.workloads import load_workload
from cepbench.verification.agreement import difference_of_rows, rows_of
from cepbench.verification.evaluators import run
from tests.algorithms.trends.hamlet.decisions import all_decisions

SHARED = Path(__file__).parents[5] / "shared"
REFERENCE = SHARED / "reference"
FILES = int(os.environ.get("CEPBENCH_HAMLET_FILES", "1"))
EVENTS = int(os.environ.get("CEPBENCH_HAMLET_EVENTS", "1500"))
ATTRIBUTES = ("open_level", "open", "vol", "Line_ID", "delay", "congestion")

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not REFERENCE.exists(), reason="needs the published material beside the repository"),
]


def smallest(folder: str, pattern: str = "*.txt") -> list[Path]:
    """The files of a folder with the fewest bytes; none if the folder is not there."""
    return sorted((REFERENCE / folder).glob(pattern), key=lambda file: (file.stat().st_size, file.name))[:FILES]


BUS = (
    "KleeneWorkload/KleeneLayers",
    "KleeneWorkload/kleeneLength",
    "MixWorkload",
    "MixWorkload/kleeneRatio",
    "SEQWorkload",
)
WORKLOADS = [*smallest("hamlet/nasdaq_workloads")]
WORKLOADS += [file for folder in BUS for file in smallest(f"gloria/workloads/bus/{folder}")]


def walk(queries: Sequence[Query], size: int, seed: int) -> EventBatch:
    """A stream of an event every two seconds in which the queries' types come in their order, in short bursts."""
    random = Random(seed)
    ordered = [[event.type for event in occurrences(query.pattern)] for query in queries]
    types = sorted({name for names in ordered for name in names})
    kinds: list[int] = []
    while len(kinds) < size:
        for name in random.choice(ordered):
            if random.random() < 0.9:
                kinds += [types.index(name)] * random.choice((1, 1, 2, 8))
    numbers = np.arange(size, dtype=np.int64)
    draw = np.random.default_rng(seed)
    columns = {name: draw.integers(0, 200, size) for name in ATTRIBUTES}
    columns |= {name: draw.integers(0, 2, size) for name in ("open_level", "Line_ID", "congestion")}
    schema = Schema(tuple(types), tuple(Attribute(name, Kind.INT) for name in ATTRIBUTES))
    return EventBatch(schema, 2 * numbers, np.array(kinds[:size], np.int32), columns, numbers)


def check(queries: Sequence[Query], events: EventBatch) -> None:
    expected = rows_of(run(make("cogra"), queries, [events]))
    assert sum(not row["overflow"] for row in expected) > len(expected) / 3
    for algorithm in all_decisions(len(queries)):
        reason = difference_of_rows(expected, rows_of(run(algorithm, queries, [events])))
        assert reason is None, f"{vars(algorithm)}: {reason}"


@pytest.mark.parametrize("file", WORKLOADS, ids=[str(file.relative_to(REFERENCE)) for file in WORKLOADS])
def test_published_workloads_agree_with_cogra(file: Path) -> None:
    queries = load_workload(file)
    check(queries, walk(queries, EVENTS, 0))


LISTED = smallest("hamlet/queries")


@pytest.mark.parametrize("file", LISTED, ids=[file.name for file in LISTED])
@pytest.mark.parametrize("window", ["WITHIN 150 s SLIDE 50 s", "WITHIN 100 s"])
def test_published_patterns_agree_with_cogra_on_the_published_stream(file: Path, window: str) -> None:
    """Lines such as `12,1,2+,5,14`: types by number. Their windows are not published."""
    queries = []
    for n, line in enumerate(file.read_text().split()):
        pattern = ", ".join(f"T{number}" for number in line.split(","))
        queries.append(parse_query(f"q{n}: RETURN COUNT(*) PATTERN SEQ({pattern}) {window}"))
    check(queries, published_stream())


def published_stream() -> EventBatch:
    """The first events of Hamlet's synthetic stream: rows of time, type and group."""
    [file] = (SHARED / "data").glob("hamlet_synthetic_*.txt.gz")
    with gzip.open(file, "rt") as lines:
        rows = np.loadtxt(lines, np.int64, delimiter=",", max_rows=EVENTS)
    schema = Schema(tuple(f"T{n}" for n in range(1, 15)), (Attribute("key", Kind.INT),))
    kinds = (rows[:, 1] - 1).astype(np.int32)
    return EventBatch(schema, rows[:, 0].copy(), kinds, {"key": rows[:, 2].copy()}, np.arange(len(rows)))
