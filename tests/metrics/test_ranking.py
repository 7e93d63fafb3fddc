"""Ranks of `bench`."""

from dataclasses import replace

from cepbench.metrics.ranking import Entry, floor_line, ranked
from cepbench.metrics.status import Status

MANY = Entry("a", Status.OK, seconds=1.0, low=0.9, high=1.1, processes=5)
ONCE = Entry("a", Status.OK, seconds=1.0, processes=1)


def ranks(*entries: Entry) -> list[tuple[str, int | None]]:
    return [(entry.algorithm, entry.rank) for entry in ranked(entries)]


def test_algorithms_whose_ranges_meet_share_a_rank() -> None:
    assert ranks(
        replace(MANY, algorithm="slow", seconds=1.3, low=1.2, high=1.4),
        Entry("wrong", Status.WRONG),
        replace(MANY, algorithm="b", seconds=1.05, low=1.0, high=1.15),
        MANY,
    ) == [("a", 1), ("b", 1), ("slow", 3), ("wrong", None)]


def test_few_processes_tell_only_large_factors_apart() -> None:
    near = replace(ONCE, algorithm="near", seconds=1.4)
    assert ranks(near, ONCE) == [("a", 1), ("near", 1)]
    assert ranks(replace(near, seconds=1.5), ONCE) == [("a", 1), ("near", 2)]
    assert ranks(replace(near, low=1.39, high=1.41, processes=5), ONCE) == [("a", 1), ("near", 1)]
    assert ranks(replace(near, low=1.39, high=1.41, processes=4), MANY) == [("a", 1), ("near", 1)]
    assert ranks(replace(near, low=1.39, high=1.41, processes=5), MANY) == [("a", 1), ("near", 2)]
    assert ranks(replace(near, seconds=3.0, low=0.95, high=9.0, processes=2), MANY) == [("a", 1), ("near", 1)]


def test_a_line_names_the_algorithms_whose_time_is_mostly_that_on_one_event_per_window() -> None:
    assert floor_line([("cogra", 0.33), ("greta", None)]) is None
    line = floor_line([("cogra", 0.34), ("greta", 0.1), ("sase", 0.9)])
    assert line is not None
    assert "cogra, sase would take more than a third of the time" in line
