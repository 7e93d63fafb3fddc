"""Sinks: what a traversal may hand over before the output is full."""

import numpy as np

from cepbench.algorithms.answers.matches import digested
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.engine.kernels.sinks import Sink, Written, emit, has_room
from cepbench.algorithms.engine.sinks import MatchSink, collected, match_sink
from cepbench.algorithms.rows import MatchDigests, MatchRows

SIZE = 7


@kernel
def hand_over(path: Ints, done: Ints, sink: Sink) -> bool:
    """All matches of consecutive events of `path`."""
    while done[0] < len(path):
        while done[1] < len(path):
            if not has_room(sink, done[1] + 1 - done[0]):
                return False
            emit(sink, path, done[0], done[1] + 1)
            done[1] += 1
        done[0] += 1
        done[1] = done[0]
    return True


def matches_in(sink: MatchSink) -> list[MatchRows | MatchDigests]:
    path, done = np.arange(SIZE), np.zeros(2, np.int64)
    return collected(3, sink, lambda sink: hand_over(path, done, sink))


def rows_in(parts: list[MatchRows | MatchDigests]) -> list[list[int]]:
    rows = MatchRows.concatenate([part for part in parts if isinstance(part, MatchRows)])
    return [match.tolist() for match in np.split(rows.positions, rows.offsets[1:-1])]


def test_matches_are_written_within_the_output() -> None:
    """The arrays lie in larger ones, which are not touched elsewhere."""
    place = 10 * np.arange(SIZE)
    expected = [place[low:high].tolist() for low in range(SIZE) for high in range(low + 1, SIZE + 1)]
    for room in range(2, 9):
        offsets, positions = np.full(room + 8, -7), np.full(room + SIZE + 8, -7)
        sink = match_sink(place, summarised=False)
        assert isinstance(sink, Written)
        sink = sink._replace(offsets=offsets[4 : 4 + room], positions=positions[4 : 4 + room + SIZE])
        sink.offsets[0] = 0
        parts = matches_in(sink)
        assert rows_in(parts) == expected
        assert len(parts) >= len(expected) / (room - 1)
        for array in (offsets, positions):
            assert set(array[:4]) | set(array[-4:]) == {-7}


def test_digests_are_sums_of_the_hashes_of_matches() -> None:
    [digests] = matches_in(match_sink(np.arange(SIZE), summarised=True))
    rows = matches_in(match_sink(np.arange(SIZE), summarised=False))
    assert isinstance(digests, MatchDigests)
    [written] = [digested(part) for part in rows if isinstance(part, MatchRows)]
    assert digests.window.tolist() == [3]
    assert digests.matches[0] == len(written)
    assert digests.digest[0] == written.digest.sum()
