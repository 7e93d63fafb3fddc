"""What the type-grained loop reads of a query: tables of its automaton as lists, and the shape of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.trends.online.kernels.template import ANY, CONTIGUOUS, NEXT
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Tables, Weights, csr

END = np.uint64(2**64 - 1)
"""Behind the last item of a list. A loop to it is not vectorized, which would cost more than these short lists take."""

EVEN = 4
"""Lists of predecessors that have so many at most are made equally long."""

PAIR = 2
"""Predecessors of a position that kernels of their own are compiled for; lists have so many at least."""

OFTEN = (
    (ANY, 1, 0, 0), (ANY, 1, 1, 0), (ANY, 2, 1, 0), (NEXT, 1, 0, 0), (NEXT, 2, 1, 0), (CONTIGUOUS, 1, 0, 0),
    (CONTIGUOUS, 2, 1, 0),
)  # fmt: skip
"""Semantics and numbers of ring, real and least channels that have compiled kernels of their own."""


class TypeTables(NamedTuple):
    """What is read of the `Tables` of an automaton without negation: every array costs time at each call.

    - `sole`: the position of a type, the number of the empty cell if it has none, END if it has several.
    - The positions `source` before a position, and the positions `binding` of a type, are lists that end with END; they
      begin where `first_source` of the position, or `first_binding` of the type, says. Behind short lists of sources is
      the number of an empty cell, as often as makes them as long as the others: their length need not be predicted.
    - `held`: the position whose cell an event that is alone at its time adds its trends to: its own, or the empty one
      if they replace what was there.
    """

    first_binding: Index
    binding: Index
    sole: Index
    first_source: Index
    source: Index
    held: Index
    start: Flags
    end: Flags
    local: Ints
    ring: Weights
    real: Weights
    least: Weights


Size = tuple[bool, ...] | Flags


class Shape(NamedTuple):
    """Semantics (ANY, NEXT or CONTIGUOUS) and numbers of channels, each as a length, and of `sources`, 0 if they vary.

    That of a tuple is known when a kernel is compiled, which makes it up to 1.4 times as fast, but takes seconds for
    each combination. That of an array is known when it runs.
    """

    semantics: Size
    ring: Size
    real: Size
    least: Size
    sources: tuple[bool, ...]


def template_of(tables: Tables, semantics: int, empty: int) -> TypeTables:
    """The part of the tables that type-grained aggregation reads; cell `empty` of a window stays empty."""
    begins, sources = tables.binding_ptr, lists_of(tables.enter_ptr, tables.source)
    bindings = np.diff(begins)
    sole = np.where(bindings == 0, np.uint64(empty), END)
    sole[bindings == 1] = tables.binding[begins[:-1][bindings == 1]]
    longest = max([PAIR, *(len(some) for some in sources if len(some) <= EVEN)])
    evened = [some + (empty,) * (longest - len(some)) for some in sources]
    keeps = [semantics == ANY or (semantics == NEXT and p not in some) for p, some in enumerate(sources)]
    return TypeTables(
        (begins + np.arange(len(begins)))[:-1].astype(np.uint64),
        np.insert(tables.binding.astype(np.uint64), begins[1:], END),
        sole,
        *terminated(evened),
        np.array([p if kept else empty for p, kept in enumerate(keeps)], np.uint64),
        tables.start,
        tables.end,
        tables.local,
        tables.ring,
        tables.real,
        tables.least,
    )


def lists_of(ptr: Ints, items: Ints) -> list[tuple[int, ...]]:
    """The lists of a CSR."""
    return [tuple(items[first:last].tolist()) for first, last in pairwise(ptr.tolist())]


def terminated(lists: Sequence[tuple[int, ...]]) -> tuple[Index, Index]:
    """Where each list begins, and all lists, with END behind each."""
    ptr, items = csr((*some, -1) for some in lists)
    return ptr[:-1].astype(np.uint64), items.astype(np.uint64)  # -1 becomes END


def shape_of(semantics: int, layout: Layout, tables: Tables, arithmetic: str) -> Shape:
    """The shape of a query; its kernel is compiled for it alone if it comes OFTEN, and lists of sources have a PAIR."""
    sizes = (semantics, len(layout.ring), len(layout.real), len(layout.least))
    known = arithmetic == "modular" and sizes in OFTEN and np.diff(tables.enter_ptr).max(initial=0) <= PAIR
    matching, ring, real, least = ((False,) * size if known else np.zeros(size, np.bool_) for size in sizes)
    return Shape(matching, ring, real, least, (False,) * PAIR if known else ())
