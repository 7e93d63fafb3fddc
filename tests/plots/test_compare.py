import pandas as pd
import pytest

from cepbench.metrics.record import Status, Summary
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
    assert "greta-13.1 greta latency_p50: x2 (worse; 2 to 2 over 2 cells, median 1 s -> 2 s)" in text
    assert "greta-13.1 greta throughput: x0.5 (worse" in text


def test_ratios_are_averaged_geometrically(tmp_path, figure, record, save):
    for folder, seconds in (("a", (1.0, 4.0)), ("b", (2.0, 2.0))):
        records = [record(repetition=i, summary=Summary(latency_p50=took)) for i, took in enumerate(seconds)]
        save(tmp_path / folder, figure(), records)
    text = describe(compare(tmp_path / "a", tmp_path / "b"))
    assert "greta latency_p50: x1 (unchanged; 0.5 to 2 over 2 cells, median 2.5 s -> 2 s)" in text


def test_less_time_and_more_throughput_are_better(tmp_path, figure, record, save):
    for folder, factor in (("a", 1), ("b", 2)):
        save(tmp_path / folder, figure(), [record(summary=Summary(latency_p50=1 / factor, throughput=100.0 * factor))])
    text = describe(compare(tmp_path / "a", tmp_path / "b"))
    assert "latency_p50: x0.5 (better" in text
    assert "throughput: x2 (better" in text


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
    assert "unchanged" in describe(table)


def test_empty_folders(tmp_path):
    assert describe(compare(tmp_path, tmp_path)) == "0 cells in both, 0 only in a, 0 only in b"
