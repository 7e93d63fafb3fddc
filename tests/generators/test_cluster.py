import numpy as np
import pytest

from tests.generators.streams import stream


def test_attribute_values_of_table_13_1() -> None:
    batch = stream("cluster", events=500_000)
    columns = {name: column.astype(np.int64) for name, column in batch.columns.items() if column.dtype == np.int64}
    for name in ("mapper", "job"):
        shares = np.bincount(columns[name]) / len(batch)
        assert shares == pytest.approx(np.full(11, 1 / 11), abs=0.002), name
    for name in ("cpu", "memory"):
        assert (columns[name].min(), columns[name].max()) == (0, 1000)
        assert columns[name].mean() == pytest.approx(500, abs=2)
        assert columns[name].std() == pytest.approx(289, abs=1)
    assert columns["load"].mean() == pytest.approx(100, abs=0.1)
    assert columns["load"].var() == pytest.approx(100, rel=0.01)
    assert 0 <= columns["load"].min() <= columns["load"].max() <= 10_000


def test_rate_is_3000_events_per_second() -> None:
    batch = stream("cluster", duration=100)
    assert np.bincount(batch.time).tolist() == [3000] * 100


def test_jobs_start_measure_and_end_in_each_slice() -> None:
    batch = stream("cluster", events=200_000, measurements=5)
    pair = batch.columns["mapper"].astype(np.int64) * 11 + batch.columns["job"].astype(np.int64)
    names = np.array(["S", "M", "E"])[batch.type]
    for code in range(121):
        life = "".join(names[pair == code])
        first = life.index("S")
        runs = life[first:].split("S")[1:]
        assert set(runs[:-1]) == {"MMMMME"}
    assert np.bincount(batch.type) / len(batch) == pytest.approx(np.array([1, 5, 1]) / 7, abs=0.005)
