"""From the text of a query to a `Query` (docs/query-language.md). Any text results in a `Query` or a `QueryError`."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from lark import Lark
from lark.exceptions import UnexpectedInput

from cepbench.queries.errors import QueryError
from cepbench.queries.expected import notation_hint, syntax_error
from cepbench.queries.lexis import QueryText, unquote
from cepbench.queries.model import Length, Matches, Query, Semantics
from cepbench.queries.names import meanings, names_text
from cepbench.queries.resolve import check
from cepbench.queries.source import Node, Problem, QuerySource
from cepbench.queries.tree import TreeBuilder

MOST_CHARACTERS = 100_000
"""Longer queries are refused: time and memory stay small for any text."""


def parse_query(text: str, name: str = "q") -> Query:
    """The query of `text`; a name line in it overrides `name`.

    Raises `QueryError` that underlines the place and lists what was expected, also for a syntactically valid query
    without a meaning (`queries.resolve`).
    """
    whole = QueryText.of(text)
    query, _ = parse_block(whole, 0, len(whole.shown), name)
    return query


def parse_block(text: QueryText, start: int, stop: int, name: str, origin: str = "") -> tuple[Query, QuerySource]:
    """The query between two offsets of `text`, and its places; `origin` precedes messages. Raises `QueryError`."""
    if stop - start > MOST_CHARACTERS:
        raise QueryError(f"{origin}a query may have at most {MOST_CHARACTERS} characters", text.shown, start)
    named = text.name_line(start, stop)
    if named:
        name = read_name(text, named, origin)
        start = text.after_name(named[1])
    code = text.code[start:stop]
    try:
        clauses = cast(dict[str, Node], _parser().parse(code))
    except UnexpectedInput as error:
        message, first, last = syntax_error(_parser(), code, error)
        raise QueryError(origin + message, text.shown, start + first, start + last) from None
    except Problem as problem:
        message = origin + problem.message + notation_hint(code, problem.start)
        raise QueryError(message, text.shown, start + problem.start, start + problem.stop) from None
    source = QuerySource(text.shown, clauses, start, origin)
    query = _query(name, clauses)
    check(query, source)
    _check_prefixes(query, source)
    return query, source


def read_name(text: QueryText, place: tuple[int, int], origin: str) -> str:
    """The name at a place that `QueryText.name_line` found. Raises `QueryError`."""
    word = text.code[slice(*place)]
    try:
        return unquote(word) if word.startswith("`") else word
    except ValueError as error:
        raise QueryError(origin + str(error), text.shown, *place) from None


@cache
def _parser() -> Lark:
    grammar = (files("cepbench.queries") / "sase.lark").read_text(encoding="utf-8")
    tables = Path(__file__).parent / "__pycache__" / f"sase.{sys.implementation.cache_tag}.pickle"
    with suppress(OSError):
        tables.parent.mkdir(exist_ok=True)
    return Lark(
        grammar,
        start="query",
        parser="lalr",
        lexer="contextual",
        transformer=TreeBuilder(),
        # To build the tables takes ten times as long as to read them. Lark compares the grammar, and continues
        # without the file where it cannot be written.
        cache=str(tables),
    )


def _query(name: str, clauses: dict[str, Node]) -> Query:
    def value(clause: str, default: Any) -> Any:
        return clauses[clause].value if clause in clauses else default

    within = value("within", None)
    return Query(
        name=name,
        returns=value("return", Matches()),
        pattern=clauses["pattern"].value,
        semantics=value("semantics", Semantics.ANY),
        predicates=value("where", ()),
        group_by=value("group by", ()),
        window=None if isinstance(within, Length) else within,
        span=within if isinstance(within, Length) else None,
    )


def _check_prefixes(query: Query, source: QuerySource) -> None:
    """The prefix of `E.attr` in RETURN and GROUP-BY is dropped, but must name an event of the pattern."""
    names = meanings(query.pattern)
    for clause in ("return", "group by"):
        for index, node in enumerate(source.clauses[clause].children if clause in source.clauses else ()):
            for prefix in node.children:
                if prefix.value not in names:
                    raise source.error(f"unknown name {prefix.value!r}; {names_text(names)}", clause, index, 0)
