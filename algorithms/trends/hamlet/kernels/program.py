"""The merged template of a sharable set of queries as arrays of records, which Hamlet's kernels read (Section 3.1).

Its members are as in `online.kernels.records`.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Index, Ints
from cepbench.algorithms.engine.kernels.cells import Weighing
from cepbench.algorithms.trends.online.kernels.records import (
    MemberRecord,
    NegationRecord,
    PositionRecord,
    SlotRecord,
    TransitionRecord,
    TypeRecord,
    WholeRecord,
    WindowRecord,
)
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates


class BurstTypeRecord(TypeRecord):
    """An event type, and the `group` of its sub-pattern E+, or NONE.

    `relevant`: whether its events end bursts of other types. `independent`: no position that its events may match
    precedes another one of them. `summed`: and its events extend sums only (`alone.propagate_sums`).
    """

    group: int
    relevant: np.bool_
    independent: np.bool_
    summed: np.bool_


class UnitPositionRecord(PositionRecord):
    """A position, its `unit` in a group, or NONE, and whether later events visit its events one by one (`visited`)."""

    unit: int
    visited: np.bool_


class SetRecord(WholeRecord):
    """Numbers on the whole set.

    - `contexts`: units times windows that hold an event, in the group that has most.
    - `longest`: the kind of the longest windows.
    - `within`: events of a shared graphlet visit those before them in the graphlet, instead of reading their sum.
    """

    contexts: int
    longest: int
    within: np.bool_


class GroupRecord:
    """The sub-patterns E+ of one event type, which several queries share.

    `unit` to `unit_end` are the positions, `predicate_class` to `predicate_class_end` their classes by local predicates
    and predicates of the loop, `reference` the class of most units.
    """

    unit: int
    unit_end: int
    predicate_class: int
    predicate_class_end: int
    reference: int


class UnitRecord:
    """A `position` in a group, and its `predicate_class`; `loop` is its transition to itself.

    It has a context per window that holds an event: row `value + k % span` of `GraphletStore.cells` has the values of
    snapshots in window k.
    """

    group: int
    position: int
    predicate_class: int
    loop: int
    value: int


class PredicateClassRecord:
    """A class of units with the same predicates.

    `condition`: the row of `flags` with the events that match, or -1; `loop`: a transition with the class's predicates
    on adjacent events, or NONE; `same_loop`: whether these are the same as those of the group's reference.
    """

    condition: int
    loop: int
    same_loop: np.bool_


class TemplateTables(NamedTuple):
    """Positions, transitions and windows of all members (Section 3.1), and the sub-patterns that they share.

    `kind[T]`, `position[P]`, `transition[E]`, `member[M]`, `window[W]`, `slot[S]`, `negation[J]`, `lists`; `group[G]`,
    one per event type; `unit[U]` and `predicate_class[K]`, in order of their group; `whole[1]`. The events at position
    p extend the sums in row k % span of the cells in the list `source`, which begins at `first_source[P]`
    (`alone.propagate_sums`).
    """

    kind: Annotated[Records, BurstTypeRecord]
    position: Annotated[Records, UnitPositionRecord]
    transition: Annotated[Records, TransitionRecord]
    member: Annotated[Records, MemberRecord]
    window: Annotated[Records, WindowRecord]
    slot: Annotated[Records, SlotRecord]
    negation: Annotated[Records, NegationRecord]
    group: Annotated[Records, GroupRecord]
    unit: Annotated[Records, UnitRecord]
    predicate_class: Annotated[Records, PredicateClassRecord]
    whole: Annotated[Records, SetRecord]
    lists: Ints
    first_source: Index
    source: Index


class HamletProgram(NamedTuple):
    """A sharable set of queries. List e of `predicates` is that of transition e."""

    template: TemplateTables
    predicates: Predicates
    weights: Weighing
