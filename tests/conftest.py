"""Fixtures that many folders use."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_MASTER = "local[2]"


@pytest.fixture
def spark(_spark_settings: None) -> "SparkSession":
    """The session on two local cores; started once, and again when a test used another master."""
    from cepbench.pipeline.session import session

    return session(SPARK_MASTER)


@pytest.fixture(scope="session")
def _spark_settings() -> Iterator[None]:
    """Stops Spark after the last test."""
    yield
    from cepbench.pipeline.session import stop

    stop()
