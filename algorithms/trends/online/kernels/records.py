"""Records of the template of a set of queries, and of the state that its kernels write.

A *member* is a query, or a side of a conjunction. Positions, transitions, slots and negations of all members are
numbered through. `x` to `x_end` in a record are a run of another table, or of the template's `lists`.
"""

from __future__ import annotations

import numpy as np


class TypeRecord:
    """An event type: `binding` to `binding_end` in `lists` are the positions that its events may match; an event may
    become `kept` vertices.
    """

    binding: int
    binding_end: int
    kept: int


class PositionRecord:
    """A position of a `member`, whose windows are of kind `window`.

    - `enter` to `enter_end`: the transitions into it.
    - `feed` to `feed_end` in `lists`: slots that its events add to. `leading`, `trailing`: negations before its events
      if it `start`s trends, and after its events if they end trends.
    - `direct`: its events end trends that are final at once. `kept`: its events become vertices, which a
      transition visits, or the end of a window. `condition`: the row of `flags` that
      says which events match it, or -1 if all do.
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
    condition: int
    start: np.bool_
    direct: np.bool_
    kept: np.bool_


class TransitionRecord:
    """A transition from the position `source`.

    - `visited`: the events before are visited one by one, since predicates or a negated sequence select some of them;
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

    Cell `final + k % span` has its finished trends in window k; `late` to `late_end` in `lists` are slots whose trends
    are finished when a window closes, and `late_position` its positions whose events are visited then.
    """

    window: int
    slot: int
    slot_end: int
    final: int
    late: int
    late_end: int
    late_position: int
    late_position_end: int


class WindowRecord:
    """Windows of one kind: their length, slide, and `span`, the most that hold one event; members in `lists`.

    `bytes`: of one window, with the cells of all members.
    """

    within: int
    slide: int
    span: int
    member: int
    member_end: int
    bytes: int


class SlotRecord:
    """A slot for windows of kind `window`: in window k, cell `cell + k % span` has the trends before the current time,
    and cell `pending + k % span` those at it. `late`: its trends are finished when a window closes.
    """

    window: int
    cell: int
    pending: int
    late: np.bool_


class WholeRecord:
    """Numbers on the whole set of members.

    - `semantics`; `span`: the most windows of a member that hold an event; `open`: windows that may be open, over all
      members; `cells`: the number of cells of `Totals`.
    - Bytes of a cell, and of a kept event without cells.
    """

    semantics: int
    span: int
    open: int
    cells: int
    cell_bytes: int
    event_bytes: int


class ProgressRecord:
    """Progress of a set, and its largest state.

    - `now`: current time; `edge`: the next time at which a window begins or ends; `touched`: number of slots with
      pending cells; `occupied`: whether an event has come at the current time (contiguous semantics).
    - `peak`: the most bytes since the last report, with the events, aggregates and snapshots of that time.
    - `edges`: number of visits of earlier events.
    """

    now: int
    edge: int
    touched: int
    peak: int
    peak_events: int
    peak_aggregates: int
    peak_snapshots: int
    edges: int
    occupied: np.bool_


class OpenRecord:
    """Windows of a kind: the first and the last that are open; `oldest` is the row of the first, `low % span`, because
    a division per step is measurable.
    """

    low: int
    high: int
    oldest: int


class PendingRecord:
    """Entry n has the n-th slot that is `touched`, and whether slot n is `marked` as such; with Gloria, also outgoing
    transitions in place of slots.

    `consumed`: slot n is emptied when the time moves on, since events extended its trends (skip-till-next-match).
    """

    touched: int
    marked: np.bool_
    consumed: np.bool_


class NegationRecord:
    """A match of a negation empties the slots `void` to `void_end` in `lists`."""

    void: int
    void_end: int
