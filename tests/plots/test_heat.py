from cepbench.metrics.figure import Axis, Panel, Scale
from cepbench.metrics.record import Summary
from cepbench.metrics.status import Status
from cepbench.plots.draw import render
from cepbench.plots.pareto import draw_trade, trade
from cepbench.plots.standings import rankings

PANEL = Panel(metric="throughput", label="Throughput", unit="events/s", kind="heat")
WORK = Axis(name="work", label="Kind of work", scale=Scale.CATEGORY, values=("SEQ", "NOT"))


def arena(figure, record):
    def cell(algorithm, work, speed=None, status=Status.OK):
        return record(algorithm, {"work": work}, status=status, reason="why", summary=Summary(throughput=speed))

    records = [
        cell("greta", "SEQ", 1000.0),
        cell("cogra", "SEQ", 4000.0),
        cell("sase", "SEQ", status=Status.TIMEOUT),
        cell("greta", "NOT", 3000.0),
        cell("cogra", "NOT", status=Status.UNSUPPORTED),
    ]
    return figure(x=WORK, panels=(PANEL,)), records


def test_rankings_come_from_the_records(figure, record):
    page = "".join(rankings(*arena(figure, record)))
    assert "COGRA, 4 times better than GRETA" in page
    assert "GRETA, the only one" in page
    assert "SASE (timeout)" in page
    assert "COGRA (unsupported)" in page


def test_figures_of_papers_without_heat_maps_have_no_ranking(figure, sweep):
    assert rankings(figure(), sweep) == []


def test_lines_of_a_comparison_are_ranked_at_each_point(figure, record):
    axis, panel = Axis(name="queries", label="Queries"), Panel(metric="latency_p99", label="Latency", title="SEQ")
    seconds = {("greta", 1): 0.5, ("cogra", 1): 0.1, ("greta", 9): 1.0, ("cogra", 9): 3.0}
    records = [
        record(name, {"queries": at}, cell=f"{name}{at}", summary=Summary(latency_p99=number))
        for (name, at), number in seconds.items()
    ]
    page = "".join(rankings(figure(paper="", x=axis, panels=(panel,)), records))
    assert "Latency, SEQ" in page
    assert "COGRA, 5 times better than GRETA" in page
    assert "GRETA, 3 times better than COGRA" in page


def test_a_lead_within_the_noise_is_none(figure, record):
    runs = {"greta": [2000.0, 3000.0, 5000.0], "cogra": [3000.0, 4000.0, 4500.0]}
    records = [
        record(name, {"work": "SEQ"}, round=number, cell=f"{name}{number}", summary=Summary(throughput=speed))
        for name, speeds in runs.items()
        for number, speed in enumerate(speeds)
    ]
    page = "".join(rankings(figure(x=WORK, panels=(PANEL,)), records))
    assert "COGRA, within the noise of GRETA" in page


def test_all_that_are_equally_good_are_named(figure, record):
    speeds = {"greta": 2000.0, "cogra": 3000.0, "hamlet": 3000.0, "gloria": 3000.0}
    records = [record(name, {"work": "SEQ"}, cell=name, summary=Summary(throughput=v)) for name, v in speeds.items()]
    page = "".join(rankings(figure(x=WORK, panels=(PANEL,)), records))
    assert "COGRA, Hamlet and Gloria, equal" in page


def test_who_is_beaten_in_neither_time_nor_memory(figure, record):
    state = Panel(metric="state_peak", label="State", unit="B", kind="heat")
    numbers = {"greta": (2000.0, 50), "cogra": (3000.0, 20), "hamlet": (4000.0, 40), "sase": (4000.0, 90)}
    records = []
    for name, (speed, size) in numbers.items():
        summary = Summary(throughput=speed, state_peak=size)
        records.append(record(name, {"work": "SEQ"}, memory=True, summary=summary))
    page = "".join(rankings(figure(x=WORK, panels=(PANEL, state)), records))
    assert "Throughput against state" in page
    assert "Hamlet, COGRA</td></tr>" in page
    assert "better is towards the top left" in page


def test_time_against_memory_is_drawn_at_each_point(figure, record):
    axis = Axis(name="queries", label="Queries")
    panels = (
        Panel(metric="service_total", label="CPU time", unit="s"),
        Panel(metric="state_peak", label="State", unit="B"),
    )
    numbers = {"greta": (2.0, 50), "cogra": (3.0, 20), "sase": (4.0, 30)}
    records = []
    for at in range(1, 6):
        for name, (seconds, size) in numbers.items():
            summary = Summary(service_total=seconds, state_peak=size)
            records.append(record(name, {"queries": at}, memory=True, summary=summary))
    layout = figure(paper="", x=axis, panels=panels)
    tradeoff = trade(layout, *panels, records)
    assert tradeoff is not None
    assert tradeoff.front(3) == ["greta", "cogra"]
    assert trade(layout, *reversed(panels), records) is None


def test_algorithms_without_state_are_drawn_too(figure, record):
    panels = (Panel(metric="service_total", label="CPU time"), Panel(metric="state_peak", label="State", unit="B"))
    summary = Summary(service_total=1.0, state_peak=0)
    records = [record(name, {"n": 1}, memory=True, summary=summary) for name in ("greta", "cogra")]
    layout = figure(paper="", x=Axis(name="n", label="n"), panels=panels)
    tradeoff = trade(layout, *panels, records)
    assert tradeoff is not None
    assert render(draw_trade(layout, tradeoff), "svg")
