"""Windows and panes, beside all windows in turn."""

import pytest

from cepbench.events.windows import Window

WINDOWS = [Window(within, slide) for within in (1, 2, 3, 4, 6, 7) for slide in (1, 2, 3, 4, 6, 9)]
POINTS = range(40)


def holding(window: Window, point: int) -> list[int]:
    """Window k covers [k * slide, k * slide + within)."""
    return [k for k in range(60) if k * window.slide <= point < k * window.slide + window.within]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_an_event_lies_in_the_windows_from_first_to_last(window: Window) -> None:
    for point in POINTS:
        assert list(range(window.first_at(point), window.last_at(point) + 1)) == holding(window, point)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_a_window_ends_before_its_end(window: Window) -> None:
    for k in range(10):
        inside = [point for point in range(120) if k in holding(window, point)]
        assert (window.start(k), window.end(k) - 1) == (inside[0], inside[-1])


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_overlap_is_the_most_windows_of_one_event(window: Window) -> None:
    assert window.overlap == max(len(holding(window, point)) for point in POINTS)
