"""What the type-grained loop reads of a query: tables of its automaton as lists, and the shape of its cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.kernels.windows import ANY, CONTIGUOUS, NEXT
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Predicates, Tables, Weights

END = np.uint64(2**64 - 1)
"""Behind the last item of a list. A loop to it is not vectorised, which would cost more than these short lists take."""

OFTEN = ((ANY, 1, 1, 0), (ANY, 2, 1, 0), (NEXT, 1, 0, 0), (CONTIGUOUS, 1, 0, 0))
"""Semantics and numbers of ring, real and least channels that have compiled kernels of their own."""


class TypeTables(NamedTuple):
    """What is read of the `Tables` of an automaton without negation: every array costs time at each call.

    The positions `binding` of a type, and the positions `source` before a position, are lists that end with END; they
    begin where `first_binding` of the type, or `first_source` of the position, says.
    """

    first_binding: Index
    binding: Index
    first_source: Index
    source: Index
    start: Flags
    end: Flags
    local: Predicates
    ring: Weights
    real: Weights
    least: Weights


Size = tuple[bool, ...] | Flags


class Shape(NamedTuple):
    """Semantics (ANY, NEXT or CONTIGUOUS) and numbers of channels, each as a length.

    That of a tuple is known when a kernel is compiled, which makes it up to 1.4 times as fast, but takes seconds for
    each combination. That of an array is known when it runs.
    """

    semantics: Size
    ring: Size
    real: Size
    least: Size


def template_of(tables: Tables) -> TypeTables:
    """The part of the tables that type-grained aggregation reads."""
    return TypeTables(
        *_terminated(tables.binding_ptr, tables.binding),
        *_terminated(tables.enter_ptr, tables.source),
        tables.start,
        tables.end,
        tables.local,
        tables.ring,
        tables.real,
        tables.least,
    )


def _terminated(ptr: Ints, items: Ints) -> tuple[Index, Index]:
    """Where each list of a CSR begins, and all lists, with END behind each."""
    begins = ptr[:-1] + np.arange(len(ptr) - 1)
    return begins.astype(np.uint64), np.insert(items.astype(np.uint64), ptr[1:], END)


def shape_of(semantics: int, layout: Layout) -> Shape:
    """The shape of a query; its kernel is compiled for it alone if such queries come OFTEN."""
    sizes = (semantics, len(layout.ring), len(layout.real), len(layout.least))
    if sizes in OFTEN:
        return Shape(*((False,) * size for size in sizes))
    return Shape(*(np.zeros(size, np.bool_) for size in sizes))
