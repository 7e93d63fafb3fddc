"""What the loop over panes reads of a query, and the state that it keeps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Index, Ints
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.events import Sliding
from cepbench.algorithms.online.kernels.lifecycle import ANY, make_slots
from cepbench.algorithms.online.kernels.type_tables import END, PAIR, Size, has_pairs, template_of
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Predicates, Tables, Weights, csr

OFTEN = ((1, 0, 0), (2, 1, 0))
"""Numbers of ring, real and least channels that have compiled kernels of their own."""

FIRST, BACK, FRONT = 0, 1, 2

EMPTY = 5
"""The map in `PaneCells.cells` that stays empty."""


class PaneTables(NamedTuple):
    """The automaton as linear maps read it; lists as in `TypeTables`, they end with END.

    What can follow a trend depends on its last position alone. Positions with the same followers are one *entry*:
    `after[P]` is that of a position, END if nothing follows it. Entry 0 is the trend without an event, which START
    positions follow. `enters[C, P]`: which positions follow an entry. From `first_row` of a position on,
    `row` lists the first cells of the entries from which a path leads to it, and `begun` is 1 where it follows them.

    Maps that negations empty (see `Voids`) are `whole`: they have a column for each slot, row 0, and a row for each
    slot. They begin as `enters`.
    """

    first_binding: Index
    binding: Index
    first_source: Index
    source: Index
    first_row: Index
    row: Index
    begun: Index
    enters: Flags
    after: Index
    end: Flags
    local: Predicates
    ring: Weights
    real: Weights
    least: Weights
    whole: bool


class Voids(NamedTuple):
    """What negations empty, of maps on slots (`algorithms.online.kernels.lifecycle`); nothing without negation.

    A map has a column for each slot that is read, or final, and one for the trend of no event that START positions
    follow after the same leading negations. Row 0 is that of a window that begins, row c + 1 that of column c.

    - `feed`: the columns that trends at a position are added to, from `feed_ptr[p]` up to `feed_ptr[p + 1]`.
    - `void`: the columns that a match of negation j empties, from `void_ptr[j]` up to `void_ptr[j + 1]`.
    """

    feed_ptr: Ints
    feed: Ints
    void_ptr: Ints
    void: Ints


NO_VOIDS = Voids(*(np.zeros(size, np.int64) for size in (1, 0, 1, 0)))


class PaneShape(NamedTuple):
    """Numbers of channels, and of predecessors if they are known, each as a length; that of a tuple is known when a
    kernel is compiled (`type_tables`). `negated` has an entry if there are `Voids`.
    """

    ring: Size
    real: Size
    least: Size
    sources: tuple[bool, ...]
    negated: tuple[bool, ...]


class Panes(NamedTuple):
    """What does not change (`kernels.lanes`); `span` is the most windows that hold one event."""

    tables: PaneTables
    voids: Voids
    shape: PaneShape
    span: int
    window: Sliding


class PaneCells(NamedTuple):
    """Maps of the panes of a key: for C entries and P positions, cell `c * P + p` of a map has the trends of events in
    the pane that begin after entry c and end at position p.

    - `cells`: six maps behind one another: that of the current pane, as events before the current time stamp made it;
      what those of the current time stamp add, and waits; the product of the panes at the back; two for products that
      are being computed; one that stays empty, which short lists of predecessors refer to. Then S times a map of the
      back and a row of the front: one array, since each more among the arguments of a small kernel takes as long as a
      few products.
    - The back: panes since the last turn, in order of time, `counters[BACK]` of them; `back_first[S]` is the time of
      the first event of each.
    - The front, rows of P cells: trends of no event before, over a pane and all later ones up to the last turn; the
      oldest on top, at `counters[FRONT] - 1`; `front_first[S]` as before.
    - `waiting[P]`: positions with trends that wait, `clock[TOUCHED]` of them. `counters[FIRST]`: the time of the first
      event of the current pane, -1 if it has none. `seen[J]`: the latest match known of each negation.
    """

    cells: Cells
    back_first: Ints
    front_first: Ints
    waiting: Ints
    counters: Ints
    clock: Ints
    seen: Ints


def pane_tables_of(tables: Tables) -> PaneTables:
    """The tables of an automaton without negation and predicates on adjacent events."""
    positions = len(tables.start)
    followers = np.zeros((positions, positions), np.bool_)
    for p in range(positions):
        followers[tables.source[tables.enter_ptr[p] : tables.enter_ptr[p + 1]], p] = True
    entries: dict[tuple[bool, ...], int] = {tuple(tables.start.tolist()): 0}
    feeds = [[entries.setdefault(tuple(row.tolist()), len(entries))] if row.any() else [] for row in followers]
    after = np.array([fed[0] if fed else END for fed in feeds], np.uint64)
    enters = np.array(list(entries), np.bool_)
    leads = _leads([np.flatnonzero(column).tolist() for column in enters.T], feeds, len(enters))
    return _pane_tables(tables, leads, enters, enters, after, tables.end, whole=False)


def voidable_tables_of(tables: Tables, negations: int) -> tuple[PaneTables, Voids]:
    """The tables of an automaton with `negations` negations of single events, without predicates on adjacent events."""
    positions = range(len(tables.start))
    every = np.ones(len(positions), np.bool_)
    slots = make_slots(tables, negations, every, every, contiguous=False)
    read = [slots.read[tables.enter_ptr[p] : tables.enter_ptr[p + 1]].tolist() for p in positions]
    final = {*np.flatnonzero(slots.direct).tolist(), *slots.late.tolist()}
    number = {slot: column for column, slot in enumerate(sorted(final.union(*read)))}  # of slots that are of use
    begins: dict[tuple[int, ...], int] = {}
    sources = [[number[slot] for slot in read[p]] for p in positions]
    for p in np.flatnonzero(tables.start):
        leading = tuple(tables.leading[tables.leading_ptr[p] : tables.leading_ptr[p + 1]].tolist())
        sources[p].append(begins.setdefault(leading, len(number) + len(begins)))
    columns = len(number) + len(begins)
    feeds = [[number[slot] for slot in _list(slots.feed_ptr, slots.feed, p) if slot in number] for p in positions]
    voids = [
        [
            *(number[slot] for slot in _list(slots.void_ptr, slots.void, j)),
            *(column for leading, column in begins.items() if j in leading),
        ]
        for j in range(negations)
    ]
    enters = np.eye(columns + 1, columns, -1, np.bool_)
    enters[0, list(begins.values())] = True
    end = np.zeros(columns, np.bool_)
    end[[number[slot] for slot in final]] = True
    enter_ptr, source = csr(sources)
    tables = tables._replace(enter_ptr=enter_ptr, source=source)
    leads = np.insert(_leads(sources, feeds, columns), 0, True, axis=0)
    after = np.arange(1, columns + 1, dtype=np.uint64)
    panes = _pane_tables(tables, leads, np.zeros_like(leads), enters, after, end, whole=True)
    return panes, Voids(*csr(feeds), *csr(voids))


def _pane_tables(
    tables: Tables, leads: Flags, begun: Flags, enters: Flags, after: Index, end: Flags, whole: bool
) -> PaneTables:
    """The tables of maps with a row for each entry; `leads[C, P]`: whether a path leads from it to a position."""
    template = template_of(tables, ANY, EMPTY * enters.size)
    rows = [np.flatnonzero(column) for column in leads.T]
    return PaneTables(
        template.first_binding,
        template.binding,
        template.first_source,
        template.source,
        np.cumsum([0, *(len(some) + 1 for some in rows)])[:-1].astype(np.uint64),
        np.array([cell for some in rows for cell in (*(some * enters.shape[1]).tolist(), END)], np.uint64),
        np.array([one for p, some in enumerate(rows) for one in (*begun[some, p], False)], np.uint64),
        enters,
        after,
        end,
        tables.local,
        tables.ring,
        tables.real,
        tables.least,
        whole,
    )


def _list(ptr: Ints, items: Ints, i: int) -> list[int]:
    """List i of a CSR."""
    found: list[int] = items[ptr[i] : ptr[i + 1]].tolist()
    return found


def _leads(sources: list[list[int]], feeds: list[list[int]], entries: int) -> Flags:
    """bool[entries, P]: from which entries a path leads to a position; `sources` has those that lead there at once, and
    `feeds` those that an event at the position adds to.
    """
    found = np.zeros((entries, len(sources)), np.bool_)
    for p, read in enumerate(sources):
        found[read, p] = True
    for _ in range(entries):
        for p, fed in enumerate(feeds):
            found |= found[:, [p]] & found[fed].any(axis=0)
    return found


def pane_shape_of(layout: Layout, tables: Tables, arithmetic: str, negated: bool) -> PaneShape:
    """The shape of a query; its kernel is compiled for it alone if such queries come OFTEN, in modular arithmetic."""
    sizes = (len(layout.ring), len(layout.real), len(layout.least))
    known = arithmetic == "modular" and sizes in OFTEN and has_pairs(tables) and not negated
    ring, real, least = ((False,) * size if known else np.zeros(size, np.bool_) for size in sizes)
    return PaneShape(ring, real, least, (False,) * PAIR if known else (), (True,) * negated)


def new_pane_cells(
    tables: PaneTables, panes: int, layout: Layout, arithmetic: str, clock: Ints, negations: int
) -> PaneCells:
    """The state before the first event, with room for so many panes."""
    entries, positions = tables.enters.shape
    size = entries * positions
    cells = empty_cells((EMPTY + 1) * size + panes * (size + positions), layout, arithmetic)
    if tables.whole:
        cells.ring[:size, 0] = tables.enters.ravel()
    return PaneCells(
        cells,
        np.zeros(panes, np.int64),
        np.zeros(panes, np.int64),
        np.zeros(positions, np.int64),
        np.array([-1, 0, 0], np.int64),
        clock,
        np.full(negations, -1, np.int64),
    )
