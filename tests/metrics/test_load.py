"""The pace of the machine, on a clock made by hand."""

from types import SimpleNamespace

import pytest

from cepbench.metrics import load as module
from cepbench.metrics.load import APART, LEAST, PIECES, LoadWatch, piece_seconds


class Clock:
    """Each piece of work takes the next of these seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *pieces: float) -> None:
        self.now, self._pieces = 0.0, list(pieces)
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))
        monkeypatch.setattr(module, "piece_seconds", self.piece)

    def piece(self) -> float:
        return self._pieces.pop(0)


def test_the_pace_is_the_median_of_all_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 1.0, 3.0, 2.0)
    watch = LoadWatch()
    assert watch.pace is None
    for _ in range(3):
        watch.look()
        clock.now += APART
    assert watch.pace == 2.0


def test_looks_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 1.0, 3.0, 2.0, 9.0)
    watch = LoadWatch()
    for _ in range(5):  # of which the first, the third and the last are apart
        watch.look()
        clock.now += 0.6 * APART
    assert watch.pace == 2.0


def test_of_a_single_run_the_mean_of_both_looks_is_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 1.0, 2.0)
    watch = LoadWatch()
    watch.look()
    clock.now += 3.0
    watch.look()
    assert watch.pace == 1.5


def test_a_moment_is_no_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, *[1.0] * LEAST)
    watch = LoadWatch()
    paces = []
    for _ in range(LEAST):
        watch.look()
        clock.now += APART
        paces.append(watch.pace)
    assert paces == [None, 1.0]


def test_of_some_pieces_of_work_the_shortest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [0.0, 0.4, 1.0, 1.2, 2.0, 2.3]
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: times.pop(0)))
    assert piece_seconds() == pytest.approx(0.2)
    assert (PIECES, times) == (3, [])


def test_a_piece_of_work_takes_time() -> None:
    assert piece_seconds() > 0
