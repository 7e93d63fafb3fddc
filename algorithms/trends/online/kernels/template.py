"""The template of a set of queries, as the kernels of the trend machine read it, and the aggregates of its windows."""

from __future__ import annotations

from typing import Annotated, NamedTuple, Protocol

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import Cells
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


class Template(Protocol):
    """Tables of the records that `online.kernels.records` has, or of others with more fields, and `lists`."""

    @property
    def position(self) -> Records: ...
    @property
    def transition(self) -> Records: ...
    @property
    def member(self) -> Records: ...
    @property
    def window(self) -> Records: ...
    @property
    def slot(self) -> Records: ...
    @property
    def negation(self) -> Records: ...
    @property
    def lists(self) -> Ints: ...
    @property
    def whole(self) -> Records: ...


class Program(Protocol):
    """A template, and predicates of its transitions on adjacent events: list e is that of transition e."""

    @property
    def template(self) -> Template: ...
    @property
    def predicates(self) -> Predicates: ...


class GraphTables(NamedTuple):
    """The template of a query that shares nothing, as tables of records, and lists of their numbers; `whole[1]`."""

    kind: Annotated[Records, TypeRecord]
    position: Annotated[Records, PositionRecord]
    transition: Annotated[Records, TransitionRecord]
    member: Annotated[Records, MemberRecord]
    window: Annotated[Records, WindowRecord]
    slot: Annotated[Records, SlotRecord]
    negation: Annotated[Records, NegationRecord]
    whole: Annotated[Records, WholeRecord]
    lists: Ints


class Totals(NamedTuple):
    """Aggregates of the open windows.

    `cells`: first those for the trends that an event extends, window by window, then those of slots and of members, as
    their records say; `pending[S]`; `seen[J]`: the latest start of a match of each negation; `open[W]`; `counts[1]`: a
    record with the fields of `ProgressRecord`.
    """

    cells: Cells
    pending: Records
    seen: Ints
    open: Records
    counts: Records


class MemberRows(NamedTuple):
    """Rows of closed windows: `member[N]`, `window[N]` and a cell each."""

    member: Ints
    window: Ints
    cells: Cells
