"""The template of a sharable set with its sharing plan as arrays of records, which Gloria's kernels read (Section 3.2).

A *state* is an event type of the template, a *position* a query (member) at a state. A *Q-set* shares transitions by
one kind of snapshots. Of a Q-set at a state there are

- its *incoming* transitions: they bring one snapshot expression to an event, the sum of the expressions of its
  predecessors; queries with different predicates on adjacent events have different incoming transitions;
- its *outgoing* transitions: they propagate the expression of an event at the state. *Final* ones lead to the end of
  queries: for queries whose trends end at the state, and come there by the same incoming transitions only, with the
  same local predicates, the expressions are summed, and evaluated when a window closes.

For (1, 2)^C on tran(C, A), tran(A, B), tran(B, A) of Example 3.2, with q1 = SEQ(C, (SEQ(A, B))+, D):

    state      C           A                  B                             D
    incoming   -           from C and B       from A                        - (q1 shares with no query there)
    outgoing   to A (s)    to B               to A; final, of q2            -

`x` to `x_end` in a record are a run of the table with that name, or of `GloriaTables.lists`.
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

EXPRESSION = 0
"""The row of a Q-set in which the expression of an event is computed."""


class KindRecord:
    """An event type of the stream: its states `state` to `state_end`.

    `relevant` if it has any, or negations name it: its events end the time stamp before, even if they match nothing.
    """

    state: int
    state_end: int
    relevant: np.bool_


class StateRecord:
    """A state.

    - `test` to `test_end` in `lists`: the different local predicates of its positions, `NONE` for no predicate.
      `position`, `incoming`, `outgoing`: its records, final outgoing transitions first. `before` in `lists`: the
      predecessor states.
    - `unshared`: some position needs aggregates of its own for every event. `kept`: the most vertices that one event
      may become at its positions.
    """

    test: int
    test_end: int
    position: int
    position_end: int
    incoming: int
    incoming_end: int
    outgoing: int
    outgoing_end: int
    before: int
    before_end: int
    kept: int
    unshared: np.bool_


class QueryPositionRecord(PositionRecord):
    """A query at a state. `enter`: the transitions that it does not share.

    - `test`: the place in `lists` of its local predicates. `value`: its first cell to work with, one per window.
    - `evaluation`: the incoming expressions that are evaluated for it. `unshared`: it is `direct` or `kept`, or its
      events add to slots.
    """

    test: int
    value: int
    evaluation: int
    evaluation_end: int
    unshared: np.bool_


class EvaluationRecord:
    """The evaluation of the expression of `incoming` transitions for a query: row `value + k % span` of the Q-set has
    the values of its snapshots in window k.
    """

    incoming: int
    value: int


class IncomingRecord:
    """The incoming transitions of a `q_set` at a state: the expressions of its shared transitions are summed in `row`.

    Without shared transitions of its own, that row is the sum of the only outgoing transitions that lead there.
    """

    q_set: int
    row: int
    shared_transition: int
    shared_transition_end: int


class SharedTransitionRecord:
    """A shared transition: the sum of the expressions of its predecessor events is in `row`; or the events are visited,
    which are in list `vertices`, since `predicates` on adjacent events select some. `NONE`: they are not visited.
    """

    row: int
    vertices: int
    predicates: int


class OutgoingRecord:
    """The outgoing transitions of a `q_set` at a state, or the end of the trends of some of its queries (`final`).

    - Rows of the Q-set: `sums`, the running sum of the expressions of events before the current time; the next row has
      that of the events at it, unless this is `final`. `vertices`: the list of its events, if they are `kept`.
    - `test` to `test_end` in `lists`: the local predicates of its queries; `sharing_query`: the queries.
    - `local`: its events create local snapshots. Otherwise they continue with the expression of the `incoming`
      transitions, plus, if they `start` trends, the snapshot that is 1 for all queries.
    - `leading`: some START position has a leading negation, so that queries start trends in different windows.
      `steady`: consecutive events have the same snapshot, as neither predicates on adjacent events nor negations
      distinguish them.
    """

    q_set: int
    incoming: int
    incoming_end: int
    sums: int
    vertices: int
    test: int
    test_end: int
    sharing_query: int
    sharing_query_end: int
    local: np.bool_
    start: np.bool_
    leading: np.bool_
    steady: np.bool_
    kept: np.bool_
    final: np.bool_


class SharingQueryRecord:
    """A query of a Q-set: its `position`; row `value + k % span` has the values of snapshots for it in window k."""

    position: int
    value: int


class QSetRecord:
    """A Q-set with its snapshots: it has `rows` rows of cells, one cell per snapshot.

    Rows from `fresh` on have no coefficient of a new snapshot yet. `sharing_query`: its queries, at one of its states.
    """

    rows: int
    fresh: int
    sharing_query: int
    sharing_query_end: int


class GloriaTables(NamedTuple):
    """Template and sharing plan: a table per kind of record, and lists of their numbers. `whole[1]`."""

    kind: Annotated[Records, KindRecord]
    state: Annotated[Records, StateRecord]
    position: Annotated[Records, QueryPositionRecord]
    transition: Annotated[Records, TransitionRecord]
    evaluation: Annotated[Records, EvaluationRecord]
    incoming: Annotated[Records, IncomingRecord]
    shared_transition: Annotated[Records, SharedTransitionRecord]
    outgoing: Annotated[Records, OutgoingRecord]
    sharing_query: Annotated[Records, SharingQueryRecord]
    q_set: Annotated[Records, QSetRecord]
    member: Annotated[Records, MemberRecord]
    window: Annotated[Records, WindowRecord]
    slot: Annotated[Records, SlotRecord]
    negation: Annotated[Records, NegationRecord]
    whole: Annotated[Records, WholeRecord]
    lists: Ints


class GloriaProgram(NamedTuple):
    """A sharable set. `weights`: by state, the channels for which its events count; one extra state, last, counts for
    all channels.
    """

    template: GloriaTables
    predicates: Predicates
    weights: Weighing
