import numpy as np
import pytest

from tests.generators.streams import stream


def test_types_and_groups_are_uniform() -> None:
    batch = stream("uniform", events=200_000, types=5, groups=8)
    assert batch.schema.types == ("A", "B", "C", "D", "E")
    assert np.bincount(batch.type) / len(batch) == pytest.approx(np.full(5, 0.2), abs=0.005)
    assert np.bincount(batch.columns["key"].astype(np.int64)) / len(batch) == pytest.approx(
        np.full(8, 0.125), abs=0.005
    )
    value = batch.columns["value"].astype(float)
    assert (value.min(), value.max()) == (0, 1000)


def test_many_types_have_names_of_their_own() -> None:
    types = stream("uniform", events=1, types=100).schema.types
    assert types[25:28] == ("Z", "A1", "B1")
    assert len(set(types)) == 100


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_ties(probability: float) -> None:
    batch = stream("uniform", events=100_000, tie_probability=probability)
    assert np.mean(np.diff(batch.time) == 0) == pytest.approx(probability, abs=0.007)
    untied = np.flatnonzero(np.diff(batch.time, prepend=-1) > 0)
    assert np.array_equal(batch.time[untied], untied)


def test_skew() -> None:
    batch = stream("uniform", events=200_000, types=3, type_skew=1.0, groups=2, group_skew=1.0)
    assert np.bincount(batch.type) / len(batch) == pytest.approx(np.array([6, 3, 2]) / 11, abs=0.005)
    keys = np.bincount(batch.columns["key"].astype(np.int64)) / len(batch)
    assert keys == pytest.approx(np.array([2, 1]) / 3, abs=0.005)


def test_late_events_are_lost_beyond_the_slack() -> None:
    exact = stream("uniform", events=50_000, types=3)
    waits = {slack: stream("uniform", events=50_000, types=3, late=0.2, delay=2, slack=slack) for slack in (0, 2, 1000)}
    lost = {slack: batch.type == 3 for slack, batch in waits.items()}
    assert waits[0].schema.types == ("A", "B", "C", "Lost")
    assert {slack: float(np.mean(here)) for slack, here in lost.items()} == pytest.approx(
        {0: 0.2, 2: 0.2 * np.exp(-1), 1000: 0.0}, abs=0.005
    )
    assert not np.any(lost[2] & ~lost[0])  # a longer wait loses none of those that a shorter one keeps
    for slack, batch in waits.items():
        assert np.array_equal(batch.type[~lost[slack]], exact.type[~lost[slack]])
        assert np.array_equal(batch.columns["value"], exact.columns["value"])


def test_duplicates_repeat_the_event_before_or_are_left_out() -> None:
    exact = stream("uniform", events=50_000, types=3)
    twice, once = (
        stream("uniform", events=50_000, types=3, duplicates=0.1, deduplicated=left_out) for left_out in (False, True)
    )
    repeats = once.type == 3
    assert np.mean(repeats) == pytest.approx(0.1, abs=0.005)
    originals = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(repeats))))
    assert np.array_equal(twice.type, exact.type[originals])
    assert np.array_equal(twice.columns["value"], exact.columns["value"][originals])
    assert np.array_equal(twice.type[~repeats], exact.type[~repeats])
    assert np.array_equal(once.type[~repeats], exact.type[~repeats])
