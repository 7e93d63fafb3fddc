"""Differences between the configurations of two records, as text."""

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

EFFORT = "repeat"
"""The number of runs of a cell: more runs narrow its interval and do not change the measured quantity."""

WIDTH = 60  # characters of one side
CONTEXT = 2  # words before the first that differs
_COMMENT = re.compile(r"--.*")
_END = re.compile(r";|\n[ \t]*\n")
_NAME = re.compile(r"\s*(\w+)\s*:")
_CLAUSE = re.compile(r"\b(?=(?:RETURN|PATTERN|SEMANTICS|WHERE|GROUP-BY|WITHIN|SLIDE)\b)", re.IGNORECASE)


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[str, ...]:
    """One text per difference from `a` to `b`; none if equal but for `EFFORT`, blanks and comments of queries.

    >>> differences({"limits": {"seconds": 5}}, {"limits": {"seconds": 10}})
    ('limits.seconds: 5 -> 10',)
    """
    return tuple(_differences("", a, b))


def _differences(path: str, a: Any, b: Any) -> Iterator[str]:
    if path == EFFORT or a == b:
        return
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in dict.fromkeys((*a, *b)):
            yield from _differences(f"{path}.{name}" if path else name, a.get(name), b.get(name))
    elif path == "workload" and isinstance(a, str) and isinstance(b, str):
        yield from _of_queries(_queries(a), _queries(b))
    else:
        yield f"{path}: {_shown(a)} -> {_shown(b)}"


def _of_queries(a: list[str], b: list[str]) -> Iterator[str]:
    if len(a) != len(b):
        yield f"workload: {len(a)} -> {len(b)} queries"
        return
    for number, (left, right) in enumerate(zip(a, b, strict=True), 1):
        name = _NAME.match(right)
        called = "query" if len(b) == 1 else f"query {name[1] if name else number}"
        clauses, others = _clauses(left), _clauses(right)
        for keyword in dict.fromkeys((*clauses, *others)):
            before, after = clauses.get(keyword), others.get(keyword)
            if before != after:
                yield f"{called}: {' -> '.join(_changed(before, after))}"


def _queries(workload: str) -> list[str]:
    parts = _END.split(_COMMENT.sub("", workload))
    return [" ".join(part.split()) for part in parts if part.strip()]


def _clauses(query: str) -> dict[str, str]:
    """The clauses of a query by their keyword; the name before the first one is at ""."""
    clauses: dict[str, str] = {}
    for part in _CLAUSE.split(query):
        clause = part.strip()
        keyword = clause.split(" ")[0].upper() if _CLAUSE.match(clause) else ""
        clause = keyword + clause[len(keyword) :]
        clauses[keyword] = f"{clauses[keyword]} {clause}" if keyword in clauses else clause
    return clauses


def _changed(a: str | None, b: str | None) -> tuple[str, str]:
    """Both clauses; long ones are reduced to the keyword and the difference."""
    if a is None or b is None or max(len(a), len(b)) <= WIDTH:
        return _shown(a), _shown(b)
    left, right = a.split(), b.split()
    pairs = list(zip_longest(left, right))
    first = next((n for n, (before, after) in enumerate(pairs) if before != after), 0)
    most = min(len(left), len(right)) - first
    last = next((n for n in range(most) if left[-1 - n] != right[-1 - n]), most)
    return _cut(left, first, last), _cut(right, first, last)


def _cut(words: list[str], first: int, last: int) -> str:
    begin = max(first - CONTEXT, 1)
    start = f"{words[0]} … " if begin > 1 else f"{words[0]} "
    return _shown(start + " ".join(words[begin : len(words) - last]) + (" …" if last else ""))


def _shown(value: Any) -> str:
    text = "none" if value is None or value == "" else str(value)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
