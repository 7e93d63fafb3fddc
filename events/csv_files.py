"""CSV files as Arrow blocks, whole or by spans of rows, and the types of their columns.

A column contains integers, otherwise floats, otherwise strings, depending on all of its values: the facts of a file's
spans add up to those of the whole file. Only an empty field is null ("NA" may be a company).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from cepbench.events.columns import ARROW, notations
from cepbench.events.csv_spans import WHOLE, ByteRange
from cepbench.events.errors import InputError
from cepbench.events.schema import Kind

BLOCK_BYTES = 1 << 23
SAMPLE_ROWS = 1000
LONG = 10**18
"""Whole numbers with this many digits would lose some as floats; they are identifiers."""
_LONG_TEXT = r"^[+-]?0*[1-9]\d{18,}$"
_NOTHING, _INT, _FLOAT, _STRING = range(4)


@dataclass(frozen=True)
class Facts:
    """Facts about rows of a CSV file; those of consecutive rows add up.

    - `widths`: by column, 0 for only nulls, 1 for integers, 2 for floats, 3 for strings.
    - `long`: columns with a whole number of 19 digits or more.
    - `notations`: of times, with the first row of each (`events.columns.notations`).
    - `problem`: why nothing could be read after these rows, in Arrow's words.
    """

    rows: int = 0
    widths: Mapping[str, int] = field(default_factory=dict)
    long: frozenset[str] = frozenset()
    notations: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    problem: str | None = None

    def __add__(self, other: "Facts") -> "Facts":
        """The sum of two facts, when `other` follows; a problem counts its rows from here."""
        if self.problem is not None:
            return self
        widths = dict(self.widths)
        for name, width in other.widths.items():
            widths[name] = max(width, widths.get(name, 0))
        return Facts(
            self.rows + other.rows,
            widths,
            self.long | other.long,
            {**{name: (row + self.rows, text) for name, (row, text) in other.notations.items()}, **self.notations},
            other.problem if other.problem is None else _shifted(other.problem, self.rows),
        )

    @property
    def kinds(self) -> dict[str, Kind | None]:
        """The kind of every column, None for one without values."""
        strings = {name for name, width in self.widths.items() if width == _FLOAT and name in self.long}
        kinds = (None, Kind.INT, Kind.FLOAT, Kind.STRING)
        return {name: Kind.STRING if name in strings else kinds[width] for name, width in self.widths.items()}


def header(file: Path) -> list[str]:
    """The names of the columns. Raises `InputError`."""
    try:
        with csv.open_csv(file, read_options=csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False)) as reader:
            return list(reader.schema.names)
    except (pa.ArrowException, OSError) as error:
        raise unreadable(file, error) from None


def csv_blocks(
    file: Path, names: Sequence[str], kinds: Mapping[str, Kind] | None = None, span: ByteRange = WHOLE
) -> Iterator[pa.RecordBatch]:
    """Rows of a span in order, in blocks of bounded size.

    Columns of `kinds` are read as such, which is fast, up to a block with a value of another kind; from there on
    all columns are strings, as are those without a kind. Raises Arrow's errors.
    """
    texts = {name: pa.string() for name in names}
    typed = {**texts, **{name: ARROW[kind] for name, kind in (kinds or {}).items() if name in texts}}
    done = 0
    if typed != texts:
        try:
            for block in _read(file, names, typed, span):
                yield block
                done += block.num_rows
            return
        except pa.ArrowInvalid:
            pass  # for example, a number with a space that only Unicode defines, or an error that the text has, too
    for block in _read(file, names, texts, span):
        if done < block.num_rows:
            yield block.slice(done)
        done = max(0, done - block.num_rows)


def sample(file: Path, names: Sequence[str], time: str = "time") -> Facts:
    """Facts about the first rows of a file, empty if it is unreadable: a guess, from which `facts` may differ."""
    try:
        for block in islice(csv_blocks(file, names), 1):
            return _block_facts(block.slice(0, SAMPLE_ROWS), (), time) or Facts()
    except (pa.ArrowException, OSError):
        pass  # reported when all rows are read
    return Facts()


def facts(file: Path, names: Sequence[str], guess: Facts, span: ByteRange = WHOLE, time: str = "time") -> Facts:
    """Facts about a span; a `guess` from files of the same source makes this faster and does not change the result.

    `time`: the column whose notations are recorded; none if there is no such column.
    """
    kinds = {name: kind for name, kind in guess.kinds.items() if kind in (Kind.INT, Kind.FLOAT)}
    found = _facts(file, names, guess, kinds, span, time)
    if found is None:
        found = _facts(file, names, guess, {}, span, time)
        assert found is not None
    return found


def unreadable(file: Path, problem: Exception | str) -> InputError:
    """The error of a file that Arrow cannot read."""
    return InputError(f"{file}: unreadable CSV: {problem if isinstance(problem, str) else _line(problem)}")


def _facts(
    file: Path, names: Sequence[str], guess: Facts, kinds: Mapping[str, Kind], span: ByteRange, time: str
) -> Facts | None:
    """None if numbers of `kinds` were so large that their texts have to be checked."""
    known = Facts(widths={name: guess.widths.get(name, _NOTHING) for name in names}, long=guess.long)
    settled = {name for name, width in known.widths.items() if width == _STRING}
    try:
        for block in csv_blocks(file, names, kinds, span):
            found = _block_facts(block, settled, time)
            if found is None:
                return None
            known += found
    except (pa.ArrowException, OSError) as error:
        # Rows of a span are counted from 1; those of the whole file from its header on.
        problem = _line(error) if span.start == 0 else _shifted(_line(error), 1)
        return Facts(0, known.widths, known.long, {}, problem)
    return known


def _block_facts(block: pa.RecordBatch, settled: Collection[str], time: str) -> Facts | None:
    widths, long = {}, set()
    written: dict[str, tuple[int, str]] = {}
    for name, column in zip(block.schema.names, block.columns, strict=True):
        if column.null_count == len(column):
            widths[name] = _NOTHING
            continue
        if name == time:
            written = notations(column)
        if name in settled:
            widths[name] = _STRING
        elif pa.types.is_string(column.type):
            widths[name], is_long = _text(column)
            long |= {name} if is_long else set()
        else:
            ends = pc.min_max(column).as_py()
            is_long = ends["max"] is not None and not -LONG < ends["min"] <= ends["max"] < LONG
            if is_long and pa.types.is_floating(column.type):
                return None
            widths[name] = _INT if pa.types.is_integer(column.type) else _FLOAT
            long |= {name} if is_long else set()
    return Facts(block.num_rows, widths, frozenset(long), written)


def _text(column: pa.Array) -> tuple[int, bool]:
    """The width of a column with values, and whether it has a long whole number."""
    trimmed = pc.utf8_trim_whitespace(column)
    for width, kind in ((_INT, pa.int64()), (_FLOAT, pa.float64())):
        try:
            pc.cast(trimmed, kind)
        except pa.ArrowInvalid:
            continue
        may_be = pc.max(pc.binary_length(trimmed)).as_py() >= len(str(LONG))
        return width, may_be and bool(pc.any(pc.match_substring_regex(trimmed, _LONG_TEXT)).as_py())
    return _STRING, False


def _read(
    file: Path, names: Sequence[str], types: Mapping[str, pa.DataType], span: ByteRange
) -> Iterator[pa.RecordBatch]:
    # One thread: only then does Arrow name the row of a malformed line.
    read = csv.ReadOptions(
        block_size=BLOCK_BYTES, use_threads=False, column_names=None if span.start == 0 else list(names)
    )
    parse = csv.ParseOptions(newlines_in_values=True)
    convert = csv.ConvertOptions(column_types=dict(types), null_values=[""], strings_can_be_null=True)
    with ExitStack() as opened:
        origin: Any = file
        if span != WHOLE:
            whole = opened.enter_context(pa.OSFile(str(file)))
            stop = whole.size() if span.stop is None else span.stop
            origin = whole.get_stream(span.start, stop - span.start)
        with csv.open_csv(origin, read_options=read, parse_options=parse, convert_options=convert) as reader:
            yield from reader


def _shifted(problem: str, rows: int) -> str:
    """A problem with its row counted from `rows` rows before."""
    return re.sub(r"Row #(\d+)", lambda found: f"Row #{int(found[1]) + rows}", problem, count=1)


def _line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
