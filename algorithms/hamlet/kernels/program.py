"""What the kernels of Hamlet read of a sharable set of queries: its merged template as arrays.

A *member* is a query, or a side of a conjunction. Positions, transitions, slots and negations of all members are
numbered through; behind the P positions of the members stands one for each group, to which the channels are bound that
shared expressions need.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.compilation import inner
from cepbench.queries.tables import Predicates, Weights

NONE = -1


class Members(NamedTuple):
    """Queries and their windows; windows that are alike are of one kind.

    - `of[P]`: the member of a position. `windows[M]`: the kind of a member's windows; `within`, `slide`, `span` [W]:
      their length, slide, and the most that hold one event. `kind_ptr[W + 1]`, `kind`: members of each kind;
      `longest[0]`: the kind of the longest windows.
    - Cells of window k are `base + k % span` on: `slot_ptr[M + 1]`: the slots of each member; `slot_base[S]`,
      `slot_member[S]`; `final_base[M]`.
    """

    of: Ints
    windows: Ints
    within: Ints
    slide: Ints
    span: Ints
    kind_ptr: Ints
    kind: Ints
    longest: Ints
    slot_ptr: Ints
    slot_base: Ints
    slot_member: Ints
    final_base: Ints


class Places(NamedTuple):
    """What the aggregates of positions feed and read, as in `algorithms.kernels.windows`.

    - `feed_ptr[P + 1]`, `feed`: slots that an event at a position adds to; `read[E]`: the slot that a transition reads.
    - `direct[P]`: END positions whose trends are final at once. `late_ptr[M + 1]`, `late`: slots of a member that are
      final when its window closes. `void_ptr[J + 1]`, `void`: slots that a match of a negation empties.
    - `visited[E]`: transitions over which the events before are visited one by one, as predicates, or a negated
      sequence, select some of them. `kept[P]`: positions whose events are visited, by such a transition or, for
      `late_kept[P]`, when the window closes.
    """

    feed_ptr: Ints
    feed: Ints
    read: Ints
    direct: Flags
    late_ptr: Ints
    late: Ints
    void_ptr: Ints
    void: Ints
    visited: Flags
    kept: Flags
    late_kept: Flags


class Groups(NamedTuple):
    """Kleene sub-patterns E+ that several queries share: a group per event type, a unit per position in it.

    - `relevant[T]`: types that end bursts of others; `of[T]`: the group of a type, or NONE; `of_unit[U]`.
    - `unit_ptr[G + 1]`: units of each group; `position[U]`, `unit_of[P]` (or NONE); `context[U]`: the first context of
      a unit, of which it has one per window that holds an event; `contexts`: the most of a group.
    - Units whose local and loop predicates are alike are of one class: `class_ptr[G + 1]`, `class_of[U]`; of each class
      `sample[K]` a position, `loop[K]` a transition with its predicates on adjacent events, or NONE,
      `same_loop[K]` whether these are those of the group's `reference[G]`, the class of most units.
    - `stores[G]`: whether events of the group's graphlets are visited later. `kept_of[T]`: vertices that an event of a
      type may become.
    """

    relevant: Flags
    of: Ints
    of_unit: Ints
    unit_ptr: Ints
    position: Ints
    unit_of: Ints
    context: Ints
    contexts: Ints
    class_ptr: Ints
    class_of: Ints
    sample: Ints
    loop: Ints
    same_loop: Flags
    reference: Ints
    stores: Flags
    kept_of: Ints


class MergedTables(NamedTuple):
    """Positions and transitions, as in `queries.tables.Tables`."""

    binding_ptr: Ints
    binding: Ints
    enter_ptr: Ints
    source: Ints
    between_ptr: Ints
    between: Ints
    start: Flags
    leading_ptr: Ints
    leading: Ints
    trailing_ptr: Ints
    trailing: Ints


class Weighing(NamedTuple):
    """Which positions count for which channels, as in `queries.tables.Tables`."""

    ring: Weights
    real: Weights
    least: Weights


class HamletProgram(NamedTuple):
    """A sharable set of queries; `local` per position, `adjacent` per transition.

    `self_loop[U]`: the transition of each unit to itself.
    """

    template: MergedTables
    local: Predicates
    adjacent: Predicates
    weights: Weighing
    members: Members
    places: Places
    groups: Groups
    self_loop: Ints


@inner
def next_edge(time: int, members: Members) -> int:
    """The first time after `time` at which some window begins or ends: the next edge of a pane that matters."""
    edge = 2**63 - 1
    for w in range(len(members.within)):
        within, slide = members.within[w], members.slide[w]
        edge = min(edge, (time // slide + 1) * slide)
        last = (time - within) // slide + 1
        edge = min(edge, max(last, 0) * slide + within)
    return edge
