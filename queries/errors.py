"""Errors of the query language."""

from cepbench.events.errors import CepbenchError

_MOST_CONTEXT = 100
"""Characters of a line that are shown on each side of a place."""


class QueryError(CepbenchError):
    """An invalid query: what was expected, and the underlined place if it is known."""

    def __init__(self, message: str, text: str | None = None, start: int | None = None, stop: int | None = None):
        self.message = message
        self.place = None if text is None or start is None else _underlined(text, start, stop)
        super().__init__(message if self.place is None else f"{message}\n{self.place}")


def _underlined(text: str, start: int, stop: int | None) -> str:
    """The line of `text` with offset `start`, with carets under start..stop; a long line is cut."""
    start = min(max(start, 0), len(text))
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    last = last if last >= 0 else len(text)
    prefix = f"line {text.count(chr(10), 0, start) + 1}: "
    left, right = max(first, start - _MOST_CONTEXT), min(last, start + _MOST_CONTEXT)
    line = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text[left:right]).rstrip()
    before, after = "…" if left > first else "", "…" if right < last else ""
    width = max(1, min(stop if stop is not None else start + 1, right) - start)
    pad = "".join("\t" if c == "\t" else " " for c in before + text[left:start])
    return f"{prefix}{before}{line}{after}\n{' ' * len(prefix)}{pad}{'^' * width}"
