"""Event sequences: what A-Seq, Sharon and SPASS evaluate (dissertation Chapters 21 and 22)."""

from __future__ import annotations

from dataclasses import dataclass

from cepbench.queries.model import Local


@dataclass(frozen=True)
class Symbol:
    """What one place of a sequence matches: events of a type that pass local predicates. Equal symbols can be shared.

    In `predicates` names are those of the type, so that queries with other aliases have equal symbols.
    """

    type: str
    predicates: frozenset[Local] = frozenset()


@dataclass(frozen=True)
class Sequence:
    """One event sequence of a query.

    - `query`: the query's index in the workload.
    - `positions`: the automaton's positions, place by place, and `symbols`: what they match.
    - `negated[i]`: single event types of which none may occur between places i and i + 1.
    """

    query: int
    positions: tuple[int, ...]
    symbols: tuple[Symbol, ...]
    negated: tuple[frozenset[Symbol], ...]

    def __len__(self) -> int:
        return len(self.positions)
