"""The tables of a query that the loop over panes reads, and its state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Index, Ints, Static
from cepbench.algorithms.engine.kernels.cells import Cells, Words, empty_cells
from cepbench.algorithms.engine.kernels.constants import ANY, END, NEVER
from cepbench.algorithms.engine.kernels.events import Sliding
from cepbench.algorithms.trends.online.kernels.type_tables import (
    TypeTables,
    lists_of,
    tables_of_copies,
    template_of,
    terminated,
)
from cepbench.queries.aggregates import Layout
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import Tables

MOST_NEGATIONS = 62
"""Sets of negations are bits of an int64."""

ALWAYS = 1 << MOST_NEGATIONS
"""A bit that is in every set of negations that have matched."""

EMPTY = 4
"""The map in `PaneCells.cells` that stays empty."""


class PaneMaps(NamedTuple):
    """The meaning of the C rows and P columns of maps. Sets of negations have bit j for negation j.

    A position has a column for each set of negations that may remove its trends before they continue or match: a match
    of one of the negations in `emptied[P]` empties the column. The first `ends` columns hold matches. What can follow a
    trend depends on its column alone. Columns with the same followers and negations are one *entry*, a row: `after[P]`
    is that of a column, END if nothing follows. The first `starts` entries are those of the trend without an event; it
    is one, unless leading negations differ. Nothing follows an entry after a match of a negation in `stopped[C]`.
    """

    after: Index
    emptied: Ints
    stopped: Ints
    starts: int
    ends: int


class PaneTables(NamedTuple):
    """The automaton as linear maps read it; lists as in `TypeTables`, they end with END.

    `template`: as `TypeTables`, with columns in place of positions. From `first_row` of a column on, `row` lists the
    first cells of the entries from which a path leads to it. Its events follow an entry until a negation in `bars`
    matches: from the beginning not (ALWAYS), if the path is longer.
    """

    template: TypeTables
    first_row: Index
    row: Index
    bars: Ints
    maps: PaneMaps


class Panes(NamedTuple):
    """The constants of a lane (`kernels.lanes`): the `words` of its cells; `negates`, whether there are negations;
    `span`, the most windows that hold one event.
    """

    tables: PaneTables
    words: Words
    negates: Static
    span: int
    window: Sliding


class PaneRecord:
    """A pane: the time of the `first` event, NEVER if it has none, and the set of negations that match in it."""

    first: int
    negated: int


class PaneProgressRecord:
    """The current pane as a `PaneRecord`; the numbers of panes at the `back` and at the `front`, and the set of
    negations that match in those at the back (`product_negated`).
    """

    first: int
    negated: int
    back: int
    front: int
    product_negated: int


class PaneCells(NamedTuple):
    """Maps of the panes of a key: cell `c * P + p` of a map has the trends of events in the pane that begin after entry
    c and end in column p.

    - `cells`: five maps behind one another: that of the current pane, as events before the current time stamp made it;
      the trends that those of the current time stamp add, which wait; the product of the panes at the back; one for
      products that are being computed; one that stays empty, which short lists of predecessors refer to. Then S times a
      map of the back and rows of the front: one array, since each more among the arguments of a small kernel takes as
      long as a few products.
    - `back[S]` (`PaneRecord`): panes since the last turn, in order of time.
    - `front[S]` (`PaneRecord`), rows of the first entries: trends of no event before, over a pane and all later ones up
      to the last turn; the oldest on top, the last of them.
    - `waiting[P]`: columns with trends that wait, `touched` of the clock. `progress[1]` (`PaneProgressRecord`),
      `clock[1]` (`ClockRecord`); `seen[J]`: the latest match of each negation so far.
    """

    cells: Cells
    back: Records
    front: Records
    waiting: Ints
    progress: Records
    clock: Records
    seen: Ints


def pane_tables_of(tables: Tables, common: bool = False) -> PaneTables:
    """The tables of an automaton without predicates on adjacent events, with negations of single events.

    `common`: as for `template_of`.
    """
    between = lists_of(tables.between_ptr, tables.between)
    leading = lists_of(tables.leading_ptr, tables.leading)
    trailing = lists_of(tables.trailing_ptr, tables.trailing)
    ends = {(p, trailing[p]) for p in np.flatnonzero(tables.end).tolist()}
    columns = [*sorted(ends), *sorted(set(zip(tables.source.tolist(), between, strict=True)) - ends)]
    number = {column: c for c, column in enumerate(columns)}
    sources = [
        [number[int(tables.source[e]), between[e]] for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1])]
        for p, _ in columns
    ]
    starts: dict[tuple[int, ...], list[int]] = {}
    for c, (p, _) in enumerate(columns):
        if tables.start[p]:
            starts.setdefault(leading[p], []).append(c)
    entries = {(tuple(followers), negations): entry for entry, (negations, followers) in enumerate(starts.items())}
    after: list[int | np.uint64] = []
    for c, (_, negations) in enumerate(columns):
        followers = tuple(q for q, read in enumerate(sources) if c in read)
        after.append(entries.setdefault((followers, negations), len(entries)) if followers else END)
    stopped = np.array([_bits(negations) for _, negations in entries], np.int64)
    follows, leads = np.zeros((2, len(entries), len(columns)), np.bool_)
    for (followers, _), entry in entries.items():
        follows[entry, list(followers)] = True
    leads |= follows
    for _ in columns:
        for p, following in enumerate(after):
            if following != END:
                leads[leads[:, p]] |= leads[int(following)]
    rows = [np.flatnonzero(column) for column in leads.T]
    bars = np.where(follows, stopped[:, np.newaxis], ALWAYS)
    return PaneTables(
        template_of(
            tables_of_copies(tables, [p for p, _ in columns], sources, np.arange(len(columns)) < len(ends)),
            ANY,
            EMPTY * follows.size,
            common,
        ),
        *terminated([tuple(before * len(columns)) for before in rows]),
        np.array([bar for p, before in enumerate(rows) for bar in (*bars[before, p], ALWAYS)], np.int64),
        PaneMaps(
            np.array(after, np.uint64),
            np.array([_bits(negations) for _, negations in columns], np.int64),
            stopped,
            len(starts),
            len(ends),
        ),
    )


def _bits(negations: tuple[int, ...]) -> int:
    """A set of negations."""
    return sum(1 << j for j in negations)


def new_pane_cells(
    maps: PaneMaps, panes: int, layout: Layout, arithmetic: str, clock: Records, negations: int
) -> PaneCells:
    """The state before the first event, with room for so many panes."""
    columns = len(maps.after)
    size = len(maps.stopped) * columns
    progress = np.zeros(1, records_of(PaneProgressRecord))
    progress["first"], progress["negated"] = NEVER, ALWAYS
    return PaneCells(
        empty_cells((EMPTY + 1) * size + panes * (size + maps.starts * columns), layout, arithmetic),
        np.zeros(panes, records_of(PaneRecord)),
        np.zeros(panes, records_of(PaneRecord)),
        np.zeros(columns, np.int64),
        progress,
        clock,
        np.full(negations, NEVER, np.int64),
    )
