"""Event sequences, which A-Seq, Sharon and SPASS evaluate (dissertation Chapters 21 and 22)."""

from __future__ import annotations

from dataclasses import dataclass

from cepbench.queries.model import Condition


@dataclass(frozen=True)
class Symbol:
    """The events that a place of a sequence matches: of a type, and by conditions. Equal symbols can be shared."""

    type: str
    predicates: frozenset[Condition] = frozenset()


@dataclass(frozen=True)
class Sequence:
    """One event sequence of a query.

    - `query`: the query's index in the workload.
    - `positions`: the automaton's position of each place; `symbols`: what each place matches.
    - `negated[i]`: event types of which no event may occur between places i and i + 1.
    """

    query: int
    positions: tuple[int, ...]
    symbols: tuple[Symbol, ...]
    negated: tuple[frozenset[Symbol], ...]

    def __len__(self) -> int:
        return len(self.positions)
