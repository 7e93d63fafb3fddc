"""Complete trends on their way from the kernels to rows."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.construction.cet.detectors import Detector, MemoryLimit, MemoryOptimized
from cepbench.algorithms.construction.cet.kernels.trends import FoundTrends, full
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.rows import MatchDigests, MatchRows


def room(offsets: int, positions: int) -> FoundTrends:
    return FoundTrends(
        np.zeros(offsets, np.int64), np.zeros(positions, np.int64), np.zeros(2, np.int64), np.zeros(1, np.uint64)
    )


def detecting(summarised: bool) -> Detector:
    return MemoryOptimized(MemoryLimit(2**62), summarised=summarised)


def test_rows_have_room_for_as_many_trends_as_their_arrays() -> None:
    """Three trends have four offsets; and ten events."""
    found = room(4, 10)
    assert [trends for trends in range(6) if not in_python(full)(1, trends, 0, found)] == [0, 1, 2]
    assert [length for length in range(8, 13) if not in_python(full)(length, 0, 0, found)] == [8, 9, 10]
    assert [written for written in range(12) if not in_python(full)(3, 0, written, found)] == list(range(8))


def test_digests_have_room_for_any_number_of_trends() -> None:
    assert not in_python(full)(10**6, 10**9, 10**9, room(0, 0))


@pytest.mark.parametrize("summarised", [False, True])
def test_what_a_kernel_writes_in_several_calls_is_collected(summarised: bool) -> None:
    """Trends of one, two and three events, in two calls where they are written, then two more in another window."""
    detector = detecting(summarised)
    calls = iter([(1, 2), (3,)] if not summarised else [(1, 2, 3)])

    def write(found: FoundTrends, lengths: tuple[int, ...]) -> None:
        for length in lengths:
            trends, written = found.size
            if not summarised:
                found.positions[written : written + length] = range(length)
                found.offsets[trends + 1] = written + length
            found.size[:] = trends + 1, written + length
            found.digest[0] += np.uint64(length)

    def detect(found: FoundTrends) -> bool:
        lengths = next(calls)
        write(found, lengths)
        return 3 in lengths

    def again(found: FoundTrends) -> bool:
        write(found, (2, 2))
        return True

    parts = [*detector.collected(5, 3, detect), *detector.collected(7, 3, again)]
    assert detector.detected == 5
    found: list[tuple[Any, ...]] = []
    for part in parts:
        if isinstance(part, MatchRows):
            bounds = pairwise(part.offsets.tolist())
            matches = [part.positions[low:high].tolist() for low, high in bounds]
            found += list(zip(part.window.tolist(), matches, strict=True))
        else:
            assert isinstance(part, MatchDigests)
            found.append((part.window.tolist(), part.matches.tolist(), part.digest.tolist()))
    pair = (7, [0, 1])
    rows = [(5, [0]), (5, [0, 1]), (5, [0, 1, 2]), pair, pair]
    assert found == ([([5], [3], [6]), ([7], [2], [4])] if summarised else rows)


def test_a_window_without_trends_has_no_rows() -> None:
    for summarised in (False, True):
        assert detecting(summarised).collected(0, 1, lambda found: True) == []
