import pandas as pd
import pytest

from cepbench.metrics.record import Status, Summary
from cepbench.metrics.results import ResultsError
from cepbench.plots.compare import compare, describe


@pytest.fixture
def folders(tmp_path, figure, record, save):
    def fast(**changes):
        return record(**changes, summary=Summary(latency_p50=1.0, throughput=100.0))

    def slow(**changes):
        return record(**changes, summary=Summary(latency_p50=2.0, throughput=50.0))

    before = [fast(), fast(repetition=1), fast(repetition=2), record("sase", status=Status.TIMEOUT)]
    after = [
        slow(),
        slow(repetition=1, digest="new"),
        record(repetition=2, status=Status.ERROR),
        record("cogra", summary=Summary(latency_p50=1.0)),
    ]
    save(tmp_path / "a", figure(), before)
    save(tmp_path / "b", figure(), after)
    return tmp_path / "a", tmp_path / "b"


def test_ratios_statuses_and_digests(folders):
    table = compare(*folders).set_index(["algorithm", "repetition"])
    assert table.loc[("greta", 0), "latency_p50_ratio"] == 2.0
    assert table.loc[("greta", 0), "throughput_ratio"] == 0.5
    assert list(table["status_changed"]) == [True, False, False, True, True]
    assert table.loc[("greta", 1), "digest_changed"]
    assert not table.loc[("greta", 0), "digest_changed"]
    assert table["latency_p50_ratio"].isna().sum() == 3
    assert table.loc[("cogra", 0), "status_a"] is None


def test_the_description_says_what_changed(folders):
    text = describe(compare(*folders))
    assert "3 cells in both, 1 only in a, 1 only in b" in text
    assert 'status ok -> error: greta-13.1 laptop greta {"events": 1000} time 2' in text
    assert "another answer: greta-13.1 laptop greta" in text
    told = "inconclusive: too few runs for an interval; over 2 cells, median 1 s -> 2 s"
    assert f"greta-13.1 greta latency_p50: x2 ({told})" in text
    assert "greta-13.1 greta throughput: x0.5 (inconclusive" in text


def runs(record, metric, *values, **changes):
    summary = Summary(**{metric: sorted(values)[len(values) // 2]})
    return record(summary=summary, runs={metric: list(values)}, **changes)


def lines_of(tmp_path, figure, save, before, after):
    save(tmp_path / "a", figure(), before)
    save(tmp_path / "b", figure(), after)
    return describe(compare(tmp_path / "a", tmp_path / "b"))


BEFORE = (0.9, 0.95, 1.0, 1.0, 1.0, 1.05, 1.1)


def test_a_ratio_has_the_interval_of_both_medians(tmp_path, figure, record, save):
    faster = [value / 2 for value in BEFORE]
    text = lines_of(
        tmp_path, figure, save, [runs(record, "latency_p50", *BEFORE)], [runs(record, "latency_p50", *faster)]
    )
    # From 0.45 / 1.1 to 0.55 / 0.9: seven runs reach from the least to the greatest.
    assert "greta latency_p50: x0.5 (better: 0.409 to 0.611; one cell, median 1 s -> 500 ms)" in text


def test_a_ratio_whose_interval_holds_1_is_inconclusive(tmp_path, figure, record, save):
    a_little = [value * 1.1 for value in BEFORE]
    text = lines_of(
        tmp_path, figure, save, [runs(record, "latency_p50", *BEFORE)], [runs(record, "latency_p50", *a_little)]
    )
    assert "greta latency_p50: x1.1 (inconclusive: 0.9 to 1.34; one cell" in text


def test_six_runs_of_two_are_too_few(tmp_path, figure, record, save):
    cells = [runs(record, "latency_p50", *BEFORE[:6])]
    assert "inconclusive: too few runs" in lines_of(tmp_path, figure, save, cells, cells)


def test_many_cells_have_the_interval_of_their_median(tmp_path, figure, record, save):
    def cells(*seconds):
        return [record(repetition=n, summary=Summary(latency_p50=took)) for n, took in enumerate(seconds)]

    text = lines_of(tmp_path, figure, save, cells(*[1.0] * 6), cells(2.0, 3.0, 4.0, 4.0, 5.0, 6.0))
    assert "greta latency_p50: x4 (worse: 2 to 6; over 6 cells, median 1 s -> 4 s)" in text
    few = lines_of(tmp_path, figure, save, cells(*[1.0] * 6), cells(0.5, 3.0, 4.0, 4.0, 5.0, 6.0))
    assert "x4 (inconclusive: 0.5 to 6" in few


def test_two_cells_are_as_sure_as_the_less_sure_one(tmp_path, figure, record, save):
    before = [runs(record, "latency_p50", *[1.0] * 7, repetition=n) for n in (1, 2)]
    after = [runs(record, "latency_p50", *[took] * 7, repetition=n) for n, took in ((1, 2.0), (2, 3.0))]
    assert "x2.5 (worse: 2 to 3; over 2 cells" in lines_of(tmp_path, figure, save, before, after)


def test_less_time_and_more_throughput_are_better(tmp_path, figure, record, save):
    def cell(factor):
        both = {"latency_p50": 1 / factor, "throughput": 100.0 * factor}
        return record(summary=Summary(**both), runs={name: [at] * 7 for name, at in both.items()})

    text = lines_of(tmp_path, figure, save, [cell(1)], [cell(2)])
    assert "latency_p50: x0.5 (better" in text
    assert "throughput: x2 (better" in text


def test_two_algorithms_of_one_folder(tmp_path, figure, record, save):
    cells = [runs(record, "latency_p50", *[took] * 7, algorithm=name) for name, took in (("sase", 8.0), ("greta", 2.0))]
    save(tmp_path, figure(), cells)
    table = compare(tmp_path, tmp_path, ("greta", "sase"))
    assert table["algorithm"].tolist() == ["sase / greta"]
    assert "sase / greta latency_p50: x4 (worse: 4 to 4; one cell, median 2 s -> 8 s)" in describe(table)
    with pytest.raises(ResultsError, match="no cells of algorithm 'cet'; there are those of sase, greta"):
        compare(tmp_path, tmp_path, ("cet", "sase"))


def test_times_of_memory_runs_are_not_compared(tmp_path, figure, record, save):
    for folder, number in (("a", 1), ("b", 3)):
        summary = Summary(latency_p50=float(number), state_peak=100 * number)
        save(tmp_path / folder, figure(), [record(measurement="memory", summary=summary)])
    (row,) = compare(tmp_path / "a", tmp_path / "b").to_dict("records")
    assert row["state_peak_ratio"] == 3.0
    assert pd.isna(row["latency_p50_a"])
    assert pd.isna(row["latency_p50_ratio"])


def test_equal_folders(folders):
    table = compare(folders[0], folders[0])
    assert not table["status_changed"].any()
    assert set(table["latency_p50_ratio"].dropna()) == {1.0}
    assert "inconclusive" in describe(table)


def test_empty_folders(tmp_path):
    assert describe(compare(tmp_path, tmp_path)) == "0 cells in both, 0 only in a, 0 only in b"
