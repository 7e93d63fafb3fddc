from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.oracle import answer, plain_events
from cepbench.events.batch import EventBatch
from cepbench.generators import base
from cepbench.generators.registry import from_spec
from cepbench.queries.parser import parse_query
from tests.generators.streams import concatenated, stream

QUERY = """
RETURN COMPLETE MATCHES
PATTERN Check C+
WHERE C.covered = 0 AND C.destination = NEXT(C).source
WITHIN {within} s SLIDE {slide} s
"""


def relevant(batch: EventBatch) -> Any:
    return np.flatnonzero(batch.columns["covered"] == 0)


def test_defaults_of_the_dissertation() -> None:
    generator = from_spec("financial", {})
    assert generator.events() == 3500 * 3 * 24 * 3600
    assert generator.parameters.compatibility == 3
    assert generator.schema().types == ("Check",)


@pytest.mark.parametrize("selectivity", ["1", "0.5", "0.3", "1/7", "0.001", "3/3500"])
def test_any_stretch_holds_the_expected_number_of_relevant_events(
    selectivity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "SLICE_EVENTS", 1000)
    batch = stream("financial", events=20_000, rate=100, selectivity=selectivity)
    places = relevant(batch)
    for start, stop in [(0, 20_000), (0, 7000), (999, 1001), (1234, 9876), (13_000, 13_700)]:
        expected = (stop - start) * Fraction(selectivity)
        assert abs(np.sum((places >= start) & (places < stop)) - expected) <= 1
    gaps = np.diff(places)
    assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize("compatibility", [1, 2, 3, 10])
def test_a_relevant_event_follows_exactly_the_group_before(compatibility: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SLICE_EVENTS", 1000)
    batch = stream("financial", events=10_000, rate=100, selectivity="1/30", compatibility=compatibility)
    places = relevant(batch)
    source, destination = (batch.columns[name][places].astype(np.int64) for name in ("source", "destination"))
    times = batch.time[places]
    assert (np.diff(times) > 0).all()
    follows = (destination[:, None] == source[None, :]) & (times[:, None] < times[None, :])
    for place in range(len(places)):
        group = place // compatibility
        expected = range(compatibility * (group - 1), compatibility * group) if group else range(0)
        assert np.flatnonzero(follows[:, place]).tolist() == list(expected)


def test_banks_recur() -> None:
    batch = stream("financial", events=3000, rate=100, selectivity="0.1", banks=5, compatibility=2)
    places = relevant(batch)
    assert batch.columns["source"][places].tolist() == [rank // 2 % 5 for rank in range(len(places))]
    assert batch.columns["destination"][places].tolist() == [(rank // 2 + 1) % 5 for rank in range(len(places))]


def test_covered_events_go_between_random_banks() -> None:
    batch = stream("financial", events=100_000, banks=10)
    covered = batch.columns["covered"] == 1
    for name in ("source", "destination"):
        shares = np.bincount(batch.columns[name][covered].astype(np.int64)) / covered.sum()
        assert shares == pytest.approx(np.full(10, 0.1), abs=0.005)


@pytest.mark.parametrize("simultaneous", [None, 4])
def test_complete_trends_of_whole_groups(simultaneous: int | None) -> None:
    # 2 events/s, a quarter of them relevant: 12 in the window of 24 s, four groups of three.
    parameters = {"rate": 2, "selectivity": 0.25, "events": 96, "time_unit": "ms", "simultaneous": simultaneous}
    events = plain_events(concatenated(from_spec("financial", parameters)))
    rows = answer(parse_query(QUERY.format(within=24, slide=24)), events, "ms")
    assert {len(row["match"]) for row in rows} == {4}
    starts = [row["window_start"] for row in rows]
    assert {start: starts.count(start) for start in starts} == {0: 3**4, 24_000: 3**4}


def test_complete_trends_of_cut_groups() -> None:
    batch = stream("financial", rate=2, selectivity=0.3, events=80, time_unit="ms")
    rows = answer(parse_query(QUERY.format(within=20, slide=5)), plain_events(batch), "ms")
    places = relevant(batch)
    for start in range(0, 40_000, 5000):
        ranks = np.flatnonzero((batch.time[places] >= start) & (batch.time[places] < start + 20_000))
        bounds = [ranks[0], *(rank for rank in ranks if rank % 3 == 0 and rank > ranks[0]), ranks[-1] + 1]
        sizes = [high - low for low, high in pairwise(bounds)]
        assert sum(row["window_start"] == start for row in rows) == np.prod(sizes)
