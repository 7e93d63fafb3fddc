"""Where events lie on the axis of a window."""

from dataclasses import replace

import numpy as np
import pytest

from cepbench.algorithms.engine.points import Points
from cepbench.events.windows import Window
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = batch(stream("A1 A1 A4 A7"))


def test_time_windows_see_times() -> None:
    points = Points(Window(4, 2))
    assert points.of(EVENTS.slice(0, 3)).tolist() == [1, 1, 4]
    assert points.of(EVENTS.slice(3, 4)).tolist() == [7]
    assert points.reached(EVENTS) is None
    assert points.reached(replace(EVENTS, watermark=9)) == 9


def test_count_windows_see_numbers_that_go_on_from_batch_to_batch() -> None:
    points = Points(Window(4, 2, counts_events=True))
    assert points.of(EVENTS.slice(0, 3)).tolist() == [0, 1, 2]
    assert points.of(EVENTS.slice(3, 4)).tolist() == [3]
    assert points.reached(replace(EVENTS, watermark=9)) == 4


@pytest.mark.parametrize("window", [Window(4, 2), Window(4, 3), Window(4, 4), Window(2, 5), Window(1, 1)])
def test_windows_of_points_are_those_of_the_window(window: Window) -> None:
    axis = np.arange(30)
    points = Points(window)
    assert points.first_windows(axis).tolist() == [window.first_at(point) for point in range(30)]
    assert points.last_windows(axis).tolist() == [window.last_at(point) for point in range(30)]
