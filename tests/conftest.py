"""The two tiers of tests, their groups, and shared fixtures.

Without `--all`, tests that are marked `full` or `cluster` are deselected, and of the cases of a test that is marked
`sampled(n)` about one in n is run, chosen by its name. With it, those that are marked `contained` are.

One process of pytest-xdist runs all tests of a group: those that start Spark, so that they share its virtual machine;
the contract of an algorithm and the tests of its folder, so that no two processes compile or load the same kernels; and
the tests of any other file.
"""

import os
import random
import re
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_MASTER = "local[2]"
ONLY_WITH_ALL = ("full", "cluster")

# Sessions are short here: Java's second compiler costs more than it saves. Processes that tests start inherit it.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")


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
    items.sort(key=_place)


def _shuffle(items: list[pytest.Item], seed: int) -> None:
    """The same order in all processes, as xdist requires; the tests of a file stay together and share its fixtures."""
    items.sort(key=lambda item: item.nodeid)
    random.Random(seed).shuffle(items)
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    items[:] = [item for file in files.values() for item in file]


def _place(item: pytest.Item) -> tuple[bool, str]:
    """The longest group begins first, and starts a session, with workers that load all kernels, only where it must."""
    spark = item.get_closest_marker("spark")
    return spark is None, str(spark.args) if spark else ""


def _group(item: pytest.Item) -> str:
    if item.get_closest_marker("spark"):
        return "spark"
    algorithm = re.search(r"test_contract\[(\w+):|^tests/algorithms/(\w+)/", item.nodeid)
    return algorithm[1] or algorithm[2] if algorithm else item.nodeid.partition("::")[0]


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
