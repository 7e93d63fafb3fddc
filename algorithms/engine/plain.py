"""Events and conditions as plain Python values, for algorithms that need no kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cepbench.events.batch import EventBatch
from cepbench.events.units import in_units
from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Transition
from cepbench.queries.binding import COMPARE
from cepbench.queries.model import Comparison, Length, Operand, Query

PlainEvent = Mapping[str, Any]
"""`time`, `type` and the attributes of an event."""


def plain_events(batch: EventBatch) -> list[PlainEvent]:
    """The events of a batch, in order; O(1) per value."""
    columns: dict[str, list[Any]] = {
        "time": batch.time.tolist(),
        "type": [batch.schema.types[code] for code in batch.type.tolist()],
    }
    columns |= {name: list(batch.schema.decode(name, column.tolist())) for name, column in batch.columns.items()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def may_follow(transition: Transition, earlier: PlainEvent, later: PlainEvent, time_unit: str) -> bool:
    """Whether two events may be adjacent at a transition: the times rise and all its conditions hold.

    Semantics and negations are not considered, nor the types and conditions of single events. `time_unit` is the one of
    the stream (`schema.time_unit`), for conditions with a unit such as `<= 5 minutes`.
    """
    holds = (_holds(condition, earlier, later, time_unit) for condition in transition.predicates)
    return bool(earlier["time"] < later["time"]) and all(holds)


def compares_neighbors_only(query: Query) -> bool:
    """Whether all conditions in WHERE are equivalences, or are conditions of transitions (`may_follow`)."""
    automata = analyse(query).automata
    return not any(automaton.pairwise or any(p.predicates for p in automaton.positions) for automaton in automata)


def _holds(condition: Comparison, earlier: PlainEvent, later: PlainEvent, time_unit: str) -> bool:
    """Integers are compared exactly; with a factor or a float, both sides are floats."""
    sides = ((condition.left, earlier), (condition.right, later))
    terms = [(event[side.attribute], side.factor, _offset(side, time_unit)) for side, event in sides]
    if any(isinstance(value, str) for value, _, _ in terms):
        left, right = (value for value, _, _ in terms)
    elif any(isinstance(number, float) or factor != 1 for value, factor, offset in terms for number in (value, offset)):
        left, right = (float(factor) * float(value) + float(offset) for value, factor, offset in terms)
    else:
        left, right = (value + offset for value, _, offset in terms)
    return bool(COMPARE[condition.op](left, right))


def _offset(side: Operand, time_unit: str) -> int | float:
    offset = side.offset
    if not isinstance(offset, Length):
        return offset
    return in_units(offset.amount, offset.unit, time_unit, "an offset")
