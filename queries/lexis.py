"""Words of the query language: keywords, quoting, comments, and the cutting of a text into queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

RESERVED = frozenset(
    {"RETURN", "PATTERN", "SEMANTICS", "WHERE", "GROUP_BY", "GROUPBY", "WITHIN", "SLIDE", "AND", "OR", "NOT", "SEQ"}
)
"""Keywords, which are names only in backticks."""

_SOMETIMES_KEYWORDS = frozenset({"GROUP", "MATCHES", "COMPLETE", "COUNT", "MIN", "MAX", "SUM", "AVG", "NEXT"})
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\\n])*`"
# A backslash outside quotes is an error; matching it with the next character keeps the search linear.
_COMMENT = re.compile(rf"({_QUOTED}|\\.)|--[^\n]*")
_END_OF_QUERY = re.compile(rf"(?:{_QUOTED}|\\.|--[^\n]*)|(?P<end>;|\n[^\S\n]*(?=\n))")
_COLON = re.compile(r"\s*:")
_NAME_LINE = re.compile(r"\s*(?P<name>[^\W\d]\w*|`(?:\\.|[^`\\\n])*`)(?:\s*:|[^\S\n]*(?=\n|\Z))")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "`": "`"}


def quote_name(name: str) -> str:
    """`name` as a query writes it: bare, or in backticks if it would otherwise mean something else."""
    plain = _PLAIN_NAME.fullmatch(name) and name.upper() not in RESERVED | _SOMETIMES_KEYWORDS
    return name if plain else _quote(name, "`")


def quote_text(text: str) -> str:
    """A text constant in quotes."""
    return _quote(text, "'")


def unquote(word: str) -> str:
    """The value of a quoted word. Raises `ValueError` with a sentence for an unknown escape."""

    def value(match: re.Match[str]) -> str:
        escape = match.group(1)
        if escape in _ESCAPES:
            return _ESCAPES[escape]
        if len(escape) > 1 and int(escape[1:], 16) < 0x110000:
            return chr(int(escape[1:], 16))
        raise ValueError(f"unknown escape {match.group()}; write \\\\ for a backslash")

    return _ESCAPE.sub(value, word[1:-1])


def _quote(text: str, mark: str) -> str:
    return mark + "".join(_escaped(c, mark) for c in text) + mark


def _escaped(character: str, mark: str) -> str:
    if character in (mark, "\\"):
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True)
class QueryText:
    """A text of queries: `shown` for the user, `code` the same with comments blanked, so that offsets agree."""

    shown: str
    code: str

    @staticmethod
    def of(text: str) -> QueryText:
        """`text` with normalized line ends and without a byte order mark."""
        shown = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        return QueryText(shown, _COMMENT.sub(lambda m: m.group(1) or " " * len(m.group()), shown))

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Start and stop of every query: the parts between blank lines and semicolons, without blocks of
        comments only.
        """
        ends = [m.span("end") for m in _END_OF_QUERY.finditer(self.shown) if m.group("end")]
        start = 0
        for stop, following in [*ends, (len(self.shown), len(self.shown))]:
            if not self.code[start:stop].isspace() and start < stop:
                yield start, stop
            start = following

    def name_line(self, start: int, stop: int) -> tuple[int, int] | None:
        """The place at which a query between two offsets is named (`q1:`, or `q1` on a line of its own)."""
        match = _NAME_LINE.match(self.code, start, stop)
        if match is None or match.group("name").upper() in RESERVED:
            return None
        return match.span("name")

    def after_name(self, stop: int) -> int:
        """The offset after a name that ends at `stop`, and after its colon."""
        colon = _COLON.match(self.code, stop)
        return colon.end() if colon else stop
