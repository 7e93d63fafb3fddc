"""Workload files: many queries, separated by blank lines or semicolons, each with an optional name."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from pathlib import Path

from cepbench.events.errors import InputError
from cepbench.queries.errors import QueryError
from cepbench.queries.lexis import QueryText
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_block, read_name
from cepbench.queries.source import QuerySource


@lru_cache(maxsize=256)
def parse_workload(text: str) -> tuple[Query, ...]:
    """The queries of a text in their order; queries without a name are named q1, q2, ... by their place.

    Raises `QueryError` with the place in `text`, also if it contains no query or a name is given twice. A text that was
    parsed before is not parsed again.
    """
    return tuple(query for query, _ in _parse(text, ""))


def parse_with_sources(text: str) -> tuple[tuple[Query, QuerySource], ...]:
    """The queries of a text as `parse_workload` returns them, each with its text and the places of its parts in it."""
    return _parse(text, "")


def load_workload(path: str | Path) -> tuple[Query, ...]:
    """The queries of a file. Raises `InputError` for a file that cannot be read, `QueryError` for an error in it."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the workload: {getattr(error, 'strerror', None) or error}") from None
    return tuple(query for query, _ in _parse(text, f"{path}: "))


def _parse(text: str, origin: str) -> tuple[tuple[Query, QuerySource], ...]:
    whole = QueryText.of(text)
    blocks = list(whole.blocks())
    if not blocks:
        raise QueryError(f"{origin}the workload contains no query")
    named = [whole.name_line(*block) for block in blocks]
    taken: set[str] = set()
    for place in filter(None, named):
        name = read_name(whole, place, origin)
        if name in taken:
            raise QueryError(f"{origin}the name {name!r} is given to two queries", whole.shown, *place)
        taken.add(name)
    queries = []
    for number, block in enumerate(blocks, 1):
        default = next(name for name in (f"q{n}" for n in count(number)) if name not in taken)
        query, source = parse_block(whole, *block, default, origin)
        taken.add(query.name)
        queries.append((query, source))
    return tuple(queries)
