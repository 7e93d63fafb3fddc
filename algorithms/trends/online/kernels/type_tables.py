"""The tables of a query that type-grained kernels read: its automaton as lists, and the shape of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Index, Ints, Static, static
from cepbench.algorithms.engine.kernels.cells import Words, words_of
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS, END, NEXT
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Tables, Weights, csr

MAX_PADDED = 4
"""Lists of at most so many predecessors are padded to equal length."""

MAX_SOURCES = 2
"""The most predecessors of a position for which kernels of their own are compiled; lists are padded to so many at
least.
"""

COMMON_SHAPES = (
    (ANY, 1, 0, 0), (ANY, 1, 1, 0), (ANY, 2, 1, 0), (ANY, 1, 0, 2), (NEXT, 1, 0, 0), (NEXT, 2, 1, 0),
    (CONTIGUOUS, 1, 0, 0), (CONTIGUOUS, 2, 1, 0),
)  # fmt: skip
"""Semantics and numbers of ring, real and least channels that have compiled kernels of their own: what is known when a
kernel is compiled makes it up to 1.4 times as fast, but takes seconds for each combination.
"""


class TypeTables(NamedTuple):
    """The part of the `Tables` of an automaton without negation that kernels read: every array costs time at each call.

    - `sole`: the position of a type, the number of the empty cell if it has none, END if it has several.
    - The positions `source` before a position, and the positions `binding` of a type, are lists that end with END; they
      begin where `first_source` of the position, or `first_binding` of the type, says. Short lists of sources are
      padded to equal length with the number of an empty cell, so that loop exits are predictable.
    - `sources`: the length of all lists of sources, or 0 if they vary.
    - `held`: the position whose cell an event that is alone at its time adds its trends to: its own, or the empty one
      if they replace its trends.
    """

    first_binding: Index
    binding: Index
    sole: Index
    first_source: Index
    source: Index
    sources: Static
    held: Index
    start: Flags
    end: Flags
    local: Ints
    ring: Weights
    real: Weights
    least: Weights


NEGATED = END - np.uint64(1)
"""In place of the position of an event whose type binds to none, but is negated."""


class NegatedTypes(NamedTuple):
    """Positions that single negated events empty; all arrays are empty if there are none.

    - The positions `position` that an event of a type empties if it passes the condition `condition` (a row of `flags`,
      or -1) are a list that ends with END and begins where `first` of the type says.
    - `opened`: positions that hold one empty trend from the time at which a window opens until a leading negated event
      comes: what START positions with leading negations extend.
    """

    first: Index
    position: Index
    condition: Ints
    opened: Index


def template_of(tables: Tables, semantics: int, empty: int, common: bool) -> TypeTables:
    """The part of the tables that type-grained aggregation reads; cell `empty` of a window stays empty.

    `common`: whether the shape of the query is (`is_common`).
    """
    begins, sources = tables.binding_ptr, lists_of(tables.enter_ptr, tables.source)
    bindings = np.diff(begins)
    sole = np.where(bindings == 0, np.uint64(empty), END)
    sole[bindings == 1] = tables.binding[begins[:-1][bindings == 1]]
    longest = max([MAX_SOURCES, *(len(before) for before in sources if len(before) <= MAX_PADDED)])
    padded = [before + (empty,) * (longest - len(before)) for before in sources]
    keeps = [semantics == ANY or (semantics == NEXT and p not in before) for p, before in enumerate(sources)]
    return TypeTables(
        (begins + np.arange(len(begins)))[:-1].astype(np.uint64),
        np.insert(tables.binding.astype(np.uint64), begins[1:], END),
        sole,
        *terminated(padded),
        static(MAX_SOURCES if common else 0),
        np.array([p if kept else empty for p, kept in enumerate(keeps)], np.uint64),
        tables.start,
        tables.end,
        tables.local,
        tables.ring,
        tables.real,
        tables.least,
    )


def with_negated(tables: TypeTables, negated: NegatedTypes, empty: int) -> TypeTables:
    """The same tables, in which events of negated types are not taken for irrelevant ones."""
    if not len(negated.first):
        return tables
    empties = negated.position[negated.first] != END
    sole = tables.sole.copy()
    sole[empties] = np.where(sole[empties] == np.uint64(empty), NEGATED, END)
    return tables._replace(sole=sole)


def tables_of_copies(tables: Tables, positions: list[int], sources: list[list[int]], end: Flags) -> Tables:
    """What `template_of` reads of the tables, for copies of `positions` with `sources` of their own, of which some end
    trends.
    """
    binding_ptr, binding = csr(
        [copy for p in bound for copy, position in enumerate(positions) if position == p]
        for bound in lists_of(tables.binding_ptr, tables.binding)
    )
    enter_ptr, source = csr(sources)
    at = np.array(positions, np.int64)
    return tables._replace(
        binding_ptr=binding_ptr,
        binding=binding,
        enter_ptr=enter_ptr,
        source=source,
        start=tables.start[at],
        end=end,
        local=tables.local[at],
        ring=_at(at, tables.ring),
        real=_at(at, tables.real),
        least=_at(at, tables.least),
    )


def _at(positions: Ints, weights: Weights) -> Weights:
    """The weights of some positions."""
    return Weights(np.take(weights.bound, positions, axis=1), weights.column)


def lists_of(ptr: Ints, items: Ints) -> list[tuple[int, ...]]:
    """The lists of a CSR."""
    return [tuple(items[first:last].tolist()) for first, last in pairwise(ptr.tolist())]


def terminated(lists: Sequence[tuple[int, ...]]) -> tuple[Index, Index]:
    """The start of each list, and all lists, each followed by END."""
    ptr, flat = csr((*items, -1) for items in lists)
    return ptr[:-1].astype(np.uint64), flat.astype(np.uint64)  # -1 becomes END


def is_common(semantics: int, layout: Layout, tables: Tables, arithmetic: str) -> bool:
    """Whether a query has kernels that are compiled for it: its shape is in `COMMON_SHAPES`, and no position has more
    than `MAX_SOURCES` predecessors.
    """
    shape = (semantics, len(layout.ring), len(layout.real), len(layout.least))
    predecessors = np.diff(tables.enter_ptr).max(initial=0)
    return arithmetic == "modular" and shape in COMMON_SHAPES and bool(predecessors <= MAX_SOURCES)


def words_by_shape(layout: Layout, common: bool) -> Words:
    """The words of a cell, known when a kernel is compiled if the shape of the query is `common`."""
    words = words_of(layout)
    return Words(*(static(int(word)) for word in words)) if common else words
