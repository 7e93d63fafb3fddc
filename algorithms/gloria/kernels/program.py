"""What the kernels of Gloria read of a sharable set: its template and its sharing plan as arrays of records.

States are the event types of the template. A *place* is a member at a state. A *group* is a Q-set with its snapshots,
wherever it shares transitions. At a state, its *inlet* are the transitions into the state that it shares, and its
*outlet* those out of it. An *ending* are members of a group whose trends end at a state, all of them shared.

What a record calls `x` to `x_end` is a run of the table that is named so, or of `GloriaTables.lists`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.snapshots.kernels.cells import Weighing
from cepbench.algorithms.snapshots.kernels.records import MemberRecord, PositionRecord, SlotRecord
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

NONE = -1
EXPRESSION = 0
"""The row of a group in which the expression of an event is put together."""


class KindRecord:
    """An event type: its states `state` to `state_end`; `single` if it has but one.

    `relevant` if it has any, or negations name it: its events end the time stamp before, even if they match nothing.
    """

    state: int
    state_end: int
    single: np.bool_
    relevant: np.bool_


class StateRecord:
    """A state.

    - `test` to `test_end`: classes of its members by local predicates. `place`, `inlet`, `outlet`, `ending`: likewise.
    - `after` to `after_end` in `lists`: states that transitions lead to from here.
    - `plain`: some place needs aggregates of its own of every event. `kept`, `kept_cells`: vertices of places that one
      event may become, and their cells.
    """

    test: int
    test_end: int
    place: int
    place_end: int
    inlet: int
    inlet_end: int
    outlet: int
    outlet_end: int
    ending: int
    ending_end: int
    after: int
    after_end: int
    kept: int
    kept_cells: int
    plain: np.bool_


class TestRecord:
    """Local predicates, a list of `GloriaProgram.predicates`; `selective` unless there are none."""

    predicates: int
    selective: np.bool_


class PlaceRecord(PositionRecord):
    """A place, numbered as a position; its local predicates are those of `test`. `enter`: transitions that the member
    has alone.

    - `value`: its first cell to work with, one per window. `source`: the groups by which trends reach it; `read`: the
      transitions that they share.
    - `plain`: it is `direct`, `kept`, or its events add to slots.
    """

    test: int
    value: int
    source: int
    source_end: int
    read: int
    read_end: int
    plain: np.bool_


class SourceRecord:
    """An `inlet` that trends of a place come from; row `value + k % span` of the group has its snapshots' values."""

    inlet: int
    value: int


class ReadRecord:
    """A transition that the member of a place shares, from `outlet` to `inlet`; `value` as in `SourceRecord`.

    `visited`: the events of the outlet are visited, as its `predicates` on adjacent events select some, or those of
    another member do.
    """

    inlet: int
    outlet: int
    value: int
    predicates: int
    visited: np.bool_


class InletRecord:
    """The transitions of a `group` into a state.

    `read` to `read_end` in `lists` are outlets whose sums reach it, `link` to `link_end` those that are visited. Their
    expressions are added up in row `row`; or `only` is the one outlet that there is.
    """

    group: int
    row: int
    read: int
    read_end: int
    link: int
    link_end: int
    only: int


class VisitingLinkRecord:
    """A shared transition with predicates on adjacent events, from `outlet`; `match` in `lists`: the different ones."""

    outlet: int
    match: int
    match_end: int


class OutletRecord:
    """The transitions of a `group` out of `state`.

    - Rows of the group: `sums`, the running sum of the expressions of events before the current time, followed
      by that of the events at it. `test` to `test_end` in `lists`: the classes of its members; `share`: their places.
    - `local`: its events have snapshots of their own. Otherwise they continue with those of `inlet`, and `start` with
      one that is 1 for all. `mask`: where in `GloriaState.masks` the classes are that the last snapshot was for.
    - `own`: members start in different windows. `steady`: events in a row have the same snapshot, as neither
      predicates on adjacent events nor negations distinguish them. `kept`: its events are visited later.
    """

    group: int
    state: int
    inlet: int
    sums: int
    test: int
    test_end: int
    share: int
    share_end: int
    mask: int
    local: np.bool_
    start: np.bool_
    own: np.bool_
    steady: np.bool_
    kept: np.bool_


class ShareRecord:
    """A `place` of a group's member, where its snapshots' values are: row `value + k % span` for window k."""

    place: int
    value: int


class EndingRecord:
    """Members of the group of `inlet` whose trends end: row `row` has the sum of the expressions of their last events.

    `test` to `test_end` in `lists`: the classes of its members; `place` to `place_end` in `lists`: their places.
    """

    inlet: int
    row: int
    test: int
    test_end: int
    place: int
    place_end: int
    start: np.bool_


class QSetRecord:
    """A Q-set with its snapshots: it has `rows` rows of cells, one cell per snapshot.

    `fresh` to `fresh_end` in `lists` are rows that have no part of a new snapshot yet; `context`: its members;
    `window` to `window_end` in `lists`: kinds of their windows.
    """

    rows: int
    fresh: int
    fresh_end: int
    context: int
    context_end: int
    window: int
    window_end: int


class ContextRecord:
    """A member of a group: kind of its windows, and where its values are, as in `ShareRecord`."""

    window: int
    value: int


class FinishingMemberRecord(MemberRecord):
    """A member; `finish` to `finish_end` are endings that it has a part in."""

    finish: int
    finish_end: int


class FinishRecord:
    """An `ending` that a member has a part in, with the values of its group's snapshots as in `ShareRecord`."""

    ending: int
    value: int


class StateSlotRecord(SlotRecord):
    """A slot of events of `state`."""

    state: int


class TemplateRecord:
    """The set as a whole: windows that may be open, over all members; cells of `SetTotals`; `negated` or not.

    Bytes of a vertex without cells, and of a cell. `bound`: the number under which each channel counts.
    """

    open: int
    cells: int
    bound: int
    vertex_bytes: int
    cell_bytes: int
    negated: np.bool_


class GloriaTables(NamedTuple):
    """Template and sharing plan: a table per kind of record, and lists of their numbers. `whole[1]`."""

    kind: Records
    state: Records
    test: Records
    position: Records
    transition: Records
    source: Records
    read: Records
    inlet: Records
    link: Records
    outlet: Records
    share: Records
    ending: Records
    group: Records
    context: Records
    member: Records
    finish: Records
    window: Records
    slot: Records
    negation: Records
    lists: Ints
    whole: Records


class GloriaProgram(NamedTuple):
    """A sharable set; `weights`: by state which events count for which channel; behind the states, all do."""

    tables: GloriaTables
    predicates: Predicates
    weights: Weighing
