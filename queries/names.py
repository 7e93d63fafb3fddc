"""The meaning of names in RETURN and WHERE (docs/query-language.md, Names)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cepbench.queries.errors import QueryError
from cepbench.queries.model import Event, Not, Or, Pattern, children, occurrences

Path = tuple[int, ...]
"""The path from a pattern to a sub-pattern, child by child."""

Finding = tuple[str, str, Path]
"""A broken rule: a message, and the clause and path of the part that breaks it."""


@dataclass(frozen=True)
class Names:
    """A pattern's events, numbered from left to right, the meaning of its names, and which events are under a NOT."""

    events: tuple[Event, ...]
    meanings: Mapping[str, tuple[int, ...]]
    negated: frozenset[int]

    @staticmethod
    def of(pattern: Pattern) -> Names:
        """The names of a pattern."""
        negated = (i for i, scope in enumerate(scopes(pattern)) if scope is not None)
        return Names(tuple(occurrences(pattern)), meanings(pattern), frozenset(negated))

    def indices(self, name: str) -> tuple[int, ...]:
        """The events that `name` means; a `QueryError` lists the valid names."""
        if name not in self.meanings:
            raise QueryError(f"unknown name {name!r}; {names_text(self.meanings)}")
        return self.meanings[name]


def meanings(pattern: Pattern) -> dict[str, tuple[int, ...]]:
    """All names of a pattern and their meaning: indices into `tuple(occurrences(pattern))`.

    An alias means its occurrence, or those of its OR; a type means all occurrences of the type; a name that is both is
    the alias.
    """
    types: dict[str, list[int]] = {}
    aliases: dict[str, tuple[int, ...]] = {}
    for index, event in enumerate(occurrences(pattern)):
        types.setdefault(event.type, []).append(index)
        if event.alias is not None:
            aliases[event.alias] = (index,)
    _name_alternatives(pattern, 0, aliases)
    return {name: tuple(indices) for name, indices in types.items()} | aliases


def scopes(pattern: Pattern) -> tuple[Path | None, ...]:
    """For each occurrence, the path to the innermost NOT around it; None for a positive one."""
    return tuple(_scopes(pattern, (), None))


def names_text(names: Mapping[str, tuple[int, ...]]) -> str:
    """The names of a pattern, for an error."""
    return f"the pattern has {', '.join([*names][:20])}{', ...' if len(names) > 20 else ''}"


def _name_alternatives(pattern: Pattern, first: int, aliases: dict[str, tuple[int, ...]]) -> int:
    """Adds the aliases of OR in a pattern whose first occurrence has number `first`; returns the number after it."""
    if isinstance(pattern, Event):
        return first + 1
    after = first
    for child in children(pattern):
        after = _name_alternatives(child, after, aliases)
    if isinstance(pattern, Or) and pattern.alias is not None:
        aliases[pattern.alias] = tuple(range(first, after))
    return after


def _scopes(pattern: Pattern, path: Path, scope: Path | None) -> Iterator[Path | None]:
    if isinstance(pattern, Event):
        yield scope
    for index, child in enumerate(children(pattern)):
        yield from _scopes(child, (*path, index), path if isinstance(pattern, Not) else scope)
