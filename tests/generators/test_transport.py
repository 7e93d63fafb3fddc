import numpy as np
import pytest

from tests.generators.streams import stream


def test_defaults_of_the_dissertation() -> None:
    batch = stream("transport", events=500_000)
    passenger, station, waiting = (batch.columns[name].astype(np.int64) for name in ("passenger", "station", "waiting"))
    assert np.bincount(passenger) / len(batch) == pytest.approx(np.full(30, 1 / 30), abs=0.002)
    assert np.bincount(station) / len(batch) == pytest.approx(np.full(100, 1 / 100), abs=0.001)
    assert (waiting.min(), waiting.max()) == (0, 600)
    assert waiting.mean() == pytest.approx(300, abs=1)
    assert batch.schema.types == ("Enter", "Transfer", "Exit")


@pytest.mark.parametrize("stops", [2, 5])
def test_trips(stops: int) -> None:
    batch = stream("transport", events=50_000, stops=stops)
    names = np.array(["<", "-", ">"])[batch.type]
    for passenger in range(30):
        trips = "".join(names[batch.columns["passenger"] == passenger]).split("<")
        assert set(trips[1:-1]) == {"-" * (stops - 2) + ">"}
