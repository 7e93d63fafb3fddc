"""Queries as our Java program reads them (`java/Spec.java`), and what Flink's patterns cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part
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
from cepbench.queries.tables import Predicates, Weights

ANY, NEXT, CONTIGUOUS, STRICT = range(4)
SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}

_REFUSED: dict[type[Pattern], str] = {
    Or: "Flink's patterns have no alternatives, so OR is not supported",
    And: "Flink's patterns are sequences, so AND is not supported",
    Not: "Flink's notFollowedBy takes simultaneous events as following, and ends no pattern, so NOT is not supported",
    Star: "only + is supported of Kleene patterns, not *",
    Maybe: "optional parts (?) are not supported; write a query per alternative",
    AtLeast: "a minimal number of repetitions is not supported; write the events out",
}


def unsupported_by_flink(query: Query) -> str | None:
    """Why Flink cannot evaluate a query, in words, or None."""
    if query.span is not None:
        return "detection within a span per match is not supported; Flink's `within` excludes the span itself"
    if isinstance(query.returns, CompleteMatches):
        return "Flink reports all matches, and cannot tell complete ones among them"
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
    """Whether a loop of several events lies in another one; `inside` tells that the pattern does."""
    if isinstance(pattern, Plus):
        body = pattern.part
        while isinstance(body, Plus):
            body = body.part
        return (inside and isinstance(body, Seq)) or _loops_around_groups(body, True)
    return any(_loops_around_groups(child, inside) for child in children(pattern))


def specification(query: CompiledQuery, parts: Sequence[Part], window: Window, strict: bool) -> str:
    """The text of a query whose flows are `parts`: one for its whole pattern, or event sequences.

    `strict` evaluates contiguous queries by Flink's own strict contiguity, which is right while no two events of a
    sub-stream are simultaneous.
    """
    semantics = SEMANTICS[query.query.semantics]
    flags = int(query.arithmetic == "float"), int(not isinstance(query.query.returns, Aggregates))
    sizes = len(query.ints), len(query.reals)
    native = len(parts) == 1 and parts[0] is query.parts[0]
    lines = [_line("query", STRICT if strict else semantics, window.within, window.slide, *sizes, *flags)]
    for part in parts:
        size = len(part.automaton.positions)
        words = list(_words(query.query.pattern, count())) if native else [f"S{size}", *(f"E{p}" for p in range(size))]
        lines += [_line("flow", size, int(any(word == "L" for word in words)), *words), *_tables(part)]
    return "\n".join(lines)


def _words(pattern: Pattern, positions: Iterator[int]) -> Iterator[str]:
    """The pattern in prefix order; positions are numbered from left to right, as those of its automaton."""
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


def _tables(part: Part) -> Iterator[str]:
    tables = part.tables
    yield _line("types", len(tables.binding_ptr) - 1)
    for kind in range(len(tables.binding_ptr) - 1):
        yield _line("type", kind, *tables.binding[tables.binding_ptr[kind] : tables.binding_ptr[kind + 1]])
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
        left, right = _bits(one["left_factor"]), _bits(one["right_factor"])
        yield _line(
            name,
            *of,
            int(one["real"]),
            one["op"],
            one["left_column"],
            left,
            one["right_column"],
            right,
            one["int_constant"],
            _bits(one["real_constant"]),
        )


def _channels(name: str, weights: Weights) -> Iterator[str]:
    for c, column in enumerate(weights.column):
        yield _line(name, column, *np.flatnonzero(weights.bound[c]))


def _bits(number: float) -> int:
    """A float, exactly."""
    return int(np.float64(number).view(np.int64))


def _line(name: str, *numbers: object) -> str:
    return " ".join([name, *map(str, numbers)])
