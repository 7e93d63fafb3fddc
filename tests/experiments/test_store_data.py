"""A store in place of an experiment's generator: refusals, the identity of its cells, and the text of figures."""

from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from cepbench.datasets.registry import DATASETS
from cepbench.events.errors import CepbenchError
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.figure import figure
from cepbench.experiments.load import experiments, find, load
from cepbench.experiments.planning import plan
from cepbench.experiments.points import cells
from cepbench.experiments.store_data import check_axes, check_fits, fixing
from cepbench.experiments.streams import prepare_stream
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.measured import Session
from tests.experiments.records import record

STOCK = {"company": 1, "sector": 0, "score": 0.25, "bound": 0.5}
HERE = cast(Session, None)


def store(path: Path, kind: str = "Stock", unit: str = "s", **changes: Any) -> str:
    rows = [{"time": time, "type": kind, **STOCK, **changes} for time in range(4)]
    import_events(pd.DataFrame(rows), path, spark=None, reading=unit)
    return str(path)


def test_an_axis_of_the_generator_alone_keeps_one_value(tmp_path: Path) -> None:
    data = store(tmp_path / "store")
    with pytest.raises(ExperimentError) as refused:
        plan(["greta-13.1"], "smoke", [f"data={data}"])
    assert str(refused.value) == (
        "greta-13.1: data: a store has no parameters that events could vary; keep one value of each: "
        "--set 'axes.events=[100]'"
    )
    [planned] = plan(["greta-13.1"], "smoke", [f"data={data}", "axes.events=[100]"])
    assert {cell.point["events"] for cell in planned.cells} == {100}


def test_axes_that_the_queries_use_too_may_vary() -> None:
    assert fixing(load(find("scale-rate"), "quick")) == []  # a rate of arrivals replays the store
    assert fixing(load(find("mcep-10-stock"), "quick")) == []
    equal = ["zip.duration=[900, 900, 900]", "zip.events=[5000, 5000, 5000]"]
    assert fixing(load(find("cogra-19.1"), "smoke")) == equal
    assert fixing(load(find("greta-13.2"), "smoke")) == ["axes.events=[200]"]
    assert fixing(load(find("cet-8.6"), "smoke")) == ["sweeps.compatibility.axes.compatibility=[3]"]


@pytest.mark.parametrize("name", experiments())
def test_the_options_that_a_refusal_names_mend_it(name: str) -> None:
    options = fixing(load(find(name), "smoke"))
    assert fixing(load(find(name), "smoke", options)) == []


@pytest.mark.parametrize(
    "declared", [declared for declared in DATASETS if declared.figures], ids=lambda declared: declared.name
)
def test_figures_of_a_data_set_know_its_attributes(declared: Any, tmp_path: Path) -> None:
    """Their generator is the stand-in, and the queries find their attributes in the data set's schema."""
    from cepbench.queries.compile import compile_workload
    from cepbench.queries.workloads import parse_workload

    assert set(declared.figures) <= set(declared.types)
    for name in (name for names in declared.figures.values() for name in names):
        experiment = load(find(name), "smoke")
        assert experiment.stream.generator == (declared.stand_in or "uniform")
        queries = parse_workload(cells(experiment, "smoke")[0].configuration["workload"])
        assert compile_workload(queries, declared.schema(strings=("buy", "sell")))


def test_a_store_that_does_not_fit_is_one_line(tmp_path: Path) -> None:
    def refusal(data: str) -> str:
        with pytest.raises(CepbenchError) as refused:
            plan(["greta-13.1"], "smoke", [f"data={data}", "axes.events=[100]"])
        assert "\n" not in str(refused.value)
        return str(refused.value)

    line = refusal(store(tmp_path / "bars", "Bar"))
    assert line.endswith("bars: no events of type Stock, which the queries need; the 1 types of the store are Bar")
    frame = pd.DataFrame({"time": [1], "type": ["Stock"], "company": [1], "sector": [1]})
    import_events(frame, tmp_path / "short", spark=None)
    assert "short: query Q1: the events have no attribute 'bound'; they have company, sector" in refusal(
        str(tmp_path / "short")
    )
    assert "day" in refusal(store(tmp_path / "days", unit="day"))
    (tmp_path / "e.csv").write_text("time,type\n1,Stock\n")
    for path in (tmp_path / "e.csv", tmp_path / "nowhere"):
        assert f"data: {path} is not an event store; cepbench import and generate write stores" in refusal(str(path))


def test_a_type_under_not_may_be_absent(tmp_path: Path) -> None:
    data = store(tmp_path / "store", "A")
    text = "RETURN COUNT(*) PATTERN SEQ(A X, NOT {}, A Y) WITHIN 5 seconds"
    stream = {"path": data, "store": {}}
    check_fits({"stream": stream, "workload": text.format("B"), "arithmetic": "modular"})
    with pytest.raises(CepbenchError, match="no events of type B"):
        check_fits({"stream": stream, "workload": text.format("B").replace("NOT ", ""), "arithmetic": "modular"})


def test_cells_and_figures_tell_which_stream_it_was(tmp_path: Path) -> None:
    first_data, second_data = store(tmp_path / "one"), store(tmp_path / "two", company=2)
    fixed = "axes.events=[100]"
    usual = load(find("greta-13.1"), "smoke", [fixed])
    first, second = (load(find("greta-13.1"), "smoke", [fixed, f"data={data}"]) for data in (first_data, second_data))
    check_axes(first)
    ids = [{cell.id for cell in cells(experiment, "smoke")} for experiment in (usual, first, second)]
    assert not ids[0] & ids[1]
    assert not ids[1] & ids[2]
    [cell, *_] = cells(first, "smoke")
    stream = cell.configuration["stream"]
    assert (stream["path"], stream["store"]["events"], len(stream["store"]["fingerprint"])) == (first_data, 4, 32)
    assert prepare_stream(cell.configuration, tmp_path, HERE).fingerprint == stream["store"]["fingerprint"]

    drawn = figure(first, "smoke", [record("greta", point={"events": 100})])
    assert drawn.data == f"own events (4 events, store {first_data})"
    assert drawn.title == f"{usual.title} on {drawn.data}"
    assert drawn.caption.endswith(f"Data: {drawn.data}.")
    assert drawn.departures[-1].what == f"the stream is {drawn.data}, not generator stock"
    assert figure(usual, "smoke", [record("greta", point={"events": 100})]).data == ""


def test_a_store_made_anew_makes_new_cells(tmp_path: Path) -> None:
    data = store(tmp_path / "store")
    options = ["axes.events=[100]", f"data={data}"]
    before = {cell.id for cell in cells(load(find("greta-13.1"), "smoke", options), "smoke")}
    frame = pd.DataFrame([{"time": time, "type": "Stock", **STOCK} for time in range(5)])
    import_events(frame, data, spark=None, replace=True)
    assert not before & {cell.id for cell in cells(load(find("greta-13.1"), "smoke", options), "smoke")}
