"""A sharable set of queries as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.hamlet.channels import MemberChannels
from cepbench.algorithms.hamlet.kernels.program import (
    NONE,
    Groups,
    HamletProgram,
    Members,
    MergedTables,
    Places,
    Weighing,
)
from cepbench.algorithms.hamlet.workload import SetMember, SharableSet, only_single_events
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.aggregates import COUNT_ALL, Layout
from cepbench.queries.automaton import Automaton
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part
from cepbench.queries.names import Names
from cepbench.queries.tables import Columns, Predicates, build_tables, csr


@dataclass(frozen=True, eq=False)
class CompiledSet:
    """A sharable set: what kernels read, the columns that its tables refer to, and its channels.

    `negations` are the negated sub-patterns of all members, as they are numbered, with the length of their windows.
    """

    members: tuple[SetMember, ...]
    program: HamletProgram
    columns: ColumnSet
    channels: MemberChannels
    negations: tuple[tuple[Part, Window], ...]

    @property
    def contexts(self) -> int:
        """Queries times windows that hold an event, over the units of the group that has most."""
        return int(self.program.groups.contexts[0])


def compile_set(chosen: SharableSet, schema: Schema) -> CompiledSet:
    """The merged template of a set (Section 3.1) with slots, groups and channels."""
    members = chosen.members
    columns = Columns(schema)
    parts = [_part(m.automaton, m.query.layout, schema, columns, m.query.analysis.names) for m in members]
    channels = MemberChannels.of_members([part.tables for part in parts])
    positions = [len(part.tables.start) for part in parts]
    offset = np.concatenate([[0], np.cumsum(positions)]).astype(np.int64)
    places, slot_members = _places(members)
    by_type = [[int(offset[s.member]) + s.position for s in group] for group in chosen.shared]
    template, local, adjacent = _merged(parts)
    weights = Weighing(*channels.weights(offset.tolist(), by_type))
    kinds = list(dict.fromkeys(member.window for member in members))
    kind_of = [kinds.index(member.window) for member in members]
    of = np.repeat(np.arange(len(members)), positions)
    numbered = _members(kinds, kind_of, of, slot_members)
    groups, self_loop = _groups(chosen, by_type, template, numbered, places, schema)
    negations = tuple((n, member.window) for member, part in zip(members, parts, strict=True) for n in part.negations)
    program = HamletProgram(template, local, adjacent, weights, numbered, places, groups, self_loop)
    return CompiledSet(
        members, program, ColumnSet(tuple(columns.ints), tuple(columns.reals)), channels, negations
    )  # fmt: skip


def _part(automaton: Automaton, layout: Layout, schema: Schema, columns: Columns, names: Names) -> Part:
    """As the query was compiled, but with the columns of the whole set."""
    nothing = Layout((COUNT_ALL,), (), ())
    tables = build_tables(automaton, layout, schema, columns, names)
    return Part(automaton, tables, tuple(_part(n, nothing, schema, columns, names) for n in automaton.negations))


# --- the merged template --------------------------------------------------------------------------------------------


def _merged(parts: Sequence[Part]) -> tuple[MergedTables, Predicates, Predicates]:
    """One template of all members, and its local and adjacent predicates."""
    tables = [part.tables for part in parts]
    positions = _offsets(len(t.start) for t in tables)
    negations = _offsets(len(part.negations) for part in parts)
    types = len(tables[0].binding_ptr) - 1
    bound: list[list[int]] = [
        [int(p) + at for t, at in zip(tables, positions, strict=False) for p in _row(t.binding_ptr, t.binding, code)]
        for code in range(types)
    ]
    binding_ptr, binding = csr(bound)

    def lists(ptr: str, items: str, shift: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        rows = [
            [int(item) + at for item in _row(getattr(t, ptr), getattr(t, items), i)]
            for t, at in zip(tables, shift, strict=False)
            for i in range(len(getattr(t, ptr)) - 1)
        ]
        return csr(rows)

    template = MergedTables(
        binding_ptr,
        binding,
        *lists("enter_ptr", "source", positions),
        *lists("between_ptr", "between", negations),
        np.concatenate([t.start for t in tables]),
        *lists("leading_ptr", "leading", negations),
        *lists("trailing_ptr", "trailing", negations),
    )
    return template, _joined([t.local for t in tables]), _joined([t.adjacent for t in tables])


def _joined(lists: Sequence[Predicates]) -> Predicates:
    sizes = _offsets(len(found.one) for found in lists)
    ptr = np.concatenate([[0], *(found.ptr[1:] + at for found, at in zip(lists, sizes, strict=False))])
    return Predicates(ptr.astype(np.int64), np.concatenate([found.one for found in lists]))


def _row(ptr: NDArray[np.int64], items: NDArray[np.int64], i: int) -> NDArray[np.int64]:
    return items[ptr[i] : ptr[i + 1]]


def _offsets(sizes: Iterable[int]) -> list[int]:
    """Where each of some runs begins; behind them, the end of all."""
    return [0, *np.cumsum(list(sizes)).tolist()]


# --- slots ----------------------------------------------------------------------------------------------------------


def _places(members: Sequence[SetMember]) -> tuple[Places, list[int]]:
    """What feeds which slot and who reads it; and the member of each slot, in order."""
    feeds: list[list[int]] = []
    void: list[list[int]] = []
    late: list[list[int]] = []
    read: list[int] = []
    direct: list[bool] = []
    visited: list[bool] = []
    kept: list[bool] = []
    late_kept: list[bool] = []
    owner: list[int] = []
    for m, member in enumerate(members):
        automaton, negation, position = member.automaton, len(void), len(feeds)
        feeds += [[] for _ in automaton.positions]
        void += [[] for _ in automaton.negations]
        late.append([])
        kept += [False] * len(automaton.positions)
        own: dict[int, int] = {}

        def slot(m: int = m) -> int:
            owner.append(m)
            return len(owner) - 1

        for t in automaton.transitions:
            source = position + t.source
            visited.append(bool(t.predicates) or not only_single_events(t.negations, automaton))
            if visited[-1]:
                kept[source] = True
                read.append(0)
            elif t.negations:
                read.append(slot())
                feeds[source].append(read[-1])
                for j in t.negations:
                    void[negation + j].append(read[-1])
            else:
                if source not in own:
                    own[source] = slot()
                    feeds[source].append(own[source])
                read.append(own[source])
        for p, place in enumerate(automaton.positions):
            trailing = place.end or frozenset()
            direct.append(place.end is not None and not trailing)
            late_kept.append(bool(trailing) and not only_single_events(trailing, automaton))
            if late_kept[-1]:
                kept[position + p] = True
            elif trailing:
                late[-1].append(slot())
                feeds[position + p].append(late[-1][-1])
                for j in trailing:
                    void[negation + j].append(late[-1][-1])
    flags = [np.array(row, np.bool_) for row in (direct, visited, kept, late_kept)]
    numbers = np.array(read, np.int64)
    return Places(*csr(feeds), numbers, flags[0], *csr(late), *csr(void), flags[1], flags[2], flags[3]), owner


def _members(
    kinds: Sequence[Window], kind_of: Sequence[int], of: NDArray[np.int64], slot_members: Sequence[int]
) -> Members:
    span = np.array([kind.overlap for kind in kinds], np.int64)
    windows = np.array(kind_of, np.int64)
    spans = span[windows]
    owner = np.array(slot_members, np.int64)
    slot_base = np.array(_offsets(spans[owner].tolist())[:-1], np.int64)
    within = np.array([kind.within for kind in kinds], np.int64)
    by_kind = csr([[m for m, kind in enumerate(kind_of) if kind == w] for w in range(len(kinds))])
    return Members(
        of=of.astype(np.int64),
        windows=windows,
        within=within,
        slide=np.array([kind.slide for kind in kinds], np.int64),
        span=span,
        kind_ptr=by_kind[0],
        kind=by_kind[1],
        longest=np.array([within.argmax()], np.int64),
        slot_ptr=np.searchsorted(owner, np.arange(len(windows) + 1)).astype(np.int64),
        slot_base=slot_base,
        slot_member=owner,
        final_base=np.array(_offsets(spans.tolist())[:-1], np.int64),
    )


# --- groups ---------------------------------------------------------------------------------------------------------


def _groups(
    chosen: SharableSet, by_type: Sequence[Sequence[int]], template: MergedTables, members: Members, places: Places,
    schema: Schema,
) -> tuple[Groups, NDArray[np.int64]]:  # fmt: skip
    """The sharable Kleene sub-patterns, and the transition of each unit to itself."""
    of = np.full(len(schema.types), NONE, np.int64)
    unit_of = np.full(len(members.of), NONE, np.int64)
    position: list[int] = []
    of_unit: list[int] = []
    class_of: list[int] = []
    context: list[int] = []
    self_loop: list[int] = []
    sample: list[int] = []
    loop: list[int] = []
    same_loop: list[bool] = []
    reference: list[int] = []
    contexts, class_ptr = [0], [0]
    for g, (patterns, own) in enumerate(zip(chosen.shared, by_type, strict=True)):
        code = schema.type_code(patterns[0].type)
        if code >= 0:
            of[code] = g
        classes = list(dict.fromkeys(pattern.predicates for pattern in patterns))
        contexts.append(0)
        for pattern, p in zip(patterns, own, strict=True):
            unit_of[p] = len(position)
            position.append(p)
            of_unit.append(g)
            class_of.append(class_ptr[-1] + classes.index(pattern.predicates))
            self_loop.append(_transition(p, p, template))
            context.append(contexts[-1])
            contexts[-1] += int(members.span[members.windows[members.of[p]]])
        sizes = [sum(pattern.predicates == known for pattern in patterns) for known in classes]
        most = sizes.index(max(sizes))
        reference.append(class_ptr[-1] + most)
        for known in classes:
            p = next(p for pattern, p in zip(patterns, own, strict=True) if pattern.predicates == known)
            sample.append(p)
            loop.append(_transition(p, p, template) if known[1] else NONE)
            same_loop.append(known[1] == classes[most][1])
        class_ptr.append(len(sample))
    negated = {code for member in chosen.members for code in _negated_codes(member.automaton, schema)}
    bound = np.diff(template.binding_ptr) > 0
    relevant = bound | np.isin(np.arange(len(bound)), sorted(negated))
    kept_of = [int(places.kept[_row(template.binding_ptr, template.binding, t)].sum()) for t in range(len(bound))]
    stores = [any(places.kept[p] for p in own) for own in by_type]
    unit_ptr = np.searchsorted(of_unit, np.arange(len(by_type) + 1))

    def ints(numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array(numbers, np.int64)

    groups = Groups(
        relevant=relevant,
        of=of,
        of_unit=ints(of_unit),
        unit_ptr=ints(unit_ptr),
        position=ints(position),
        unit_of=unit_of,
        context=ints(context),
        contexts=ints([max(contexts)]),
        class_ptr=ints(class_ptr),
        class_of=ints(class_of),
        sample=ints(sample),
        loop=ints(loop),
        same_loop=np.array(same_loop, np.bool_),
        reference=ints(reference),
        stores=np.array(stores, np.bool_),
        kept_of=ints(kept_of),
    )
    return groups, np.array(self_loop, np.int64)


def _transition(source: int, target: int, template: MergedTables) -> int:
    first = int(template.enter_ptr[target])
    into: list[int] = template.source[first : template.enter_ptr[target + 1]].tolist()
    return first + into.index(source)


def _negated_codes(automaton: Automaton, schema: Schema) -> set[int]:
    """Type codes of all negated events."""
    codes: set[int] = set()
    for negation in automaton.negations:
        codes |= {schema.type_code(position.type) for position in negation.positions}
        codes |= _negated_codes(negation, schema)
    return codes - {-1}
