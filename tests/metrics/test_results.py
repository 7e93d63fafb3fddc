import pytest

from cepbench.metrics.figure import Axis, Figure, Panel
from cepbench.metrics.record import Realised, Record, Summary
from cepbench.metrics.results import ResultsError, load_results, read
from cepbench.metrics.status import Status
from cepbench.metrics.values import is_memory, value

FIGURE = Figure(
    id="13.1",
    experiment="greta-13.1",
    profile="smoke",
    title="t",
    paper="p",
    x=Axis(name="n", label="Events"),
    panels=(Panel(metric="latency_p50", label="Latency"),),
    algorithms=("sase", "greta"),
)


def record(algorithm="greta", n=1, **changes):
    fields = {
        "cell": f"{algorithm}{n}",
        "group": str(n),
        "experiment": "greta-13.1",
        "profile": "smoke",
        "algorithm": algorithm,
        "point": {"n": n},
        "round": 1,
        "configuration": {},
        "status": Status.OK,
        "limit_seconds": 1.0,
        "limit_bytes": 1,
    }
    return Record(**(fields | changes))


def save(root, figure, records):
    folder = root / figure.experiment / figure.profile
    (folder / "cells").mkdir(parents=True)
    (folder / "figure.json").write_text(figure.model_dump_json())
    for number, entry in enumerate(records):
        (folder / "cells" / f"{number}.json").write_text(entry.model_dump_json())
    return folder


def test_cells_come_in_the_order_of_the_figure_then_by_number(tmp_path):
    folder = save(tmp_path, FIGURE, [record(a, n) for a in ("zeta", "greta", "sase") for n in (100, 20, 3)])
    results = read(folder)
    assert results.figure == FIGURE
    assert [r.cell for r in results.records] == [f"{a}{n}" for a in ("sase", "greta", "zeta") for n in (3, 20, 100)]


def test_figures_are_found_at_every_level_and_sorted_by_number(tmp_path):
    for number in ("13.10", "13.4", "9"):
        save(tmp_path, FIGURE.model_copy(update={"id": number, "experiment": f"e{number}"}), [])
    assert [results.figure.id for results in load_results(tmp_path)] == ["9", "13.4", "13.10"]
    assert len(load_results(str(tmp_path / "e9"))) == len(load_results(tmp_path / "e9" / "smoke")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Invalid JSON"),
        ('{"format": 2}', "Field required"),
        (record().model_dump_json().replace('"ok"', '"fine"'), "status"),
        (record(experiment="other").model_dump_json(), "a cell of other"),
        (
            record().model_dump_json().replace('"format":2', '"format":99'),
            "record format 99, expected 2; use the version",
        ),
        ('{"format": 1, "measurement": "time"}', "record format 1, expected 2; cepbench 1.0 reads it"),
    ],
)
def test_a_bad_cell_is_refused_in_one_line_that_names_it(tmp_path, text, message):
    folder = save(tmp_path, FIGURE, [])
    (folder / "cells" / "bad.json").write_text(text)
    with pytest.raises(ResultsError, match=message) as caught:
        read(folder)
    assert "bad.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_figure_is_refused(tmp_path):
    with pytest.raises(ResultsError, match=r"figure\.json: no such file"):
        read(tmp_path)


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="unknown metric 'speed'"):
        Panel(metric="speed", label="Speed")
    with pytest.raises(KeyError, match="unknown metric"):
        value(record(), "realised.nothing")


def test_values():
    full = record(
        summary=Summary(latency_p50=0.5, state_kinds={"edges": 7}, sustainable_low=3.0, sustainable_high=4.0),
        realised=Realised(events=10, windows=1, rows=1, substreams=1),
    )
    assert [
        value(full, m)
        for m in (
            "latency_p50",
            "state_kinds.edges",
            "state_kinds.events",
            "sustainable",
            "realised.events",
            "throughput",
        )
    ] == [0.5, 7.0, None, 3.0, 10.0, None]
    assert [is_memory(m) for m in ("latency_p50", "state_peak", "state_kinds.edges", "realised.rows")] == [
        False,
        True,
        True,
        False,
    ]
