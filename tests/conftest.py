"""The two tiers of tests, their groups, and shared fixtures.

Without `--all`, tests that are marked `full` or `cluster` are deselected; with it, those that are marked `contained`.

One process of pytest-xdist runs all tests of a group: those that start Spark, so that they share its virtual machine;
those that start a cluster, whose workers compile the same kernels; those that wait for processes with a Spark of their
own, so that not all processes wait at once; the contract of an algorithm and the tests of its folder, so that no two
processes compile or load the same kernels; and the tests of any other file.
Groups start in the order of `_rank`, so that no long one is left at the end. This needs `--no-loadscope-reorder`:
otherwise pytest-xdist starts the groups with the most tests first, and Spark, whose few tests take longest, after them.
"""

import gc
import os
import random
import re
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_MASTER = "local[2]"
ONLY_WITH_ALL = {"full", "cluster"}
WITH_SPARK = ("spark", "cluster", "apart")
"""Marks whose tests are a group, those that take longest first."""

# Sessions are short here: Java's second compiler costs more than it saves. Processes that tests start inherit it.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")

# A shell's background ignores interrupts, which processes that tests start would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also run tests marked `full` or `cluster`, as CI does")
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run files, and the tests of each, in an order drawn by a seed"
    )


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if _is_left_out(item, config.getoption("--all"))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        chosen = set(items) - set(left_out)
        items[:] = [item for item in items if item in chosen]
    if (seed := config.getoption("--shuffle")) is not None:
        _shuffle(items, seed)
    _sort(items)


def pytest_collection_finish() -> None:
    """Hides all tests from the garbage collector, which measured runs call: to visit them takes 0.3 s each time."""
    gc.freeze()


def _shuffle(items: list[pytest.Item], seed: int) -> None:
    """The same order in all processes, as xdist requires; the tests of a file stay together and share its fixtures."""
    items.sort(key=lambda item: item.nodeid)
    random.Random(seed).shuffle(items)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    items[:] = [item for file in files.values() for item in file]


def _sort(items: list[pytest.Item]) -> None:
    """Puts the groups that take longest first, and tests whose Spark sessions have the same options beside one another,
    since the workers of a new session load all kernels.
    """
    ranks: dict[str, int] = {}
    groups = dict[pytest.Item, str]()
    for item in items:
        rank, groups[item] = _place(item)
        ranks[groups[item]] = min(rank, ranks.get(groups[item], rank))
        item.add_marker(pytest.mark.xdist_group(groups[item]))
    items.sort(key=lambda item: (ranks[groups[item]], [str(mark.args) for mark in item.iter_markers("spark")]))


def _place(item: pytest.Item) -> tuple[int, str]:
    """How early a test starts its group, and the group."""
    marks = {mark.name for mark in item.iter_markers()}
    for rank, mark in enumerate(WITH_SPARK):
        if mark in marks:
            return rank, mark
    # The algorithm whose contract, or whose folder, the test belongs to.
    algorithm = re.match(r"tests/contract/\w+\.py::\w+\[(\w+?)[][:-]|tests/algorithms/\w+/(\w+)/", item.nodeid)
    if algorithm:
        return len(WITH_SPARK), algorithm[1] or algorithm[2]
    return len(WITH_SPARK) + 2 - ("full" in marks), item.nodeid.partition("::")[0]


def _is_left_out(item: pytest.Item, with_all: bool) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return "contained" in marks if with_all else not marks.isdisjoint(ONLY_WITH_ALL)


@pytest.fixture
def spark(_spark_settings: None) -> "SparkSession":
    """The session on two local cores, started once, and again after a test that used another master."""
    from cepbench.pipeline.session import session

    return session(SPARK_MASTER)


@pytest.fixture(scope="session")
def _spark_settings() -> Iterator[None]:
    """Stops Spark after the last test."""
    yield
    from cepbench.pipeline.session import stop

    stop()
