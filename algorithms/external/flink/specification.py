"""Queries as input of our Java program (`java/Spec.java`), and what Flink's patterns cannot express."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from cepbench.algorithms.engine.complete_matches import unsupported_complete
from cepbench.algorithms.external.flink.orders import orders, unsupported_detection
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import ClausePart, CompiledQuery, Part
from cepbench.queries.detection import may_repeat
from cepbench.queries.model import (
    Aggregates,
    And,
    AtLeast,
    CompleteMatches,
    Event,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Semantics,
    Seq,
    Star,
    children,
)
from cepbench.queries.tables import Ints, Predicates, Weights

ANY, NEXT, CONTIGUOUS, STRICT, SPAN = range(5)
SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}

_REFUSED: dict[type[Pattern], str] = {
    Or: "Flink's patterns have no alternatives, so OR is not supported",
    And: "Flink's patterns are sequences, so AND is not supported",
    Not: "Flink's notFollowedBy lets simultaneous events follow and cannot end a pattern, so NOT is not supported",
    Star: "only + is supported of Kleene patterns, not *",
    Maybe: "optional parts (?) are not supported; write a query per alternative",
    AtLeast: "a minimal number of repetitions is not supported; write the events out",
}


def unsupported_by_flink(query: Query) -> str | None:
    """Why Flink cannot evaluate a query, in words; None if it can."""
    if query.span is not None:
        return unsupported_detection(query)
    if isinstance(query.returns, CompleteMatches):
        reason = unsupported_complete(query)
        if reason is not None:
            return reason
    pending: list[Pattern] = [query.pattern]
    while pending:
        pattern = pending.pop()
        reason = _REFUSED.get(type(pattern))
        if reason is not None:
            return reason
        pending += children(pattern)
    if _loops_around_groups(query.pattern, False):
        return "Flink loses matches where a Kleene pattern of several events is part of another Kleene pattern"
    if any(automaton.pairwise for automaton in analyse(query).automata):
        return "predicates that compare events which are not adjacent are not supported"
    return None


def _loops_around_groups(pattern: Pattern, inside: bool) -> bool:
    """Whether a loop of several events lies in another loop; `inside`: the pattern lies in one."""
    if isinstance(pattern, Plus):
        body = pattern.part
        while isinstance(body, Plus):
            body = body.part
        return (inside and isinstance(body, Seq)) or _loops_around_groups(body, True)
    return any(_loops_around_groups(child, inside) for child in children(pattern))


def specification(query: CompiledQuery, parts: Sequence[Part], window: Window, strict: bool) -> str:
    """The text of a query whose flows are `parts`: one for its whole pattern, or one per event sequence.

    `strict` evaluates contiguous queries by Flink's own strict contiguity, which is correct as long as no two events of
    a key are simultaneous.
    """
    semantics = SEMANTICS[query.query.semantics]
    native = len(parts) == 1 and parts[0] is query.parts[0]
    lines = [_query(query, STRICT if strict else semantics, window)]
    for part in parts:
        size = len(part.automaton.positions)
        words = list(_words(query.query.pattern, count())) if native else [f"S{size}", *(f"E{p}" for p in range(size))]
        lines += [_line("flow", size, int(any(word == "L" for word in words)), *words), *_tables(part)]
    return "\n".join(lines)


def detection_specification(query: CompiledQuery) -> str:
    """The text of a detection query: one flow for each order in which operands can be bound."""
    assert query.window is not None
    lines = [_query(query, SPAN, query.window)]
    repeats = may_repeat(tuple(part.clause for part in query.clauses))
    for part in query.clauses:
        for places in orders(part.clause):
            loops = any(place.loop for place in places)
            words = [word for n, place in enumerate(places) for word in (("L",) if place.loop else ()) + (f"E{n}",)]
            lines += [_line("flow", len(part.clause.operands), int(repeats or loops), f"S{len(places)}", *words)]
            lines += [_line("clause", int(part.clause.ordered))]
            lines += [_line("place", *place.operands) for place in places]
            lines += _clause_tables(part)
    return "\n".join(lines)


def _query(query: CompiledQuery, semantics: int, window: Window) -> str:
    returns = 0 if isinstance(query.query.returns, Aggregates) and not query.detects else 1  # detected ones are counted
    if isinstance(query.query.returns, CompleteMatches):
        returns = 2
    sizes = len(query.ints), len(query.reals)
    flags = int(query.arithmetic == "float"), returns, int(window.counts_events)
    return _line("query", semantics, window.within, window.slide, *sizes, *flags)


def _words(pattern: Pattern, positions: Iterator[int]) -> Iterator[str]:
    """The pattern in prefix order; positions are numbered from left to right, as in its automaton."""
    match pattern:
        case Event():
            yield f"E{next(positions)}"
        case Plus(part):
            inner = list(_words(part, positions))
            yield from inner if inner[0] == "L" else ["L", *inner]  # (P+)+ is P+
        case Seq(parts):
            yield f"S{len(parts)}"
            for part in parts:
                yield from _words(part, positions)
        case _:
            raise AssertionError(pattern)


def _clause_tables(part: ClausePart) -> Iterator[str]:
    tables, operands = part.tables, len(part.clause.operands)
    yield from _types(tables.binding_ptr, tables.operand[tables.binding])
    compared = np.diff(tables.pairs.ptr).reshape(operands, operands)
    for one in range(operands):
        # The predicates of all types of an OR are the same (`orders.unsupported_detection`).
        yield from _predicates("local", (one,), tables.local, int(np.flatnonzero(tables.operand == one)[0]))
        for other in np.flatnonzero(compared[one]).tolist():
            yield _line("step", one, other)
            yield from _predicates("adjacent", (one, other), tables.pairs, one * operands + other)


def _types(binding_ptr: Ints, binding: Ints) -> Iterator[str]:
    yield _line("types", len(binding_ptr) - 1)
    for kind in range(len(binding_ptr) - 1):
        yield _line("type", kind, *np.unique(binding[binding_ptr[kind] : binding_ptr[kind + 1]]))


def _tables(part: Part) -> Iterator[str]:
    tables = part.tables
    yield from _types(tables.binding_ptr, tables.binding)
    for p in range(len(tables.start)):
        yield from _predicates("local", (p,), tables.local, p)
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            step = int(tables.source[e]), p
            yield _line("step", *step)
            yield from _predicates("adjacent", step, tables.adjacent, e)
    for name, weights in (("ring", tables.ring), ("real", tables.real), ("least", tables.least)):
        yield from _channels(name, weights)


def _predicates(name: str, of: tuple[int, ...], predicates: Predicates, which: int) -> Iterator[str]:
    for one in predicates.one[predicates.ptr[which] : predicates.ptr[which + 1]]:
        left, right, constant = (_bits(one[field]) for field in ("left_factor", "right_factor", "real_constant"))
        sides = one["left_column"], left, one["right_column"], right
        yield _line(name, *of, int(one["real"]), one["op"], *sides, one["int_constant"], constant)


def _channels(name: str, weights: Weights) -> Iterator[str]:
    for c, column in enumerate(weights.column):
        yield _line(name, column, *np.flatnonzero(weights.bound[c]))


def _bits(number: float) -> int:
    """The bits of a float."""
    return int(np.float64(number).view(np.int64))


def _line(name: str, *numbers: object) -> str:
    return " ".join([name, *map(str, numbers)])
