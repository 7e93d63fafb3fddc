"""Errors of the query language."""

from events.errors import CepbenchError


class QueryError(CepbenchError):
    """A query that means nothing: what was expected, and the underlined place when it is known."""

    def __init__(self, message: str, text: str | None = None, start: int | None = None, stop: int | None = None):
        self.message = message
        self.place = None if text is None or start is None else _underlined(text, start, stop)
        super().__init__(message if self.place is None else f"{message}\n{self.place}")


def _underlined(text: str, start: int, stop: int | None) -> str:
    """The line of `text` that holds offset `start`, with carets under start..stop."""
    start = min(max(start, 0), len(text))
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    width = max(1, min(stop if stop is not None else start + 1, first + len(line)) - start)
    prefix = f"line {text.count(chr(10), 0, start) + 1}: "
    pad = "".join("\t" if c == "\t" else " " for c in line[: start - first])
    return f"{prefix}{line.rstrip()}\n{' ' * len(prefix)}{pad}{'^' * width}"
