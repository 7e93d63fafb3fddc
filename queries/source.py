"""The places of the parts of a query in a text, so that errors can underline them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from cepbench.queries.errors import QueryError
from cepbench.queries.lexis import QueryText


class Node(NamedTuple):
    """A value of the query model and its place; `children` are its parts in the order of the model."""

    value: Any
    start: int
    stop: int
    children: tuple[Node, ...] = ()

    def nodes(self) -> Iterator[Node]:
        """The node itself and all nodes below it, from left to right."""
        yield self
        for child in self.children:
            yield from child.nodes()


class Problem(Exception):
    """Input that the grammar allows and the language does not, at a place of the parsed text."""

    def __init__(self, message: str, start: int, stop: int):
        super().__init__(message)
        self.message, self.start, self.stop = message, start, stop


@dataclass(frozen=True)
class QuerySource:
    """The text of a query and its clauses.

    Keys of `clauses`: `return` (children: grouping attributes, then items), `pattern` (itself the outermost pattern;
    children: sub-patterns), `semantics`, `where` (children: predicates, and theirs: operands), `group by` (children:
    attributes), `within` (children: its lengths). Places of nodes count from `offset`; `origin` precedes messages.
    """

    text: str
    clauses: Mapping[str, Node]
    offset: int = 0
    origin: str = ""

    def error(self, message: str, clause: str, *path: int) -> QueryError:
        """An error that underlines the part of a clause at `path`, child by child."""
        node = self.clauses.get(clause)
        if node is None:
            return QueryError(self.origin + message)
        for index in path:
            node = node.children[index]
        return QueryError(self.origin + message, self.text, self.offset + node.start, self.offset + node.stop)

    def written(self, node: Node) -> str:
        """A part of the query as its author wrote it, in one line and without comments."""
        code = QueryText.of(self.text).code[self.offset + node.start : self.offset + node.stop]
        return " ".join(line.strip() for line in code.splitlines() if line.strip())
