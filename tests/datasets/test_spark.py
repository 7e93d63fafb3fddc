"""The declarations' SQL, evaluated by Spark as their docstrings say, on written-out and on published files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cepbench.datasets.base import Dataset
from cepbench.datasets.registry import dataset
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.session import session, stop

pytestmark = pytest.mark.spark
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data"
published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published samples are not here")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """In a time zone with daylight saving, which must not matter."""
    yield session(SparkCluster("local[2]", {"spark.sql.session.timeZone": "America/New_York"}))
    stop()


def rows(spark: SparkSession, found: Dataset, folder: Path) -> list[dict[str, Any]]:
    reader = spark.read.format(found.format).options(**found.options).schema(found.raw_schema())
    raw = reader.load(str(folder / found.files))
    kept = raw if found.filter is None else raw.where(found.filter)
    return [row.asDict() for row in kept.selectExpr(*found.select()).orderBy(*found.order_by()).collect()]


def test_nasdaq(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "NASDAQ_TINY.txt").write_text(
        "MSFT,200803090230,30.5,30.6,30.4,30.5,1200\nAAPL,200803090230,136,137,135,136.5,6700\n"
        "AAPL,197001020001,1,2,0.5,1.5,7\n"
    )
    found = rows(spark, dataset("nasdaq"), tmp_path)
    # 2008-03-09 02:30 does not exist in New York: clocks went from 02:00 to 03:00.
    assert [(row["time"], row["type"]) for row in found] == [
        (1441, "AAPL"),
        (13_947 * 1440 + 150, "AAPL"),
        (13_947 * 1440 + 150, "MSFT"),
    ]
    assert found[2] == {
        "time": 20_083_830, "type": "MSFT", "company": "MSFT",
        "open": 30.5, "high": 30.6, "low": 30.4, "close": 30.5, "volume": 1200, "difference": 0.0,
        "open_level": 30.5, "vol": 1200,
    }  # fmt: skip
    assert [row["difference"] for row in found] == [0.0, 135.0, 0.0]


def test_nasdaq_differences_are_to_the_stocks_bar_before(spark: SparkSession, tmp_path: Path) -> None:
    bars = [("A", 3, 10.1), ("B", 1, 7.0), ("A", 1, 10.0), ("B", 3, 6.5), ("A", 2, 9.75), ("B", 2, 7.0), ("C", 2, 1)]
    (tmp_path / "NASDAQ_TINY.txt").write_text(
        "".join(f"{name},19700101000{minute},1,1,1,{close},1\n" for name, minute, close in bars)
    )
    found = {(row["type"], row["time"]): row["difference"] for row in rows(spark, dataset("nasdaq"), tmp_path)}
    assert found == {
        ("A", 1): 0.0, ("A", 2): -0.25, ("A", 3): 0.35,
        ("B", 1): 0.0, ("B", 2): 0.0, ("B", 3): -0.5,
        ("C", 2): 0.0,
    }  # fmt: skip


def test_physical_activity(spark: SparkSession, tmp_path: Path) -> None:
    rest = " ".join(["30.25"] + ["0.5"] * 50)
    for folder, heart_rates in (("Protocol", (104.0, 105.0)), ("Optional", (90.0, 91.0))):
        (tmp_path / folder).mkdir()
        first, second = heart_rates
        (tmp_path / folder / "subject101.dat").write_text(
            f"8.38 0 {first} {rest}\n8.39 24 {first} {rest}\n8.40 9 NaN {rest}\n8.41 9 {second} {rest}\n"
        )
    found = rows(spark, dataset("physical_activity"), tmp_path)
    assert [tuple(row.values()) for row in found] == [
        (8390, "Measurement", 101, "active", 24, 104.0, 30.25),
        (8390, "Measurement", 201, "active", 24, 90.0, 30.25),
        (8410, "Measurement", 101, "passive", 9, 105.0, 30.25),
        (8410, "Measurement", 201, "passive", 9, 91.0, 30.25),
    ]


@published
def test_published_files(spark: SparkSession) -> None:
    nasdaq = rows(spark, dataset("nasdaq"), PUBLISHED)
    assert len(nasdaq) == 1769
    assert not any(value is None for row in nasdaq for value in row.values())

    activity = rows(spark, dataset("physical_activity_cet"), PUBLISHED)
    assert [row["id"] for row in activity] == list(range(1, 17_638))
    assert (activity[0]["time"], activity[-1]["time"]) == (6, 1940)

    hamlet = rows(spark, dataset("hamlet_synthetic"), PUBLISHED)
    assert [row["time"] for row in hamlet] == list(range(100_000))
    assert {row["type"] for row in hamlet} == {f"T{k}" for k in range(1, 15)}
