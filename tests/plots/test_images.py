"""A few drawings as images: places, styles, legends and labels.

`CEPBENCH_DRAW_IMAGES=1 ./run_tests.sh tests/plots/test_images.py` draws them again; look at the changes.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Drawing
from matplotlib.testing.compare import compare_images

from cepbench.metrics.commits import load_commits
from cepbench.metrics.figure import Axis, ClaimResult, Panel, PublishedCurve, Scale, Verdict
from cepbench.metrics.ranking import Entry, Ranking
from cepbench.metrics.record import Record, Summary
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.draw import draw
from cepbench.plots.effects import draw_effects
from cepbench.plots.plot import _drawing
from cepbench.plots.style import Page, paper
from cepbench.plots.trend import changes, draw_trend
from tests.plots.conftest import PANELS, make_figure, make_record, make_sweep, write_results

IMAGES = Path(__file__).parent / "images"
LATENCY = PANELS[0]
QUERIES = Axis(name="queries", label="Queries")
WORK = Axis(name="work", label="Kind of work", scale=Scale.CATEGORY, values=("SEQ", "SEQ with NOT", "AND"))


def cell(algorithm: str, point: dict[str, Any], status: Status = Status.OK, **values: float) -> Record:
    return make_record(algorithm, point, status=status, reason="why", summary=Summary(**values), memory=True)


def lines(folder: Path) -> Drawing:
    """Lines that end at timeouts, exhausted memory and a wrong answer, in three panels."""
    return draw(make_figure(), make_sweep())


def panels(folder: Path) -> Drawing:
    """Facets; in each a published curve, single rounds, intervals, a point that was not run, and every failure."""
    published = PublishedCurve(label="published", of="greta", source="a table", points=((1, 0.05), (2, 0.4), (9, 7.0)))
    records = []
    for queries in (1, 2, 3, 4):
        for number in range(7):
            seconds = queries * (1 + number / 10)
            shown = Summary(
                latency_p50=seconds, floor_total=seconds / 9, floor_batch=seconds / 9, service_total=seconds
            )
            greta = {"queries": queries, "data": "stock"}
            records.append(make_record("greta", greta, round=number, summary=shown))
            if queries != 3 and number < 3:
                point = {"queries": queries, "data": "stock"}
                records.append(make_record("cogra", point, round=number, summary=Summary(latency_p50=seconds / 3)))
    failures = [status for status in Status if status is not Status.OK]
    records += [cell("sase", {"queries": n, "data": "bus"}, status) for n, status in enumerate(failures, 1)]
    records += [cell("greta", {"queries": n, "data": "bus"}, latency_p50=0.5) for n in (1, 2)]
    figure = make_figure(
        x=QUERIES,
        facet=Axis(name="data", label="Data"),
        panels=(LATENCY.model_copy(update={"published": (published,)}),),
        labels={"cogra": "ours"},
    )
    return draw(figure, records, page=Page(width=3.3))


def bars(folder: Path) -> Drawing:
    """Categories with two series each, a failure, and a second panel with an axis of its own."""
    records = [
        cell(name, {"work": work, "rate": rate, "size": 1}, latency_p50=seconds * rate)
        for name, seconds in (("sase", 2.0), ("cogra", 0.25))
        for work in ("SEQ", "AND")
        for rate in (1, 3)
    ]
    records += [cell("sase", {"work": "SEQ with NOT", "rate": 1, "size": 1}, Status.TIMEOUT)]
    records += [cell("cogra", {"work": "SEQ", "rate": 1, "size": size}, latency_p50=size) for size in (5, 7)]
    by_work = LATENCY.model_copy(update={"where": {"size": 1}})
    by_size = LATENCY.model_copy(update={"where": {"work": "SEQ", "rate": 1}, "x": Axis(name="size", label="Size")})
    return draw(make_figure(x=WORK, series=Axis(name="rate", label="Rate"), panels=(by_work, by_size)), records)


def heat(folder: Path) -> Drawing:
    """Fields with numbers, the best of a column, and signs of failures."""
    records = [
        cell("greta", {"work": "SEQ"}, throughput=1000.0),
        cell("cogra", {"work": "SEQ"}, throughput=4000.0),
        cell("sase", {"work": "SEQ"}, Status.TIMEOUT),
        cell("greta", {"work": "SEQ with NOT"}, throughput=3000.0),
        cell("cogra", {"work": "AND"}, Status.UNSUPPORTED),
    ]
    return draw(make_figure(x=WORK, panels=(PANELS[1].model_copy(update={"kind": "heat"}),)), records)


def stacks(folder: Path) -> Drawing:
    """Parts of a time on one another, with the interval of their sum, single rounds, and a failure."""
    names = ("sharon", "sharon[optimizer=greedy]")

    def phases(algorithm: str, queries: int, number: int = 1, **seconds: float) -> Record:
        details = {f"{phase}_seconds": spent for phase, spent in seconds.items()}
        return make_record(algorithm, {"queries": queries}, round=number, summary=Summary(details=details))

    repeated = phases(names[0], 10, construction=4.0, search=3.0)
    runs = {"construction": [1.0, 2.0, 3.0, 5.0, 6.0, 7.0], "search": [5.0, 4.0, 3.0, 3.0, 2.0, 1.0]}
    records = [
        repeated.model_copy(update={"runs": {f"details.{phase}_seconds": runs[phase] for phase in runs}}),
        phases(names[0], 70, construction=2.0, expansion=3.0, search=10.0),
        phases(names[1], 10, construction=1.0, search=0.5),
        phases(names[1], 10, 2, construction=1.0, search=1.5),
        make_record(names[1], {"queries": 70}, status=Status.TIMEOUT),
    ]
    parts = [
        {"metric": f"details.{phase}_seconds", "label": phase} for phase in ("construction", "expansion", "search")
    ]
    panel = Panel.model_validate({"label": "Optimizer", "unit": "s", "kind": "bars", "parts": parts})
    return draw(make_figure(x=QUERIES, panels=(panel,), algorithms=names), records)


def trends(folder: Path) -> Drawing:
    """Ratios to the first commit with their intervals, and cells that were lost."""
    runs = (0.9, 0.95, 1.0, 1.0, 1.0, 1.05, 1.1)
    for number, seconds in enumerate((1.0, 1.1, 3.0)):
        records = [
            make_record(name, summary=Summary(latency_p50=took), runs={"latency_p50": [took * run for run in runs]})
            for name, took in (("greta", seconds), ("cogra", 1.0), ("sase", 2.0))
            if (name, number) != ("sase", 2)
        ]
        write_results(folder / str(number), make_figure(), records)
    entries = load_commits([folder / str(number) for number in range(3)])
    return draw_trend(entries, changes(entries))


def claims(folder: Path) -> Drawing:
    """Claimed effects against measured ones, with intervals and a bound."""
    numbers: dict[str, Any] = {"text": "t", "source": "s", "expected": "e", "size": "n 1", "unit": "x"}
    bound = ClaimResult(verdict=Verdict.OPEN, claimed=1e4, measured=500.0, low=500.0, bound=True, **numbers)
    figure = make_figure()
    results = [
        Results(folder, figure.model_copy(update={"claims": (*figure.claims, bound)}), ()),
        Results(folder, figure.model_copy(update={"experiment": "cogra-19.1"}), ()),
    ]
    drawing = draw_effects(results)
    assert drawing is not None
    return drawing


def ranking(folder: Path) -> Drawing:
    """A time with its interval, a time without, and a status."""
    entries = (
        Entry("cogra", Status.OK, seconds=1.0, low=0.9, high=1.2),
        Entry("greta", Status.OK, seconds=2.0),
        Entry("sase", Status.TIMEOUT),
        Entry("cet", Status.UNSUPPORTED),
    )
    return _drawing(Ranking(10, 1, 60.0, entries))


@pytest.mark.parametrize("make", [lines, panels, bars, heat, stacks, trends, claims, ranking])
def test_images(make: Callable[[Path], Drawing], tmp_path: Path) -> None:
    name = f"{make.__name__}.png"
    folder = IMAGES if os.environ.get("CEPBENCH_DRAW_IMAGES") else tmp_path
    drawing = make(tmp_path)
    with paper():
        drawing.savefig(folder / name, dpi=100, metadata={"Software": None})
    assert compare_images(str(IMAGES / name), str(folder / name), tol=0.5) is None
