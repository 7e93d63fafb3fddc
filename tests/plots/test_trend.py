"""Ratios to the first commit, as a table and in words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cepbench.metrics.commits import CommitResults, load_commits
from cepbench.metrics.record import Realised, Record, Samples, Summary
from cepbench.metrics.status import Status
from cepbench.plots.trend import changes, describe_trend, table
from tests.plots.conftest import make_figure, make_record, write_results

RUNS = (0.9, 0.95, 1.0, 1.0, 1.0, 1.05, 1.1)


def timed(seconds: float, algorithm: str = "greta", size: int = 10, **changes: Any) -> Record:
    runs = [value * seconds for value in RUNS]
    return make_record(
        algorithm, {"events": size}, summary=Summary(latency_p50=seconds), runs={"latency_p50": runs}, **changes
    )


def commits_in(folder: Path, *commits: Sequence[Record]) -> list[CommitResults]:
    for number, records in enumerate(commits):
        write_results(folder / str(number), make_figure(), records)
    return load_commits([folder / str(number) for number in range(len(commits))])


def test_ratios_are_to_the_first_commit(tmp_path: Path) -> None:
    trend = changes(commits_in(tmp_path, [timed(1.0)], [timed(2.0)], [timed(0.5)]))
    assert [(change.place, change.metric, change.ratio) for change in trend] == [
        (0, "latency_p50", 1.0),
        (1, "latency_p50", 2.0),
        (2, "latency_p50", 0.5),
    ]
    # From 0.45 / 1.1 to 0.55 / 0.9: seven runs reach from the least to the greatest.
    assert [None if change.low is None else round(change.low, 3) for change in trend] == [None, 1.636, 0.409]
    assert trend[2].high == pytest.approx(0.55 / 0.9)


def test_cells_count_once_each_and_their_median_is_the_ratio(tmp_path: Path) -> None:
    before = [timed(1.0, size=size) for size in (1, 2, 3)]
    after = [timed(factor, size=size) for size, factor in ((1, 1.0), (2, 3.0), (3, 4.0))]
    [_, change] = changes(commits_in(tmp_path, before, after))
    assert (change.ratios, change.ratio, change.lost) == ((1.0, 3.0, 4.0), 3.0, 0)


def test_cells_that_are_lost_are_told(tmp_path: Path) -> None:
    before = [timed(1.0, size=size) for size in (1, 2)]
    wrong = timed(0.1, size=2, status=Status.WRONG)
    entries = commits_in(tmp_path, before, [timed(1.1, size=1), wrong], [timed(1.0, size=1)], [])
    trend = changes(entries)
    assert [(change.ratios, change.lost) for change in trend] == [((1.0, 1.0), 0), ((1.1,), 1), ((1.0,), 1), ((), 2)]
    text = describe_trend(entries, trend)
    assert "0 1, 1 x1.1 (0.9 to 1.34; 1 cells lost), 2 x1 (0.818 to 1.22; 1 cells lost), 3 none; 2 cells lost" in text


def test_a_commit_that_changed_the_query_has_no_ratio_and_lost_nothing(tmp_path: Path) -> None:
    workloads = [{"workload": f"PATTERN A+ WITHIN {seconds} s"} for seconds in (40, 20)]
    cells = [
        timed(seconds, configuration=configuration)
        for seconds, configuration in ((1.0, workloads[0]), (0.2, workloads[1]))
    ]
    trend = changes(commits_in(tmp_path, cells[:1], cells[1:], cells[:1]))
    assert [(change.ratios, change.lost) for change in trend] == [((1.0,), 0), ((), 0), ((1.0,), 0)]


def test_an_algorithm_and_a_figure_begin_where_they_are_first_measured(tmp_path: Path) -> None:
    later = make_figure(experiment="cogra-19.1", id="19.1")
    commits_in(tmp_path, [timed(1.0)], [timed(1.0)], [timed(1.0)])
    for number, seconds in ((1, 2.0), (2, 3.0)):
        new = [timed(seconds, "sase", experiment="cogra-19.1")] if number == 2 else []
        write_results(tmp_path / str(number), later, [timed(seconds, "cogra", experiment="cogra-19.1"), *new])
    entries = load_commits([tmp_path / str(number) for number in range(3)])
    trend = [change for change in changes(entries) if change.figure.experiment == "cogra-19.1"]
    assert [(change.algorithm, change.place, change.ratio) for change in trend] == [
        ("sase", 2, 1.0), ("cogra", 1, 1.0), ("cogra", 2, 1.5),
    ]  # fmt: skip


def test_the_metric_is_the_first_panels_or_the_one_asked_for(tmp_path: Path) -> None:
    cells = [make_record(summary=Summary(latency_p50=s, throughput=1 / s, service_total=2.0)) for s in (1.0, 4.0)]
    entries = commits_in(tmp_path, cells[:1], cells[1:])
    assert [change.ratio for change in changes(entries, "throughput")] == [1.0, 0.25]
    assert table(entries, changes(entries))["metric"].unique().tolist() == ["latency_p50"]
    panels = make_figure().panels
    planning = make_figure(panels=(panels[0].model_copy(update={"metric": "plan_seconds"}),))
    for number in (0, 1):
        write_results(tmp_path / str(number), planning, cells[number : number + 1])
    assert [change.metric for change in changes(load_commits([tmp_path / "0", tmp_path / "1"]))] == [
        "service_total"
    ] * 2


def test_the_table_has_a_row_per_algorithm_and_commit(tmp_path: Path) -> None:
    entries = commits_in(tmp_path, [timed(1.0), timed(3.0, "cogra")], [timed(2.0), timed(3.0, "cogra")])
    rows = table(entries, changes(entries))
    assert rows[["algorithm", "commit", "ratio", "cells"]].to_numpy().tolist() == [
        ["greta", "0", 1.0, 1], ["greta", "1", 2.0, 1], ["cogra", "0", 1.0, 1], ["cogra", "1", 1.0, 1],
    ]  # fmt: skip
    assert rows["low"].isna().tolist() == [True, False, True, False]


def test_quantiles_need_latencies_that_tell_them_apart(tmp_path: Path) -> None:
    for different in (1, 1000):
        realised = Realised(events=9, windows=different, rows=1000, substreams=1)
        samples = Samples(latency=[1.0 + n % different for n in range(1000)])
        entries = commits_in(
            tmp_path / str(different), *([timed(1.0, realised=realised, samples=samples)] for _ in range(2))
        )
        assert len(changes(entries, "latency_p50")) == (2 if different > 1 else 0)
