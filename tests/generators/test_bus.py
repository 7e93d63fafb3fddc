import numpy as np
import pytest

from cepbench.events.batch import EventBatch
from cepbench.generators.journeys import CHAIN, ENDS
from tests.generators.streams import run_lengths, stream


def shares(batch: EventBatch, journeys: int) -> np.ndarray:
    return np.bincount(batch.type, minlength=journeys) / len(batch)


def test_journeys_are_types_and_the_hot_ones_share_evenly() -> None:
    batch = stream("bus", events=400_000, journeys=1000, hot_share=0.5)
    assert len(batch.schema.types) == 1000
    measured = shares(batch, 1000)
    assert measured[:121] == pytest.approx(np.full(121, 0.5 / 121), rel=0.15)
    assert measured[121:] == pytest.approx(np.full(879, 0.5 / 879), rel=0.3)


def test_defaults_are_those_of_the_paper() -> None:
    batch = stream("bus", events=1000)
    assert len(batch.schema.types) == 4368
    assert batch.schema.types[:121] == (*CHAIN, *ENDS)


def test_values() -> None:
    batch = stream("bus", events=200_000, lines=10)
    assert set(batch.columns["Line_ID"].tolist()) == set(range(10))
    assert set(batch.columns["congestion"].tolist()) == {0, 1}
    assert batch.columns["congestion"].mean() == pytest.approx(0.1, abs=0.005)
    delay = batch.columns["delay"]
    assert delay.min() == -60
    assert delay.mean() == pytest.approx(119.5, abs=3)
    for name, middle, reach in (("longitude", -6.26, 0.22), ("latitude", 53.35, 0.11)):
        values = batch.columns[name].astype(float)
        assert (np.abs(values - middle) <= reach + 1e-6).all()
        spreads = [np.ptp(values[batch.columns["Line_ID"] == line]) for line in range(10)]
        assert max(spreads) <= 2 * reach / 11 + 1e-5  # a line stays around its place
        assert np.ptp(values) > max(spreads)


def test_a_journey_is_seen_on_every_line() -> None:
    batch = stream("bus", events=100_000, lines=4, hot_share=0.9)
    pairs = set(zip(batch.type.tolist(), batch.columns["Line_ID"].tolist(), strict=True))
    assert {(journey, line) for journey in range(121) for line in range(4)} <= pairs


def test_bursts_are_of_one_journey_and_line() -> None:
    batch = stream("bus", events=200_000, burst=20, lines=50)
    bursts = run_lengths(batch.type.astype(np.int64) * 50 + batch.columns["Line_ID"])
    assert bursts.mean() == pytest.approx(20, rel=0.05)
    assert run_lengths(stream("bus", events=50_000, lines=50).type).mean() < 1.01


def test_skewed_journeys_by_name_or_drawn() -> None:
    named = shares(stream("bus", events=300_000, journeys=500, hot=20, hot_share=0.8, journey_skew=1), 500)
    assert named[0] / named[1] == pytest.approx(2, rel=0.05)
    assert named[:20].sum() == pytest.approx(0.8, abs=0.005)
    drawn = shares(
        stream("bus", events=300_000, journeys=500, hot=20, hot_share=0.8, journey_skew=1, ranks="drawn"), 500
    )
    assert not np.allclose(drawn[:20], named[:20], rtol=0.2)
    assert np.sort(drawn[:20]) == pytest.approx(np.sort(named[:20]), rel=0.1)
