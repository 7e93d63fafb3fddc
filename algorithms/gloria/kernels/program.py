"""What the kernels of Gloria read of a sharable set: its template and its sharing plan as arrays of records.

States are the event types of the template. A *place* is a member at a state. A *group* is a Q-set with its snapshots,
wherever it shares transitions; what it has at a state is an *inlet*, the transitions into the state that it shares, and
an *outlet*, those out of it. An *ending* are members of a group whose trends end at a state, all of them shared.

What a record calls `x` to `x_end` is a run of the table that is named so, or of `GloriaTables.lists`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.snapshots.kernels.cells import Weighing
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

NONE = -1
EXPRESSION = 0
"""The row of a group in which the expression of an event is put together."""


class KindRecord:
    """An event type: its states `state` to `state_end`; `single` if it has but one.

    `relevant` if it has any, or negations name it: the time stamps before its events end, whatever they match.
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


class TemplatePlaceRecord:
    """A `member` at a state; its windows are of kind `window`, its local predicates those of `test`.

    - `value`: its first cell to work with, one per window. `source`: the groups by which trends reach it; `read`: the
      transitions that they share. `enter`: transitions that the member has alone.
    - `feed` to `feed_end` in `lists`: slots that its events add to. `leading`, `trailing` in `lists`: negations before
      its events if it `start`s, and after its events if they end trends.
    - `direct`: its events end trends, which are final at once. `kept`: its events are visited later by the member alone
      or, for `late_kept`, when the window closes. `plain`: any of these holds.
    """

    member: int
    window: int
    test: int
    value: int
    source: int
    source_end: int
    read: int
    read_end: int
    enter: int
    enter_end: int
    feed: int
    feed_end: int
    leading: int
    leading_end: int
    trailing: int
    trailing_end: int
    start: np.bool_
    direct: np.bool_
    kept: np.bool_
    late_kept: np.bool_
    plain: np.bool_


class LoneTransitionRecord:
    """A transition that a member has alone, from the place `source`.

    - `visited`: the events before are visited one by one, as predicates, or a negated sequence, select some of them;
      else `slot` has their sum.
    - `predicates`: its list of predicates on adjacent events; `between` to `between_end` in `lists`: its negations.
    """

    source: int
    slot: int
    predicates: int
    between: int
    between_end: int
    visited: np.bool_


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

    - Rows of the group: `sums`, the running sum of the expressions of events before the current time, and behind it
      that of the events at it. `test` to `test_end` in `lists`: the classes of its members; `share`: their places.
    - `local`: its events have snapshots of their own. Else they go on with those of `inlet`, and `start` with one that
      is 1 for all. `mask`: where in `GloriaState.masks` the classes are that the last snapshot was for.
    - `own`: members start in different windows. `steady`: events in a row have the same snapshot, as no predicates on
      adjacent events and no negations tell them apart. `kept`: its events are visited later.
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


class TemplateMemberRecord:
    """A member with windows of kind `window`: its slots are `slot` to `slot_end`.

    Row `final + k % span` of its cells has what is final in window k; `late` to `late_end` in `lists` are slots that
    are final when a window closes, and `finish` to `finish_end` are endings; `place` in `lists` are those `late_kept`.
    """

    window: int
    slot: int
    slot_end: int
    final: int
    late: int
    late_end: int
    finish: int
    finish_end: int
    place: int
    place_end: int


class FinishRecord:
    """An `ending` that a member has a part in, with the values of its group's snapshots as in `ShareRecord`."""

    ending: int
    value: int


class TemplateWindowRecord:
    """Windows of one kind: their length, slide, and the most that hold one event; members in `lists`.

    `bytes` is what one takes with the cells of all members.
    """

    within: int
    slide: int
    span: int
    member: int
    member_end: int
    bytes: int


class StateSlotRecord:
    """A slot of events of `state` for windows of kind `window`: in window k, cell `cell + k % span` has the trends
    before the current time, and cell `pending + k % span` those at it.
    """

    state: int
    window: int
    cell: int
    pending: int


class TemplateRecord:
    """The set as a whole: windows that may be open, over all members; cells of `TemplateCells`; `negated` or not.

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
    place: Records
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
    """A sharable set; `weights` tell by state which events count for which channel, and then that each may."""

    tables: GloriaTables
    predicates: Predicates
    weights: Weighing
