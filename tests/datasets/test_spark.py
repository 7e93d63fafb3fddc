"""The declarations' SQL, evaluated by Spark as their docstrings say, on written-out and on published files."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from cepbench.datasets.base import Dataset
from cepbench.datasets.registry import dataset
from cepbench.events.errors import InputError
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.raw_rows import REASON, files_of, judged, with_ranks
from cepbench.pipeline.session import session, stop

pytestmark = pytest.mark.spark("of a time zone")
PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data"
published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published samples are not here")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session in a time zone with daylight saving, which must not matter."""
    yield session(SparkCluster("local[2]", {"spark.sql.session.timeZone": "America/New_York"}))
    stop()


def rows(spark: SparkSession, declared: Dataset, folder: Path, scratch: Path | None = None) -> list[dict[str, Any]]:
    """The events, as Spark evaluates them, in the stream's order."""
    events = judged(spark, declared, files_of(declared, folder)).filter(f"{REASON} IS NULL")
    for ranked in declared.ranked:
        events = with_ranks(spark, events, ranked, scratch or folder)
    return [row.asDict() for row in events.selectExpr(*declared.select()).orderBy(*declared.order_by()).collect()]


def reasons(spark: SparkSession, declared: Dataset, folder: Path) -> list[str]:
    return sorted(row[REASON] for row in judged(spark, declared, files_of(declared, folder)).collect() if row[REASON])


def shown(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """Time, type and named attributes; score and bound are in [0, 1)."""
    assert 0 <= row["score"] < 1
    assert 0 <= row["bound"] < 1
    assert row["score"] != row["bound"]
    return (row["time"], row["type"], *(row[name] for name in names))


def test_stocks(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "NASDAQ_TINY.txt").write_text(
        "MSFT,200803090230,30.5,30.6,30.4,30.5,1200\nAAPL,20080309023005,136,137,135,136.5,6700\n"
        "AAPL,19700102,1,2,0.5,1.5,7\nAAPL,200803092430,1,2,3,4,5\nAAPL,20081340,1,2,3,4,5\nAAPL,20080309,1,2,3,4\n"
        "AAPL,20080310,136,137,135,,6700\nAAPL,20080310,136,137,135,136,6700\n"
    )
    bars = rows(spark, dataset("nasdaq").typed("side"), tmp_path)
    day = 13_947 * 86400
    # 2008-03-09 02:30 does not exist in New York: clocks went from 02:00 to 03:00.
    assert [shown(row, "ticker", "company", "price", "difference", "side") for row in bars] == [
        (86400, "Buy", "AAPL", 0, 1.5, 0.0, "buy"),
        (day + 9000, "Buy", "MSFT", 1, 30.5, 0.0, "buy"),
        (day + 9005, "Buy", "AAPL", 0, 136.5, 135.0, "buy"),
        (day + 86400, "Sell", "AAPL", 0, 136.0, -0.5, "sell"),
    ]
    names = ("open", "high", "low", "close", "volume", "open_level", "vol", "sector")
    assert shown(bars[1], *names)[2:] == (30.5, 30.6, 30.4, 30.5, 1200, 30.5, 1200, 1)
    moment = "a moment that is not yyyyMMdd, with HHmm or HHmmss"
    assert reasons(spark, dataset("nasdaq"), tmp_path) == sorted(
        ["a line without the columns of the layout", moment, "no close", "no time"]
    )


@pytest.mark.full
def test_nasdaq_differences_are_to_the_stocks_bar_before(spark: SparkSession, tmp_path: Path) -> None:
    bars = [("A", 3, 10.1), ("B", 1, 7.0), ("A", 1, 10.0), ("B", 3, 6.5), ("A", 2, 9.75), ("B", 2, 7.0), ("C", 2, 1)]
    (tmp_path / "NASDAQ_TINY.txt").write_text(
        "".join(f"{name},19700101000{minute},1,1,1,{close},1\n" for name, minute, close in bars)
    )
    differences = {
        (row["type"], row["time"] // 60): row["difference"] for row in rows(spark, dataset("nasdaq"), tmp_path)
    }
    assert differences == {
        ("C0", 1): 0.0, ("C0", 2): -0.25, ("C0", 3): 0.35,
        ("C1", 1): 0.0, ("C1", 2): 0.0, ("C1", 3): -0.5,
        ("C2", 2): 0.0,
    }  # fmt: skip


def test_physical_activity(spark: SparkSession, tmp_path: Path) -> None:
    values = " ".join(["30.25"] + ["0.5"] * 50)
    for folder, heart_rates in (("Protocol", (104.0, 105.0)), ("Optional", (90.0, 91.0))):
        (tmp_path / folder).mkdir()
        first, second = heart_rates
        (tmp_path / folder / "subject101.dat").write_text(
            f"8.38 0 {first} {values}\n8.39 24 {first} {values}\n8.40 9 NaN {values}\n8.41 9 {second} {values}\n"
        )
    activities = rows(spark, dataset("physical_activity"), tmp_path)
    assert [tuple(row.values()) for row in activities] == [
        (8390, "Measurement", 101, "active", 24, 104.0, 30.25),
        (8390, "Measurement", 201, "active", 24, 90.0, 30.25),
        (8410, "Measurement", 101, "passive", 9, 105.0, 30.25),
        (8410, "Measurement", 201, "passive", 9, 91.0, 30.25),
    ]


def test_three_million_flights_of_vega(spark: SparkSession, tmp_path: Path) -> None:
    """With the Arrow types of the file in version 3.2 of the package."""
    moments = [datetime(2001, 4, 1, 2, 30), datetime(2001, 1, 1, 0, 1), datetime(2001, 4, 1, 2, 30), None]
    table = pa.table(
        {
            "date": pa.array(moments, pa.timestamp("us")),  # 02:30 of the first does not exist in New York
            "delay": pa.array([-9, 33, 15, 1], pa.int64()),
            "distance": pa.array([309, 2176, 75, 75], pa.int64()),
            "origin": pa.array(["RIC", "LAS", "MDW", "MDW"], pa.large_string()),
            "destination": pa.array(["ORF", "PHL", "MCI", "MCI"], pa.large_string()),
        }
    )
    pq.write_table(table, tmp_path / "flights-3m.parquet")
    flights = dataset("flights_3m")
    names = ("time", "type", "origin", "dest", "delay", "distance")
    spring = 11_413 * 86400 + 2 * 3600 + 1800
    for file in (tmp_path, tmp_path / "flights-3m.parquet"):
        assert [tuple(row[name] for name in names) for row in rows(spark, flights, file, tmp_path)] == [
            (11_323 * 86400 + 60, "Flight", "LAS", "PHL", 33, 2176),
            (spring, "Flight", "MDW", "MCI", 15, 75),
            (spring, "Flight", "RIC", "ORF", -9, 309),
        ]
    assert reasons(spark, flights, tmp_path) == ["no date"]
    late = [row["type"] for row in rows(spark, flights.typed("lateness"), tmp_path)]
    assert late == ["Late", "Late", "OnTime"]


@pytest.mark.full
def test_taxi_trips_of_both_formats(spark: SparkSession, tmp_path: Path) -> None:
    header = "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,RatecodeID"
    header += ",store_and_fwd_flag,PULocationID,DOLocationID,payment_type,fare_amount,total_amount"
    (tmp_path / "yellow_tripdata_2018-01.csv").write_text(
        f"{header}\n1,2018-03-11 02:30:01,2018-03-11 02:40:00,1,2.5,1,N,41,24,2,4.5,5.8\n"
        "2,2018-03-11 02:30:00,2018-03-11 02:40:00,,.5,1,N,24,24,1,4.5,-5.3\n"
        "2,yesterday,2018-03-11 02:40:00,1,.5,1,N,24,24,1,4.5,5.3\n1,2018-03-11 02:30:01,,1,2.5,1,N,,24,2,4.5,5.8\n"
    )
    january = pa.table(
        {
            "VendorID": pa.array([2], pa.int32()),
            "tpep_pickup_datetime": pa.array([datetime(2024, 1, 1, 0, 57, 55)], pa.timestamp("us")),
            "passenger_count": pa.array([3.0]),
            "trip_distance": pa.array([1.72]),
            "PULocationID": pa.array([186], pa.int64()),
            "DOLocationID": pa.array([41], pa.int32()),
            "payment_type": pa.array([0], pa.int64()),
            "total_amount": pa.array([22.7]),
            "Airport_fee": pa.array([0.0]),
        }
    )
    pq.write_table(january, tmp_path / "yellow_tripdata_2024-01.parquet")
    names = ("vendor", "pickup", "dropoff", "pickup_location", "dropoff_location", "passengers", "price", "payment")
    # Location 24 has three ends of trips, 41 two, 186 one.
    day = 17_601 * 86400
    assert [shown(row, *names) for row in rows(spark, dataset("nyc_taxi"), tmp_path)] == [
        (day + 9000, "Zone0", 2, 0, 0, 24, 24, None, -5, "card"),
        (day + 9001, "Zone1", 1, 1, 0, 41, 24, 1, 6, "cash"),
        (19_723 * 86400 + 3475, "Zone2", 2, 2, 1, 186, 41, 3, 23, "other"),
    ]
    assert reasons(spark, dataset("nyc_taxi"), tmp_path) == ["no PULocationID", "no time"]
    (tmp_path / "yellow_tripdata_2010-01.csv").write_text("vendor_id,pickup_datetime\nVTS,2010-01-01 00:00:00\n")
    with pytest.raises(InputError, match=r"2010-01.csv: columns 'VendorID' and 'tpep_pickup_datetime' and .* missing"):
        rows(spark, dataset("nyc_taxi"), tmp_path)


@pytest.mark.full
def test_smart_plugs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "sorted.csv").write_text(
        "2967740693,1379879533,82.042,0,1,0,12\n2967740694,1379879533,0,1,1,2,12\n2967740695,1379879534,1,2,0,0,0\n"
        "2967740696,1379879534,1,1,0,0\n"
    )
    names = ("house", "household", "plug", "property", "value")
    assert [shown(row, *names) for row in rows(spark, dataset("debs_2014"), tmp_path)] == [
        (1_379_879_533, "House12", 12, 0, 12_000_001, "work", 82.042),
        (1_379_879_533, "House12", 12, 2, 12_002_001, "load", 0.0),
    ]
    assert [row["type"] for row in rows(spark, dataset("debs_2014").typed("property"), tmp_path)] == ["Work", "Load"]
    malformed = "a line without the columns of the layout"
    assert reasons(spark, dataset("debs_2014"), tmp_path) == [
        malformed,
        "a property that is neither 0 (work) nor 1 (load)",
    ]


def test_bus_positions(spark: SparkSession, tmp_path: Path) -> None:
    columns = "CD,0,-6.258584,53.340099,-361,15001,33488,748,0"
    (tmp_path / "siri.20130101.csv").write_text(
        f"1357000842000000,15,0,00150001,2012-12-31,6056,{columns}\n1357000843000000,15,0,null,2012-12-31,7,{columns}\n"
        f"1357000844000000,46,0,null,2012-12-31,7,{columns}\n1357000845000000,,0,null,2012-12-31,7,{columns}\n"
        f"1357000846000000,46A,0,null,2012-12-31,7,{columns}\n"
    )
    names = ("Line_ID", "congestion", "longitude", "latitude", "delay", "journey", "vehicle", "at_stop")
    place = (0, -6.258584, 53.340099, -361)
    assert [shown(row, *names) for row in rows(spark, dataset("dublin_bus"), tmp_path)] == [
        (1_357_000_842, "WBA", 15, *place, 6056, 33488, 0),
        (1_357_000_843, "TOQ", 15, *place, 7, 33488, 0),
        (1_357_000_844, "TOQ", 46, *place, 7, 33488, 0),
    ]
    malformed = "a line without the columns of the layout"
    assert reasons(spark, dataset("dublin_bus"), tmp_path) == [malformed, "no line"]


@pytest.mark.full
def test_road_traffic(spark: SparkSession, tmp_path: Path) -> None:
    header = "status,avgMeasuredTime,avgSpeed,extID,medianMeasuredTime,TIMESTAMP,vehicleCount,_id,REPORT_ID"
    (tmp_path / "trafficData158324.csv").write_text(
        f"{header}\nOK,66,56,668,66,2014-03-30T02:30:00,7,190000,158324\nOK,66,57,668,66,2014-03-30T02:35:00,8,190449,158324\n"
        "OK,,,668,,2014-03-30T02:40:00,8,190450,158324\n"
    )
    (tmp_path / "trafficData158355.csv").write_text(f"{header}\nOK,1,50.5,5,1,2014-03-30T02:30:00,0,190001,158355\n")
    day = 16_159 * 86400
    assert [
        shown(row, "point", "report", "speed", "vehicles") for row in rows(spark, dataset("aarhus_traffic"), tmp_path)
    ] == [
        ((day + 9000) * 1000, "P0", 0, 158324, 56.0, 7),
        ((day + 9000) * 1000, "P1", 1, 158355, 50.5, 0),
        ((day + 9300) * 1000, "P0", 0, 158324, 57.0, 8),
    ]
    assert reasons(spark, dataset("aarhus_traffic"), tmp_path) == ["no avgSpeed"]


@pytest.mark.full
def test_linear_road(spark: SparkSession, tmp_path: Path) -> None:
    def report(time: int, vehicle: int, position: int) -> str:
        return f"0,{time},{vehicle},32,0,0,1,{position // 5280},{position},-1,-1,-1,-1,-1,-1\n"

    (tmp_path / "datafile20seconds.dat").write_text(
        "".join(report(30 * k, 7, position) for k, position in enumerate((6000, 6000, 6000, 6000, 6000, 6500)))
        + report(60, 8, 6000)
        + "2,60,8,-1,-1,-1,-1,-1,-1,4,-1,-1,-1,-1,-1\n0,90,9,32,0,0,1,2\n"
    )
    reports = rows(spark, dataset("linear_road_reports"), tmp_path)
    assert [shown(row, "vehicle", "segment", "position", "direction", "speed") for row in reports] == [
        (0, "Position", 7, 1, 6000, 1, 32),
        (30, "Position", 7, 1, 6000, 1, 32),
        (60, "Position", 7, 1, 6000, 1, 32),
        (60, "Position", 8, 1, 6000, 1, 32),
        (90, "Accident", 7, 1, 6000, 1, 32),
        (120, "Accident", 7, 1, 6000, 1, 32),
        (150, "Position", 7, 1, 6500, 1, 32),
    ]
    assert reasons(spark, dataset("linear_road_reports"), tmp_path) == ["a line without the columns of the layout"]
    segments = rows(spark, dataset("linear_road_reports").typed("segment"), tmp_path)
    assert {row["type"] for row in segments} == {"Segment1"}


@published
@pytest.mark.full
def test_published_files(spark: SparkSession, tmp_path: Path) -> None:
    nasdaq = rows(spark, dataset("nasdaq").typed("ticker"), PUBLISHED, tmp_path)
    assert len(nasdaq) == 1769
    assert not any(value is None for row in nasdaq for value in row.values())

    activity = rows(spark, dataset("physical_activity_cet"), PUBLISHED)
    assert [row["id"] for row in activity] == list(range(1, 17_638))
    assert (activity[0]["time"], activity[-1]["time"]) == (6, 1940)

    hamlet = rows(spark, dataset("hamlet_synthetic"), PUBLISHED)
    assert [row["time"] for row in hamlet] == list(range(100_000))
    assert {row["type"] for row in hamlet} == {f"T{k}" for k in range(1, 15)}
    letters = rows(spark, dataset("hamlet_synthetic").typed("letter"), PUBLISHED)
    assert {row["type"] for row in letters} == set("ABCDEFGHIJKLMN")
