"""A sharable set as the arrays that kernels read: the part that Hamlet and Gloria have in common."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Generic, TypeVar

from cepbench.algorithms.trends.online.blocks import empty_positions, event_bytes
from cepbench.algorithms.trends.online.granularity import EVENT, selects
from cepbench.algorithms.trends.online.kernels.template import Template
from cepbench.algorithms.trends.online.slots import AutomatonSlots
from cepbench.algorithms.trends.online.template import TemplateCompiler
from cepbench.algorithms.trends.snapshots.channels import MemberChannels
from cepbench.algorithms.trends.snapshots.members import SetMember, negated_types
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.automaton import Automaton
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part, compile_part
from cepbench.queries.tables import Columns, predicate_tables

Program = TypeVar("Program")
TemplateOfSet = TypeVar("TemplateOfSet", bound=Template)


@dataclass(frozen=True, eq=False)
class CompiledMembers(Generic[Program]):
    """A sharable set as its kernels read it: the columns that its tables refer to, its channels and its `program`.

    `negations` are the negated sub-patterns of all members, as they are numbered, with the length of their windows.
    """

    members: tuple[SetMember, ...]
    columns: ColumnSet
    channels: MemberChannels
    negations: tuple[tuple[Part, Window], ...]
    program: Program


class SetCompiler(TemplateCompiler):
    """Collects the records of a sharable set.

    Transitions in `shared`, by member, read no slot. `negated`: type codes; `read`: the columns of all tables.
    """

    def __init__(
        self,
        members: Sequence[SetMember],
        schema: Schema,
        granularity: str,
        tables: type,
        shared: Sequence[Set[int]] = (),
    ) -> None:
        columns, automata = Columns(schema), [member.automaton for member in members]
        self.members, self.schema, self.granularity = members, schema, granularity
        self.parts = [compile_part(m.automaton, m.query.layout, columns, m.query.analysis.names) for m in members]
        self.read = columns.whole
        self.predicates = predicate_tables(
            [t.predicates for automaton in automata for t in automaton.transitions], columns
        )
        self.negated = {schema.type_code(name) for automaton in automata for name in negated_types(automaton)} - {-1}
        slots = [
            _slots(automaton, granularity, shared[m] if shared else frozenset()) for m, automaton in enumerate(automata)
        ]
        local = [part.tables.local for part in self.parts]
        super().__init__(automata, [member.window for member in members], slots, local, tables)

    @property
    def negations(self) -> tuple[tuple[Part, Window], ...]:
        """The negated sub-patterns of all members, with the length of their windows."""
        members = zip(self.members, self.parts, strict=True)
        return tuple((negation, member.window) for member, part in members for negation in part.negations)

    def sized(self, template: TemplateOfSet) -> TemplateOfSet:
        """The template with the bytes of a kept event, which depend on the whole of it."""
        template.whole["event_bytes"] = event_bytes(self.read, empty_positions(template, self.predicates))
        return template


def _slots(automaton: Automaton, granularity: str, shared: Set[int]) -> AutomatonSlots:
    """The slots of a member; at event granularity its transitions visit all events before."""
    transitions = enumerate(automaton.transitions)
    visited = [n not in shared and (granularity == EVENT or selects(t, automaton)) for n, t in transitions]
    return AutomatonSlots(automaton, visited, shared)
