"""Queries as input of our Java program (`java/Spec.java`), and what Flink's patterns cannot express."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from cepbench.algorithms.engine.kernels.constants import SEMANTICS
from cepbench.algorithms.external.flink.orders import orders, unsupported_detection
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import ClausePart, CompiledQuery, Part
from cepbench.queries.detection import may_repeat
from cepbench.queries.model import (
    Aggregates,
    And,
    CompleteMatches,
    Event,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Repeat,
    Seq,
    Star,
    children,
)
from cepbench.queries.resolve import nullable
from cepbench.queries.tables import Ints, Predicates, Weights

STRICT, SPAN = 3, 4
"""Besides the semantics: Flink's own strict contiguity, and detection (`java/Spec.java`)."""

MAX_OPTIONAL = 100
"""Maximum number of optional parts of a pattern: on 500 nested ones the stack of Flink's compiler overflowed."""

_REFUSED: dict[type[Pattern], str] = {
    Or: "Flink's patterns have no alternatives, so OR is not supported",
    And: "Flink's patterns are sequences, so AND is not supported",
    Not: "Flink's notFollowedBy lets simultaneous events follow and cannot end a pattern, so NOT is not supported",
}


def unsupported_by_flink(query: Query) -> str | None:
    """Why Flink cannot evaluate a query, in words; None if it can."""
    if query.span is not None:
        return unsupported_detection(query)
    automata = analyse(query).automata
    pending: list[Pattern] = [query.pattern]
    while pending:
        pattern = pending.pop()
        if type(pattern) in _REFUSED:
            return _REFUSED[type(pattern)]
        if isinstance(pattern, Plus | Star | Maybe | Repeat) and nullable(pattern.part):
            return "Flink loses matches, or does not end, where a part that is optional or repeats may be empty itself"
        pending += children(pattern)
    if any(automaton.pairwise for automaton in automata):
        return "predicates that compare events which are not adjacent are not supported"
    words = list(_words(query.pattern, count()))
    optional = words.count("O")
    if optional > MAX_OPTIONAL:
        return f"Flink cannot compile patterns with many optional parts, {optional} here; at most {MAX_OPTIONAL} work"
    return _loss(words)


def _loss(words: list[str]) -> str | None:
    """Why Flink loses matches of a pattern, in words; None if it does not. Found by random cases (docs/findings.md)."""
    parts = [at for at, word in enumerate(words) if word in ("L", "O")]
    several = {at for at in parts if words[at + 1][0] != "E" and (words[at] == "L" or _end(words, at) > at + 3)}
    for outer in parts:
        for inner in (at for at in parts if outer < at < _end(words, outer)):
            if words[outer] == words[inner] == "L" and inner in several:
                return "Flink loses matches where a Kleene pattern of several events is part of another Kleene pattern"
            if words[outer] != words[inner] and any(words[at] == "O" and at in several for at in (outer, inner)):
                return "Flink loses matches where an optional part of several events has, or is in, a Kleene pattern"
    return None


def _end(words: list[str], at: int) -> int:
    """The index after the part of a pattern whose first word is at an index."""
    missing = 1
    while missing:
        word = words[at]
        missing += {"E": -1, "S": int(word[1:] or 0) - 1}.get(word[0], 0)
        at += 1
    return at


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
        lines += [_line("flow", size, int("L" in words), *words), *_tables(part)]
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
    sizes = len(query.ints), len(query.reals), len(query.columns.flags)
    flags = int(query.arithmetic == "float"), returns, int(window.counts_events)
    return _line("query", semantics, window.within, window.slide, *sizes, *flags)


def _words(pattern: Pattern, positions: Iterator[int]) -> Iterator[str]:
    """The pattern in prefix order; positions are numbered from left to right, as in its automaton."""
    match pattern:
        case Event():
            yield f"E{next(positions)}"
        case Maybe(part):
            yield from ("O", *_words(part, positions))
        case Star(part):
            yield from ("O", *_loop(list(_words(part, positions))))
        case Plus(part):
            yield from _loop(list(_words(part, positions)))
        case Repeat(part, least, most):
            copies = [list(_words(part, positions)) for _ in range(most or least)]
            if most is None:
                copies[-1] = _loop(copies[-1])
            for number, copy in enumerate(copies):
                yield from ("O",) if number >= least else ()
                yield from ("S2",) if number < len(copies) - 1 else ()
                yield from copy
        case Seq(parts):
            yield f"S{len(parts)}"
            for part in parts:
                yield from _words(part, positions)
        case _:
            raise AssertionError(pattern)


def _loop(words: list[str]) -> list[str]:
    return words if words[0] == "L" else ["L", *words]  # (P+)+ is P+


def _clause_tables(part: ClausePart) -> Iterator[str]:
    tables, operands = part.tables, len(part.clause.operands)
    yield from _types(tables.binding_ptr, tables.binding)
    yield _line("operands", *tables.operand)
    yield _line("local", *tables.local)
    compared = np.diff(tables.pairs.ptr).reshape(operands, operands)
    for left in range(operands):
        for right in np.flatnonzero(compared[left]).tolist():
            yield _line("step", left, right)
            yield from _predicates("adjacent", (left, right), tables.pairs, left * operands + right)


def _types(binding_ptr: Ints, binding: Ints) -> Iterator[str]:
    yield _line("types", len(binding_ptr) - 1)
    for kind in range(len(binding_ptr) - 1):
        yield _line("type", kind, *np.unique(binding[binding_ptr[kind] : binding_ptr[kind + 1]]))


def _tables(part: Part) -> Iterator[str]:
    tables = part.tables
    yield from _types(tables.binding_ptr, tables.binding)
    yield _line("local", *tables.local)
    for p in range(len(tables.start)):
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            step = int(tables.source[e]), p
            yield _line("step", *step)
            yield from _predicates("adjacent", step, tables.adjacent, e)
    for name, weights in (("ring", tables.ring), ("real", tables.real), ("least", tables.least)):
        yield from _channels(name, weights)


def _predicates(name: str, of: tuple[int, ...], predicates: Predicates, which: int) -> Iterator[str]:
    for predicate in predicates.one[predicates.ptr[which] : predicates.ptr[which + 1]]:
        left, right = (
            (predicate[f"{side}_column"], _bits(predicate[f"{side}_factor"]), _bits(predicate[f"{side}_offset"]))
            for side in ("left", "right")
        )
        yield _line(name, *of, int(predicate["real"]), predicate["op"], *left, *right, predicate["int_offset"])


def _channels(name: str, weights: Weights) -> Iterator[str]:
    for c, column in enumerate(weights.column):
        yield _line(name, column, *np.flatnonzero(weights.bound[c]))


def _bits(number: float) -> int:
    """The bits of a float."""
    return int(np.float64(number).view(np.int64))


def _line(name: str, *numbers: object) -> str:
    return " ".join([name, *map(str, numbers)])
