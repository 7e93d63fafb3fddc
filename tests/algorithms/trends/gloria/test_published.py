"""The workloads that the authors of Gloria published, as they are, on a generated bus stream: all systems agree.

They are beside the repository, if at all. Every file is parsed and compiled, and one of each kind runs;
`CEPBENCH_GLORIA_FILES=20 CEPBENCH_GLORIA_EVENTS=20000` runs all, on a longer stream.
"""

import os
from functools import cache
from pathlib import Path

import pytest

from cepbench.algorithms.registry import ALGORITHMS, make
from cepbench.events.batch import EventBatch
from cepbench.generators.journeys import CHAIN, ENDS
from cepbench.queries.compile import compile_workload
from cepbench.queries.workloads import load_workload
from cepbench.verification.agreement import difference_of_rows, rows_of
from cepbench.verification.evaluators import run
from tests.generators.streams import stream

PUBLISHED = Path(__file__).parents[5] / "shared" / "reference" / "gloria" / "workloads" / "bus"
FILES = int(os.environ.get("CEPBENCH_GLORIA_FILES", "1"))
EVENTS = int(os.environ.get("CEPBENCH_GLORIA_EVENTS", "2500"))
FOLDERS = (
    "KleeneWorkload/KleeneLayers",
    "KleeneWorkload/kleeneLength",
    "MixWorkload",
    "MixWorkload/kleeneRatio",
    "SEQWorkload",
)
OPTIMIZERS = ("gloria", "gloria[optimizer=exact]", "gloria[optimizer=greedy]")

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not PUBLISHED.exists(), reason="needs the published material beside the repository"),
]


def files_of(folder: str) -> list[Path]:
    """The files of a folder, those with the fewest bytes first; none if the folder is not there."""
    return sorted((PUBLISHED / folder).glob("*.txt"), key=lambda file: (file.stat().st_size, file.name))


def named(files: list[Path]) -> list[str]:
    return [str(file.relative_to(PUBLISHED)) for file in files]


ALL = [file for folder in FOLDERS for file in files_of(folder)]
SMALL = [file for folder in FOLDERS for file in files_of(folder)[:FILES]]


@cache
def buses() -> EventBatch:
    """25 minutes of the journeys that the workloads name, and few others, on two lines."""
    journeys = len(CHAIN) + len(ENDS) + 10
    return stream(
        "bus", events=EVENTS, rate=f"{EVENTS}/1500", journeys=journeys, hot=len(CHAIN), hot_share=0.4, lines=2, seed=3
    )


@pytest.mark.parametrize("file", ALL, ids=named(ALL))
def test_published_workloads_compile_for_the_bus_stream(file: Path) -> None:
    queries = load_workload(file)
    assert len(compile_workload(queries, buses().schema)) == len(queries) == file.read_text().count("PATTERN ")


@pytest.mark.parametrize("file", SMALL, ids=named(SMALL))
@pytest.mark.parametrize(
    "algorithm",
    ["greta", *(name for name in OPTIMIZERS if "gloria" in {algorithm.name for algorithm in ALGORITHMS})],
)
def test_published_workloads_are_answered_as_by_cogra(file: Path, algorithm: str) -> None:
    queries = load_workload(file)
    expected = rows_of(run(make("cogra"), queries, [buses()]))
    assert len(expected) > len(queries)
    assert sum(not row["overflow"] for row in expected) > len(expected) / 2
    reason = difference_of_rows(expected, rows_of(run(make(algorithm), queries, [buses()])))
    assert reason is None, reason
