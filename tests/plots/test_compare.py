import pandas as pd
import pytest

from cepbench.metrics.record import Realised, Samples, Summary
from cepbench.metrics.results import ResultsError
from cepbench.metrics.status import Status
from cepbench.plots.compare import compare, describe


@pytest.fixture
def folders(tmp_path, figure, record, save):
    def fast(**changes):
        return record(**changes, summary=Summary(latency_p50=1.0, throughput=100.0))

    def slow(**changes):
        return record(**changes, summary=Summary(latency_p50=2.0, throughput=50.0))

    before = [fast(), fast(round=2), fast(round=3), record("sase", status=Status.TIMEOUT)]
    after = [
        slow(),
        slow(round=2, digest="new"),
        record(round=3, status=Status.ERROR),
        record("cogra", summary=Summary(latency_p50=1.0)),
    ]
    save(tmp_path / "a", figure(), before)
    save(tmp_path / "b", figure(), after)
    return tmp_path / "a", tmp_path / "b"


def test_ratios_statuses_and_digests(folders):
    table = compare(*folders).set_index(["algorithm", "round"])
    assert table.loc[("greta", 1), "latency_p50_ratio"] == 2.0
    assert table.loc[("greta", 1), "throughput_ratio"] == 0.5
    assert list(table["status_changed"]) == [True, False, False, True, True]
    assert table.loc[("greta", 2), "digest_changed"]
    assert not table.loc[("greta", 1), "digest_changed"]
    assert table["latency_p50_ratio"].isna().sum() == 3
    assert table.loc[("cogra", 1), "status_a"] is None


def test_the_description_says_what_changed(folders):
    text = describe(compare(*folders))
    assert "3 cells in both, 1 only in a, 1 only in b" in text
    assert 'status ok -> error: greta-13.1 headline greta {"events": 1000} round 3' in text
    assert "another answer: greta-13.1 headline greta" in text
    assert text.splitlines()[-3:] == [
        "greta-13.1 greta",
        "  latency_p50   x2                    1 s -> 2 s             2 cells    no verdict: one run",
        "  throughput    x0.5         100 events/s -> 50 events/s     2 cells    no verdict: one run",
    ]


def runs(record, metric, *values, **changes):
    summary = Summary(**{metric: sorted(values)[len(values) // 2]})
    return record(summary=summary, runs={metric: list(values)}, **changes)


def lines_of(tmp_path, figure, save, before, after):
    """With single blanks, so that no width counts."""
    save(tmp_path / "a", figure(), before)
    save(tmp_path / "b", figure(), after)
    lines = describe(compare(tmp_path / "a", tmp_path / "b")).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


BEFORE = (0.9, 0.95, 1.0, 1.0, 1.0, 1.05, 1.1)


def test_a_ratio_has_the_interval_of_both_medians(tmp_path, figure, record, save):
    faster = [value / 2 for value in BEFORE]
    text = lines_of(
        tmp_path, figure, save, [runs(record, "latency_p50", *BEFORE)], [runs(record, "latency_p50", *faster)]
    )
    # From 0.45 / 1.1 to 0.55 / 0.9: seven runs reach from the least to the greatest.
    assert "latency_p50 x0.5 1 s -> 500 ms 1 cell better: 0.409 to 0.611" in text


def test_a_ratio_whose_interval_holds_1_is_inconclusive(tmp_path, figure, record, save):
    a_little = [value * 1.1 for value in BEFORE]
    text = lines_of(
        tmp_path, figure, save, [runs(record, "latency_p50", *BEFORE)], [runs(record, "latency_p50", *a_little)]
    )
    assert "latency_p50 x1.1 1 s -> 1.1 s 1 cell inconclusive: 0.9 to 1.34" in text


def test_six_runs_of_two_are_too_few(tmp_path, figure, record, save):
    cells = [runs(record, "latency_p50", *BEFORE[:6])]
    text = lines_of(tmp_path, figure, save, cells, cells)
    assert "latency_p50 x1 1 s -> 1 s 1 cell no verdict: 6 runs, an interval needs 7" in text


def test_many_cells_have_the_interval_of_their_median(tmp_path, figure, record, save):
    def cells(*seconds):
        return [record(round=n, summary=Summary(latency_p50=took)) for n, took in enumerate(seconds)]

    text = lines_of(tmp_path, figure, save, cells(*[1.0] * 6), cells(2.0, 3.0, 4.0, 4.0, 5.0, 6.0))
    assert "latency_p50 x4 1 s -> 4 s 6 cells worse: 2 to 6" in text
    few = lines_of(tmp_path, figure, save, cells(*[1.0] * 6), cells(0.5, 3.0, 4.0, 4.0, 5.0, 6.0))
    assert "x4 1 s -> 4 s 6 cells inconclusive: 0.5 to 6" in few


def test_two_cells_are_as_sure_as_the_less_sure_one(tmp_path, figure, record, save):
    before = [runs(record, "latency_p50", *[1.0] * 7, round=n) for n in (1, 2)]
    after = [runs(record, "latency_p50", *[took] * 7, round=n) for n, took in ((1, 2.0), (2, 3.0))]
    assert "x2.45 1 s -> 2.45 s 2 cells worse: 2 to 3" in lines_of(tmp_path, figure, save, before, after)


def test_the_ratio_of_several_cells_is_that_of_the_values_beside_it(tmp_path, figure, record, save):
    def cells(*seconds):
        return [record(round=n, summary=Summary(latency_p50=took)) for n, took in enumerate(seconds)]

    # Ratios 4, 0.5 and 2: the third cell is in the middle. The medians of both sides are 4 and 5.
    odd = lines_of(tmp_path, figure, save, cells(1.0, 10.0, 4.0), cells(4.0, 5.0, 8.0))
    assert "latency_p50 x2 4 s -> 8 s 3 cells" in odd
    # Ratios 4, 0.5, 2 and 0.125: between those of 2 and 0.5 lies 1, from sqrt(4 * 9) to sqrt(8 * 4.5).
    even = lines_of(tmp_path, figure, save, cells(1.0, 9.0, 4.0, 8.0), cells(4.0, 4.5, 8.0, 1.0))
    assert "latency_p50 x1 6 s -> 6 s 4 cells" in even


@pytest.mark.parametrize("metric", ["process_peak", "state_peak"])
def test_memory_of_one_run_has_no_verdict_over_however_many_cells(tmp_path, figure, record, save, metric):
    def cells(size, count):
        return [record(round=n, memory=True, summary=Summary(**{metric: size * (n + 1)})) for n in range(count)]

    text = lines_of(tmp_path, figure, save, cells(3_000_000, 7), cells(36_000_000, 7))
    assert f"{metric} x12 12 MB -> 144 MB 7 cells no verdict: one run" in text
    alike = lines_of(tmp_path / "alike", figure, save, cells(3_000_000, 1), cells(3_000_000, 1))
    assert f"{metric} x1 3 MB -> 3 MB 1 cell no verdict: one run" in alike


def memory(record, metric, *values, **changes):
    summary = Summary(**{metric: sorted(values)[len(values) // 2]})
    return record(summary=summary, runs={metric: [float(v) for v in values]}, memory=True, **changes)


def test_the_state_of_runs_that_all_have_the_same_is_exact(tmp_path, figure, record, save):
    def compared(before, after):
        return lines_of(
            tmp_path, figure, save, [memory(record, "state_peak", *before)], [memory(record, "state_peak", *after)]
        )

    assert "state_peak x2 100 B -> 200 B 1 cell worse: 2 to 2" in compared([100] * 3, [200] * 3)
    assert "state_peak x1 100 B -> 100 B 1 cell unchanged" in compared([100] * 3, [100] * 3)
    assert "1 cell no verdict: 3 runs, an interval needs 7" in compared([100] * 3, [200, 200, 201])
    assert "1 cell no verdict: one run" in compared([100] * 3, [200])


def test_process_memory_needs_as_many_runs_as_a_time(tmp_path, figure, record, save):
    def compared(count):
        cells = [[memory(record, "process_peak", *[size] * count)] for size in (100, 200)]
        return lines_of(tmp_path, figure, save, *cells)

    assert "process_peak x2 100 B -> 200 B 1 cell no verdict: 3 runs, an interval needs 7" in compared(3)
    assert "process_peak x2 100 B -> 200 B 1 cell worse: 2 to 2" in compared(7)


def configured(record, seconds=1.0, **configuration):
    runs = {"latency_mean": [seconds] * 7}
    return record(summary=Summary(latency_mean=seconds), runs=runs, configuration=configuration)


def test_cells_of_another_query_are_named_and_not_compared(tmp_path, figure, record, save):
    query = "RETURN COUNT(*) PATTERN Stock S+ WITHIN {} s SLIDE 20 s"
    before = [configured(record, workload=query.format(40), limits={"seconds": 20})]
    after = configured(record, 2.0, workload=query.format(20), limits={"seconds": 10})
    after = [after.model_copy(update={"digest": "another"})]
    assert lines_of(tmp_path, figure, save, before, after).splitlines() == [
        "1 cell in both, 0 only in a, 0 only in b",
        "not compared: 1 cell of greta-13.1 headline of another configuration: "
        "query: WITHIN 40 s -> WITHIN 20 s; limits.seconds: 20 -> 10",
    ]
    [row] = compare(tmp_path / "a", tmp_path / "b").to_dict("records")
    assert (row["latency_mean_a"], row["latency_mean_b"], row["digest_changed"]) == (1.0, 2.0, True)
    assert pd.isna(row["latency_mean_ratio"])
    assert pd.isna(row["latency_mean_low"])


def test_more_time_for_runs_is_no_other_workload(tmp_path, figure, record, save):
    before, after = (configured(record, repeat={"seconds": seconds}) for seconds in (0.8, 2.0))
    assert "latency_mean x1 1 s -> 1 s 1 cell unchanged" in lines_of(tmp_path, figure, save, [before], [after])


def test_two_algorithms_may_have_any_specifications(tmp_path, figure, record, save):
    configurations = {"sase": {}, "cet[detect=hybrid]": {"algorithm": "cet[detect=hybrid, memory=5]"}}
    cells = [
        record(name, summary=Summary(latency_mean=1.0), configuration=configurations[name]) for name in configurations
    ]
    save(tmp_path, figure(), cells)
    assert compare(tmp_path, tmp_path, ("sase", "cet[detect=hybrid]"))["latency_mean_ratio"].tolist() == [1.0]


def test_quantiles_need_latencies_that_tell_them_apart(tmp_path, figure, record, save):
    def shown(windows, different):
        names = ("latency_mean", "latency_p50", "latency_p95", "latency_p99", "latency_max")
        cell = record(
            summary=Summary(**dict.fromkeys(names, 1.0)),
            realised=Realised(events=9, windows=windows, rows=1000, substreams=1),
            samples=Samples(latency=[1.0 + n % different for n in range(1000)]),
        )
        text = lines_of(tmp_path, figure, save, [cell], [cell])
        left_out = text.partition("left out")[2]
        assert [name in left_out for name in names] == [f"{name} x1" not in text for name in names]
        return [name.removeprefix("latency_") for name in names if f"{name} x1" in text]

    assert shown(1, 1) == ["mean"]
    assert shown(3, 3) == ["mean", "p50", "max"]
    assert shown(1000, 19) == ["mean", "p50", "max"]
    assert shown(20, 1000) == ["mean", "p50", "p95", "max"]
    assert shown(99, 1000) == ["mean", "p50", "p95", "max"]
    assert shown(100, 1000) == ["mean", "p50", "p95", "p99", "max"]


def test_no_line_is_wider_than_120_columns(tmp_path, figure, record, save):
    values = {"latency_mean": 1234.5678, "throughput": 123456.789}
    summary = Summary(**values, process_peak=123_456_789)
    save(tmp_path, figure(), [record(round=n, memory=True, summary=summary) for n in range(5)])
    assert max(map(len, describe(compare(tmp_path, tmp_path)).splitlines())) <= 120


def test_of_superseded_cells_at_one_point_the_latest_is_compared(tmp_path, figure, record, save):
    def cell(name, day, seconds):
        return record(cell=name, started=f"2026-01-0{day}T00:00:00+00:00", summary=Summary(latency_mean=seconds))

    save(tmp_path / "a", figure(), [cell("x", 2, 3.0), cell("y", 1, 5.0)])
    save(tmp_path / "b", figure(), [cell("z", 3, 9.0)])
    assert compare(tmp_path / "a", tmp_path / "b")["latency_mean_ratio"].tolist() == [3.0]


def test_less_time_and_more_throughput_are_better(tmp_path, figure, record, save):
    def cell(factor):
        values = {"latency_p50": 1 / factor, "throughput": 100.0 * factor}
        return record(summary=Summary(**values), runs={name: [at] * 7 for name, at in values.items()})

    text = lines_of(tmp_path, figure, save, [cell(1)], [cell(2)])
    assert "latency_p50 x0.5 1 s -> 500 ms 1 cell better: 0.5 to 0.5" in text
    assert "throughput x2 100 events/s -> 200 events/s 1 cell better: 2 to 2" in text


def test_two_algorithms_of_one_folder(tmp_path, figure, record, save):
    cells = [runs(record, "latency_p50", *[took] * 7, algorithm=name) for name, took in (("sase", 8.0), ("greta", 2.0))]
    save(tmp_path, figure(), cells)
    table = compare(tmp_path, tmp_path, ("greta", "sase"))
    assert table["algorithm"].tolist() == ["sase / greta"]
    name, line = describe(table).splitlines()[1:]
    assert name == "greta-13.1 sase / greta"
    assert " ".join(line.split()) == "latency_p50 x4 2 s -> 8 s 1 cell worse: 4 to 4"
    with pytest.raises(ResultsError, match="no cells of algorithm 'cet'; there are those of sase, greta"):
        compare(tmp_path, tmp_path, ("cet", "sase"))


def test_memory_whose_run_did_not_end_is_not_compared(tmp_path, figure, record, save):
    for folder, number, status in (("a", 1, Status.OK), ("b", 3, Status.TIMEOUT)):
        summary = Summary(latency_p50=float(number), state_peak=100 * number)
        save(tmp_path / folder, figure(), [record(memory_status=status, summary=summary)])
    (row,) = compare(tmp_path / "a", tmp_path / "b").to_dict("records")
    assert row["latency_p50_ratio"] == 3.0
    assert pd.isna(row["state_peak_b"])
    assert pd.isna(row["state_peak_ratio"])
    assert (row["status_a"], row["status_b"], row["status_changed"]) == ("ok", "timeout", True)


def test_equal_folders(folders):
    table = compare(folders[0], folders[0])
    assert not table["status_changed"].any()
    assert set(table["latency_p50_ratio"].dropna()) == {1.0}
    assert describe(table).count("no verdict: one run") == 2


def test_empty_folders(tmp_path):
    assert describe(compare(tmp_path, tmp_path)) == "0 cells in both, 0 only in a, 0 only in b"
