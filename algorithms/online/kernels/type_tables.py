"""What the type-grained loop reads of a query: tables of its automaton as lists, and the shape of its cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.online.kernels.lifecycle import ANY, CONTIGUOUS, NEXT
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Predicates, Tables, Weights

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

    - The positions `binding` of a type, and the positions `source` before a position, are lists that end with END; they
      begin where `first_binding` of the type, or `first_source` of the position, says. Behind short lists of sources is
      the number of an empty cell, as often as makes them as long as the others: their length need not be predicted.
    - `sole`: the position of a type, the number of the empty cell if it has none, END if it has several.
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
    local: Predicates
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
    positions = len(tables.start)
    bindings = np.diff(tables.binding_ptr)
    sole = np.where(bindings == 0, np.uint64(empty), END)
    sole[bindings == 1] = tables.binding[tables.binding_ptr[:-1][bindings == 1]]
    held = np.full(positions, empty, np.uint64)
    for p in range(positions):
        repeats = p in tables.source[tables.enter_ptr[p] : tables.enter_ptr[p + 1]]
        if semantics == ANY or (semantics == NEXT and not repeats):
            held[p] = p
    return TypeTables(
        *_terminated(tables.binding_ptr, tables.binding),
        sole,
        *_terminated(*_evened(tables.enter_ptr, tables.source, empty)),
        held,
        tables.start,
        tables.end,
        tables.local,
        tables.ring,
        tables.real,
        tables.least,
    )


def _evened(ptr: Ints, items: Ints, empty: int) -> tuple[Ints, Index]:
    """A CSR with `empty` behind short lists, which are as long as the longest of them then."""
    lengths = np.diff(ptr)
    short = lengths <= EVEN
    more = np.where(short, lengths.max(where=short, initial=PAIR) - lengths, 0)
    evened = np.insert(items.astype(np.uint64), ptr[1:].repeat(more), np.uint64(empty))
    return np.concatenate(([0], np.cumsum(lengths + more))), evened


def _terminated(ptr: Ints, items: Ints | Index) -> tuple[Index, Index]:
    """Where each list of a CSR begins, and all lists, with END behind each."""
    begins = ptr[:-1] + np.arange(len(ptr) - 1)
    return begins.astype(np.uint64), np.insert(items.astype(np.uint64), ptr[1:], END)


def shape_of(semantics: int, layout: Layout, tables: Tables, arithmetic: str) -> Shape:
    """The shape of a query; its kernel is compiled for it alone if such queries come OFTEN, in modular arithmetic."""
    sizes = (semantics, len(layout.ring), len(layout.real), len(layout.least))
    known = arithmetic == "modular" and sizes in OFTEN and has_pairs(tables)
    matching, ring, real, least = ((False,) * size if known else np.zeros(size, np.bool_) for size in sizes)
    return Shape(matching, ring, real, least, (False,) * PAIR if known else ())


def has_pairs(tables: Tables) -> bool:
    """Whether no position has more predecessors than the kernels for what comes OFTEN know of."""
    return bool(np.diff(tables.enter_ptr).max(initial=0) <= PAIR)
