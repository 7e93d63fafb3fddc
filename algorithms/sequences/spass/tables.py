"""Compiles a sharable set of sequences into the tables of SPASS kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.channels import Member
from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.spass.kernels.arrival import SymbolTables
from cepbench.algorithms.sequences.spass.kernels.construction import NO_GAP, CountedEvents, Parts
from cepbench.events.schema import Schema
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.tables import Columns, csr, flag_rows


@dataclass(frozen=True, eq=False)
class Joined:
    """A sequence that is constructed and aggregated for one query."""

    query: int
    parts: Parts
    counted: CountedEvents

    @cached_property
    def last(self) -> int:
        """The store of the last part."""
        return int(self.parts.store[-1])


@dataclass(frozen=True, eq=False)
class Instances:
    """A shared sub-sequence whose instances are constructed into a store."""

    store: int
    parts: Parts

    @cached_property
    def last(self) -> int:
        """The store of the last symbol."""
        return int(self.parts.store[-1])


@dataclass(frozen=True, eq=False)
class SetTables:
    """Stores are numbered: first those of symbols, then those of shared sub-sequences with `width` events per row."""

    columns: ColumnSet
    symbols: SymbolTables
    gaps: int
    width: NDArray[np.int64]
    shared: tuple[Instances, ...]
    joined: tuple[Joined, ...]


def tables_of(
    workload: Workload, sequences: tuple[Sequence, ...], members: tuple[int, ...], shared: tuple[Candidate, ...]
) -> SetTables:
    """Tables of the sequences `members`, whose queries have the same window, and of the sub-sequences they share."""
    columns = Columns(workload.schema)
    chosen = [sequences[i] for i in members]
    gaps = {negated: g for g, negated in enumerate(dict.fromkeys(n for s in chosen for n in s.negated if n))}
    number: dict[Symbol, int] = {}
    for symbol in (symbol for sequence in chosen for symbol in sequence.symbols):
        number.setdefault(symbol, len(number))
    stored = len(number)
    for symbol in sorted((symbol for negated in gaps for symbol in negated), key=str):
        number.setdefault(symbol, len(number))
    stores = {candidate.pattern: len(number) + i for i, candidate in enumerate(shared)}
    width = [1] * len(number) + [len(pattern) for pattern in stores]
    cuts: dict[int, dict[int, int]] = {}
    for candidate in shared:
        for i, offset in candidate.occurrences:
            cuts.setdefault(i, {})[offset] = stores[candidate.pattern]
    instances = tuple(
        Instances(store, _parts([number[symbol] for symbol in pattern], {}, width, [NO_GAP] * len(pattern)))
        for pattern, store in stores.items()
    )
    joined = []
    for i, sequence in zip(members, chosen, strict=True):
        before = [NO_GAP, *(gaps.get(negated, NO_GAP) for negated in sequence.negated)]
        parts = _parts([number[symbol] for symbol in sequence.symbols], cuts.get(i, {}), width, before)
        joined.append(Joined(sequence.query, parts, _counted(workload[sequence.query], sequence, parts, columns)))
    symbols = _symbol_tables(number, stored, gaps, workload.schema, columns)
    return SetTables(
        columns.whole,
        symbols,
        len(gaps),
        np.array(width, np.int64),
        instances,
        tuple(joined),
    )


def _parts(symbols: list[int], shared: dict[int, int], width: list[int], gap_before: list[int]) -> Parts:
    """The places of a sequence in parts; `shared` gives the store of the sub-sequence that begins at a place."""
    store, offset = [], [0]
    while offset[-1] < len(symbols):
        store.append(shared.get(offset[-1], symbols[offset[-1]]))
        offset.append(offset[-1] + width[store[-1]])
    gap = [gap_before[at] for at in offset[:-1]]
    return Parts(*(np.array(numbers, np.int64) for numbers in (symbols, store, offset, gap)))


def _symbol_tables(
    number: dict[Symbol, int], stored: int, gaps: dict[frozenset[Symbol], int], schema: Schema, columns: Columns
) -> SymbolTables:
    by_type: list[list[int]] = [[] for _ in schema.types]
    for symbol, s in number.items():
        code = schema.type_code(symbol.type)
        if code >= 0:
            by_type[code].append(s)
    symbol_ptr, symbols = csr(by_type)
    negates_ptr, negates = csr([g for negated, g in gaps.items() if symbol in negated] for symbol in number)
    local = flag_rows([sorted(symbol.predicates, key=str) for symbol in number], columns)
    return SymbolTables(symbol_ptr, symbols, local, np.arange(len(number)) < stored, negates_ptr, negates)


def _counted(query: CompiledQuery, sequence: Sequence, parts: Parts, columns: Columns) -> CountedEvents:
    member = Member(query, query.parts[0])
    places = [(u, j) for u, size in enumerate(np.diff(parts.offset).tolist()) for j in range(size)]
    lists = ([place for place, p in zip(places, sequence.positions, strict=True) if bound[p]] for bound in member.bound)
    ptr, items = csr(lists, 2)
    part, within = np.ascontiguousarray(items.T)
    weights = (channel.column for channel in member.channels)
    column = [-1 if weight is None else columns.index(weight) for weight in weights]
    return CountedEvents(ptr, part, within, np.array(column, np.int64))
