"""CSV files as Arrow blocks of texts, and the kinds of their columns.

A column contains integers, otherwise floats, otherwise strings, depending on all of its values. Only an empty field is
null ("NA" may be a company), unless `Reading.null` names more. Rows are counted with the heading, without empty lines.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterator, Mapping, Sequence
from csv import Error, reader
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from cepbench.events.columns import ARROW, are, first_other, first_padded
from cepbench.events.errors import InputError
from cepbench.events.reading import Reading
from cepbench.events.schema import Kind

BLOCK_BYTES = 1 << 23
LOOK_BYTES = 1 << 20
SEPARATORS = ",;\t|"
LONG_DIGITS = 19
"""Whole numbers with so many digits would lose some as floats; they are identifiers."""
MOST_TEXTS = 10
"""A column with more different texts is not one of numbers, of which some are missing."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_LONG = rf"^[+-]?0*[1-9]\d{{{LONG_DIGITS - 1},}}$"


@dataclass(frozen=True)
class Column:
    """Facts about a column of one or several files; `+` adds those of later rows.

    - `kind`: of its values that are numbers, None without such values.
    - `long`: the place of a whole number with `LONG_DIGITS`.
    - `padded`: a number with leading zeros, and its place.
    - `texts`: the first values that are not numbers, with their places.
    - `numbers`: how many more values are numbers than texts.
    """

    kind: Kind | None = None
    long: str | None = None
    padded: tuple[str, str] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    numbers: int = 0

    def __add__(self, later: "Column") -> "Column":
        return Column(
            Kind.FLOAT if Kind.FLOAT in (self.kind, later.kind) else self.kind or later.kind,
            self.long or later.long,
            self.padded or later.padded,
            {**self.texts, **later.texts, **self.texts},
            self.numbers + later.numbers,
        )

    @property
    def read_as(self) -> Kind | None:
        """The kind of the attribute, None without values."""
        texts = self.texts or self.padded or (self.kind is Kind.FLOAT and self.long)
        return Kind.STRING if texts else self.kind

    def notice(self, name: str, *, needed: bool = False) -> str | None:
        """The reason why the column is text although it contains numbers, and what helps; None if it is no such column.

        Unless its numbers are `needed`, most of its values have to be numbers.
        """
        confirmed = f"Reading(text={name!r}) confirms that it is text"
        if not self.texts and self.padded is not None:
            text, place = self.padded
            return f"{place}, column {name!r}: {text!r} has leading zeros, so the column is text; {confirmed}"
        text, place = next(iter(self.texts.items()), ("", ""))
        if self.texts and all(map(_DECIMAL_COMMA.fullmatch, self.texts)):
            return f"{place}, column {name!r}: {text!r} is text; numbers have a decimal point; {confirmed}"
        if self.kind is Kind.FLOAT and self.long and not self.texts:
            why = "a whole number that no 64-bit number keeps beside the others, so the column is text"
            return f"{self.long}, column {name!r}: {why}; {confirmed}"
        if self.kind is None or not self.texts:
            return None
        if not needed and (self.numbers <= 0 or len(self.texts) > MOST_TEXTS):
            return None
        remedy = " ".join(f"Reading(null={text!r})" for text in self.texts)
        why = f"{text!r} is not a number, so the column is text; {remedy} reads such values as null"
        return f"{place}, column {name!r}: {why}; {confirmed}"


@dataclass(frozen=True)
class Form:
    """The form of a file: the names of its columns, its separator and its encoding."""

    names: tuple[str, ...]
    separator: str
    encoding: str


def form_of(file: Path, reading: Reading, called: str) -> Form:
    """The form of a file, as `reading` has it or as its first rows show. Raises `InputError`."""
    try:
        with pa.input_stream(str(file)) as stream:
            begin = stream.read(LOOK_BYTES)
        utf16 = begin.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        encoding = reading.encoding or ("utf-16" if utf16 else "utf-8")
        text = begin.decode(encoding, errors="replace").lstrip("\ufeff\r\n")
        unquoted = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
        wanted = {reading.time} | ({reading.type} if reading.constant is None else set())
        named = [mark for mark in SEPARATORS if wanted <= set(unquoted.split(mark)) and not reading.names]
        separator = reading.separator or max(named or SEPARATORS, key=unquoted.count)
        first = next(iter(reader(StringIO(text, newline=""), delimiter=separator)), ())
        if not text:
            raise OSError("the file is empty")
        if not reading.names and any("\ufffd" in name for name in first):
            raise UnicodeError(f"the heading is not {encoding}")
        return Form(tuple(reading.names or first), separator, encoding)
    except (OSError, UnicodeError, Error) as error:
        raise _unreadable(called, error, ()) from None


def csv_blocks(
    file: Path, reading: Reading, called: str | None = None, only: Collection[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows in order as texts, in blocks of bounded size, the first one empty; `only` some columns.

    Raises `InputError`.
    """
    called = called or str(file)
    form = form_of(file, reading, called)
    try:
        # One thread: only then does Arrow name the row of a malformed line.
        read = csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False, encoding=form.encoding)
        read.column_names = reading.names
        parse = csv.ParseOptions(delimiter=form.separator, newlines_in_values=True)
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(form.names, pa.string()),
            null_values=["", *reading.null],
            strings_can_be_null=True,
            include_columns=[] if only is None else [name for name in form.names if name in only],
        )
        with csv.open_csv(file, read, parse, convert) as blocks:
            yield pa.RecordBatch.from_pylist([], blocks.schema)
            yield from blocks
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise _unreadable(called, error, form.names) from None


def columns_of(file: Path, reading: Reading, called: str) -> dict[str, Column]:
    """The columns of a file, which messages call `called`. Raises `InputError`."""
    names = form_of(file, reading, called).names
    reading.check(names, called, is_csv=True)
    columns = dict.fromkeys(names, Column())
    row = reading.heading + 1
    for block in csv_blocks(file, reading, called):
        for name in (*reading.attributes(names), reading.time):
            columns[name] = _examined(columns[name], block[name], f"{called}, row", row)
        row += block.num_rows
        last = block
    end = last.column(last.num_columns - 1)[-1].as_py() if last.num_rows else None
    if end is not None and "\n" in end and _quotes(file) % 2:
        raise InputError(f"{called}, row {row - 1}, column {names[-1]!r}: a quote does not end")
    return columns


def _quotes(file: Path) -> int:
    with pa.input_stream(str(file)) as stream:
        return sum(block.count(b'"') for block in iter(lambda: stream.read(BLOCK_BYTES), b""))


def _examined(facts: Column, values: pa.Array, place: str, first_row: int) -> Column:
    """The facts about a column after a block; the number of its first row follows `place`."""
    if len(facts.texts) > MOST_TEXTS or values.null_count == len(values):
        return facts
    texts, trimmed = dict(facts.texts), pc.utf8_trim_whitespace(values)
    numbers = trimmed
    while True:
        if texts:
            is_text = pc.is_in(values, value_set=pa.array(texts, pa.string()))
            numbers = pc.if_else(is_text, pa.scalar(None, pa.string()), trimmed)
        balance = facts.numbers + len(values) - 2 * numbers.null_count + values.null_count
        if numbers.null_count == len(numbers):
            return replace(facts, texts=texts, numbers=balance)
        kinds = (Kind.INT, Kind.FLOAT) if facts.kind is not Kind.FLOAT else (Kind.FLOAT,)
        kind = next((kind for kind in kinds if are(numbers, ARROW[kind])), None)
        if kind is not None:
            break
        row = first_other(numbers, pa.float64())
        texts[values[row].as_py()] = f"{place} {first_row + row}"
        if len(texts) > MOST_TEXTS:
            return replace(facts, texts=texts)
    long = facts.long
    if long is None and pc.max(pc.binary_length(numbers)).as_py() >= LONG_DIGITS:
        row = pc.index(pc.match_substring_regex(numbers, _LONG), True).as_py()
        long = None if row < 0 else f"{place} {first_row + row}"
    row = -1 if facts.padded else first_padded(numbers)
    padded = facts.padded if row < 0 else (values[row].as_py(), f"{place} {first_row + row}")
    return replace(facts, kind=kind, long=long, padded=padded, texts=texts, numbers=balance)


def _unreadable(called: str, error: Exception, names: Sequence[str]) -> InputError:
    """Arrow's message with our names of rows and columns, and what helps."""
    problem = str(error).strip().split("\n", 1)[0]
    place, remedy = "", ""
    if parts := re.fullmatch(r"(?:In CSV column #(\d+): |CSV parse error: )Row #(\d+): (.*)", problem):
        column = f", column {names[int(parts[1])]!r}" if parts[1] and int(parts[1]) < len(names) else ""
        place, problem = f", row {parts[2]}{column}", parts[3]
    if "UTF8" in problem or isinstance(error, UnicodeError):
        problem = "the text is not UTF-8" if "UTF8" in problem else problem
        remedy = "; name its encoding by Reading(encoding=...), for example Reading(encoding='latin-1')"
    elif fields := re.fullmatch(r"Expected (\d+) columns, got (\d+): (.*)", problem):
        problem = f"{fields[2]} fields instead of {fields[1]}: {fields[3]}"
        if int(fields[2]) > int(fields[1]):
            remedy = "; a field that contains the separator has to be in quotes"
        elif fields[3].count('"') % 2:
            remedy = "; a quote does not end"
    return InputError(f"{called}{place}: {'' if place else 'unreadable CSV: '}{problem}{remedy}")
