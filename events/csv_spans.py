"""Cutting a CSV file into spans of whole rows, which many processes read side by side.

Whether a newline ends a row depends on all bytes before it: it may be inside quotes. So every process scans a stretch
of bytes for each state that may precede it (`scan`); then the states are chained (`spans`), and the result is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cepbench.events.csv_states import FIELD, STATES, advanced

LOOK_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class ByteRange:
    """Bytes start..stop-1 of a file, all of them without `stop`; whole rows, the first with the header."""

    start: int = 0
    stop: int | None = None


WHOLE = ByteRange()


@dataclass(frozen=True)
class Scan:
    """A stretch of bytes by the state before it: the state after it, and where the first row after a newline begins."""

    ends: tuple[int, ...]
    rows: tuple[int | None, ...]


def stretches(size: int, most: int) -> list[ByteRange]:
    """All bytes of a file in stretches of `most`, cut anywhere."""
    return [ByteRange(start, min(start + most, size)) for start in range(0, size, most)] or [ByteRange(0, size)]


def scan(file: Path, stretch: ByteRange) -> Scan:
    """Scans a stretch of the file."""
    ends: list[int] = list(STATES)
    rows: list[int | None] = [None] * len(STATES)
    with file.open("rb") as opened:
        place = len(BOM) if stretch.start == 0 and opened.read(len(BOM)) == BOM else stretch.start
        opened.seek(place)
        assert stretch.stop is not None
        while data := opened.read(max(0, min(LOOK_BYTES, stretch.stop - place))):
            found = {state: advanced(data, state) for state in set(ends)}
            for lane, before in enumerate(ends):
                after, row = found[before]
                ends[lane] = after
                if rows[lane] is None and row >= 0:
                    rows[lane] = place + row
            place += len(data)
    return Scan(tuple(ends), tuple(rows))


def spans(file: Path, scans: Sequence[Scan]) -> list[ByteRange]:
    """The file in spans of whole rows, from the scans of its stretches: at most one per stretch, and at least one."""
    state, cuts = FIELD, []
    size = file.stat().st_size
    for number, found in enumerate(scans):
        row = found.rows[state]
        if number > 0 and row is not None and row < size:
            cuts.append(row)
        state = found.ends[state]
    with file.open("rb") as opened:
        header = _header(opened.read(LOOK_BYTES))
        cuts = [cut for cut in cuts if cut > header and not _has_mark(opened.seek(cut), opened.read(len(BOM)))]
    return [ByteRange(start, stop) for start, stop in zip([0, *cuts], [*cuts, None], strict=True)]


def _header(begin: bytes) -> int:
    """Where the header begins: after a byte order mark and empty lines."""
    return len(begin) - len(begin.removeprefix(BOM).lstrip(b"\r\n"))


def _has_mark(_: int, begin: bytes) -> bool:
    """Arrow skips a byte order mark where it begins to read, and nowhere else."""
    return begin == BOM
