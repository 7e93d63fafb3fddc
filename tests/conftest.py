"""The two tiers of tests, their groups, and shared fixtures.

Without `--all`, tests that are marked `full` or `cluster` are deselected, and of the cases of a test that is marked
`sampled(n)` about one in n is run, chosen by its name. With it, those that are marked `contained` are.

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
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_MASTER = "local[2]"
ONLY_WITH_ALL = ("full", "cluster")
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
    left_out = []
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
        if item.get_closest_marker("contained") if config.getoption("--all") else _is_left_out(item):
            left_out.append(item)
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
    for item in items:
        ranks[_group(item)] = min(_rank(item), ranks.get(_group(item), _rank(item)))
    items.sort(key=lambda item: (ranks[_group(item)], [str(mark.args) for mark in item.iter_markers("spark")]))


def _rank(item: pytest.Item) -> int:
    """How early the group of a test starts."""
    marked = item.get_closest_marker
    longest_first = (*map(marked, WITH_SPARK), _algorithm(item), marked("full"))
    return next((rank for rank, found in enumerate(longest_first) if found), len(longest_first))


def _group(item: pytest.Item) -> str:
    for mark in WITH_SPARK:
        if item.get_closest_marker(mark):
            return mark
    return _algorithm(item) or item.nodeid.partition("::")[0]


def _algorithm(item: pytest.Item) -> str:
    """The algorithm whose contract, or whose folder, a test belongs to; empty if there is none."""
    found = re.match(r"tests/contract/\w+\.py::\w+\[(\w+?)[][:-]|tests/algorithms/\w+/(\w+)/", item.nodeid)
    return found[1] or found[2] if found else ""


def _is_left_out(item: pytest.Item) -> bool:
    if any(map(item.get_closest_marker, ONLY_WITH_ALL)):
        return True
    sampled = item.get_closest_marker("sampled")
    return sampled is not None and zlib.crc32(item.nodeid.encode()) % sampled.args[0] != 0


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
