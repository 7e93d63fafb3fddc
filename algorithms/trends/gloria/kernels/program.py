"""What the kernels of Gloria read of a sharable set: its template and its sharing plan as arrays of records.

States are the event types of the template. A *place* is a member at a state. A *group* is a Q-set with its snapshots,
wherever it shares transitions. At a state, its *inlet* are the transitions into the state that it shares, and its
*outlet* those out of it; members with different predicates on adjacent events have different inlets. Members whose
trends end at a state, and come there by one inlet only, have a *final* outlet with those of the same local predicates.

What a record calls `x` to `x_end` is a run of the table that is named so, or of `GloriaTables.lists`.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import Weighing
from cepbench.algorithms.trends.online.kernels.records import (
    MemberRecord,
    NegationRecord,
    PositionRecord,
    SlotRecord,
    TransitionRecord,
    WholeRecord,
    WindowRecord,
)
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

NONE = -1
EXPRESSION = 0
"""The row of a group in which the expression of an event is put together."""


class KindRecord:
    """An event type: its states `state` to `state_end`.

    `relevant` if it has any, or negations name it: its events end the time stamp before, even if they match nothing.
    """

    state: int
    state_end: int
    relevant: np.bool_


class StateRecord:
    """A state.

    - `test` to `test_end` in `lists`: the different local predicates of its members, `NONE` if there are none. `place`,
      `inlet`, `outlet`: its records, final outlets first. `before` in `lists`: states that transitions come from.
    - `plain`: some place needs aggregates of its own of every event. `kept`: vertices of places that one event may
      become.
    """

    test: int
    test_end: int
    place: int
    place_end: int
    inlet: int
    inlet_end: int
    outlet: int
    outlet_end: int
    before: int
    before_end: int
    kept: int
    plain: np.bool_


class PlaceRecord(PositionRecord):
    """A place, numbered as a position. `enter`: transitions that the member has alone.

    - `test`: where in `lists` the row of its condition is. `value`: its first cell to work with, one per window.
    - `source`: the expressions that reach it. `plain`: it is `direct`, `kept`, or its events add to slots.
    """

    test: int
    value: int
    source: int
    source_end: int
    plain: np.bool_


class SourceRecord:
    """An `inlet` that trends of a place come from; row `value + k % span` of the group has its snapshots' values."""

    inlet: int
    value: int


class InletRecord:
    """The transitions of a `group` into a state: the expressions of its links are added up in row `row`.

    Without links, the row is the sum of the only outlet that leads there.
    """

    group: int
    row: int
    link: int
    link_end: int


class LinkRecord:
    """A shared transition, from the outlet whose events are in list `vertices`, and their sum in row `row`.

    The events are visited, as `predicates` on adjacent events select some, unless this is `NONE`.
    """

    row: int
    vertices: int
    predicates: int


class OutletRecord:
    """The transitions of a `group` out of a state, or the end of trends of some of its members.

    - Rows of the group: `sums`, the running sum of the expressions of events before the current time, followed
      by that of the events at it, unless it is `final`. `vertices`: the list of its events, if they are `kept`.
    - `test` to `test_end` in `lists`: where the rows of its members' conditions are; `share`: their places.
    - `local`: its events have snapshots of their own. Otherwise they continue with those of its inlets `inlet` to
      `inlet_end`, and `start` with one that is 1 for all.
    - `own`: members start in different windows. `steady`: events in a row have the same snapshot, as neither
      predicates on adjacent events nor negations distinguish them.
    """

    group: int
    inlet: int
    inlet_end: int
    sums: int
    vertices: int
    test: int
    test_end: int
    share: int
    share_end: int
    local: np.bool_
    start: np.bool_
    own: np.bool_
    steady: np.bool_
    kept: np.bool_
    final: np.bool_


class ShareRecord:
    """A `place` of a group's member, where its snapshots' values are: row `value + k % span` for window k."""

    place: int
    value: int


class QSetRecord:
    """A Q-set with its snapshots: it has `rows` rows of cells, one cell per snapshot.

    Rows from `fresh` on have no part of a new snapshot yet. `share`: all its members, at some state.
    """

    rows: int
    fresh: int
    share: int
    share_end: int


class GloriaTables(NamedTuple):
    """Template and sharing plan: a table per kind of record, and lists of their numbers. `whole[1]`."""

    kind: Annotated[Records, KindRecord]
    state: Annotated[Records, StateRecord]
    position: Annotated[Records, PlaceRecord]
    transition: Annotated[Records, TransitionRecord]
    source: Annotated[Records, SourceRecord]
    inlet: Annotated[Records, InletRecord]
    link: Annotated[Records, LinkRecord]
    outlet: Annotated[Records, OutletRecord]
    share: Annotated[Records, ShareRecord]
    group: Annotated[Records, QSetRecord]
    member: Annotated[Records, MemberRecord]
    window: Annotated[Records, WindowRecord]
    slot: Annotated[Records, SlotRecord]
    negation: Annotated[Records, NegationRecord]
    whole: Annotated[Records, WholeRecord]
    lists: Ints


class GloriaProgram(NamedTuple):
    """A sharable set; `weights`: by state which events count for which channel; behind the states, all do."""

    tables: GloriaTables
    predicates: Predicates
    weights: Weighing
