"""Records of a template that kernels of Hamlet and of Gloria have in common.

A *member* is a query, or a side of a conjunction. Positions, transitions, slots and negations of all members are
numbered through. What a record calls `x` to `x_end` is a run of another table, or of the template's `lists`.
"""

from __future__ import annotations

import numpy as np


class PositionRecord:
    """A position of a `member`, whose windows are of kind `window`.

    - `enter` to `enter_end`: the transitions into it.
    - `feed` to `feed_end` in `lists`: slots that its events add to. `leading`, `trailing`: negations before its events
      if it `start`s trends, and after its events if they end trends.
    - `direct`: its events end trends that are final at once. `kept`: its events are visited later, by a transition or
      when the window closes.
    """

    member: int
    window: int
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


class TransitionRecord:
    """A transition from the position `source`.

    - `visited`: the events before are visited one by one, as predicates, or a negated sequence, select some of them;
      otherwise `read` is the slot that has their sum.
    - `predicates`: the number of its list of predicates on adjacent events; `between` to `between_end` in `lists`: its
      negations.
    """

    source: int
    read: int
    predicates: int
    between: int
    between_end: int
    visited: np.bool_


class MemberRecord:
    """A member with windows of kind `window`: its slots are `slot` to `slot_end`.

    Row `final + k % span` of its cells has what is final in window k; `late` to `late_end` in `lists` are slots that
    are final when a window closes, and `place` to `place_end` its positions whose events are visited then.
    """

    window: int
    slot: int
    slot_end: int
    final: int
    late: int
    late_end: int
    place: int
    place_end: int


class WindowRecord:
    """Windows of one kind: their length, slide, and the most that hold one event; members in `lists`.

    `bytes` is what one takes with the cells of all members.
    """

    within: int
    slide: int
    span: int
    member: int
    member_end: int
    bytes: int


class SlotRecord:
    """A slot for windows of kind `window`: in window k, cell `cell + k % span` has the trends before the current time,
    and cell `pending + k % span` those at it.
    """

    window: int
    cell: int
    pending: int


class VertexRecord:
    """A shared event that later ones visit, and the vertex `before` it in its list (below the oldest: none).

    Cell `cell + s - first` is its coefficient of snapshot s, for `size` snapshots from `first` on. It ends a `run` of
    vertices of its list whose cells lie one behind the other, of the same snapshots.
    """

    time: int
    before: int
    cell: int
    first: int
    size: int
    run: int


class ProgressRecord:
    """Where the state of a set is, and its largest size.

    - `now`: current time; `edge`: the next time at which a window begins or ends; `touched`: slots with pending cells.
    - Ends of the queue of `vertices` and of their cells; the queue leaves at its oldest end. `own_cells`: those of the
      graph. `more_vertices`, `more_vertex_cells`, `more_blocks`: those that the next step may need.
    - `peak`: the most bytes since the last report, with the events, aggregates and snapshots of that time.
    - `visits`: events times what they are put into; `edges`: events before that are visited.
    """

    now: int
    edge: int
    touched: int
    vertices: int
    oldest_vertex: int
    vertex_cells: int
    oldest_cell: int
    own_cells: int
    more_vertices: int
    more_vertex_cells: int
    more_blocks: int
    peak: int
    peak_events: int
    peak_aggregates: int
    peak_snapshots: int
    visits: int
    edges: int


class OpenRecord:
    """Windows of a kind: the first and the last that are open."""

    low: int
    high: int


class PendingRecord:
    """Entry n has the n-th of the slots, or outlets, that are `touched`, and whether number n is `marked` as such."""

    touched: int
    marked: np.bool_


class NegationRecord:
    """A match of a negation empties the slots `void` to `void_end` in `lists`."""

    void: int
    void_end: int
