"""Compiles a detection query into tables of the SASE kernels: the automaton of SEQ and OR, and each AND separately."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.construction.sase.kernels.runs import SpanTables
from cepbench.queries.compile import ClausePart, Part
from cepbench.queries.tables import Predicates, csr


def tables_of_automaton(part: Part) -> SpanTables:
    """Tables of the automaton's positions and transitions; a negated sub-pattern is a single type."""
    positions, transitions = part.automaton.positions, part.automaton.transitions
    p, tables, negated = len(positions), part.tables, [negation.tables for negation in part.negations]
    steps = [[t for t in transitions if t.target == n and t.source != n] for n in range(p)]
    enter_ptr, source = csr([t.source for t in into] for into in steps)
    before, after = np.zeros((2, len(negated), p), np.bool_)
    for n, position in enumerate(positions):
        before[sorted((position.start or frozenset()).union(*(t.negations for t in steps[n]))), n] = True
        after[sorted(position.end or ()), n] = True
    starts = tables.binding_ptr
    binding_ptr, binding = csr(
        [
            *tables.binding[starts[code] : starts[code + 1]],
            *(p + j for j, absent in enumerate(negated) if absent.binding_ptr[code] < absent.binding_ptr[code + 1]),
        ]
        for code in range(len(starts) - 1)
    )
    return SpanTables(
        binding_ptr,
        binding,
        np.concatenate([tables.local, *(negation.local for negation in negated)]),
        enter_ptr,
        source,
        np.array([bool(t.negations) for into in steps for t in into], np.bool_),
        np.array([any(t.source == t.target == n for t in transitions) for n in range(p)], np.bool_),
        tables.start,
        tables.end,
        before,
        after,
        tables.pairwise,
        tables.pair_left,
        tables.pair_right,
    )


def tables_of_and(part: ClausePart) -> SpanTables:
    """Tables of the operands (single types); each can precede every other one."""
    tables, m = part.tables, len(part.clause.operands)
    whole, nothing = np.ones(m, np.bool_), np.zeros((0, m), np.bool_)
    pairs = np.repeat(np.arange(m * m), np.diff(tables.pairs.ptr))
    return SpanTables(
        tables.binding_ptr,
        tables.binding,
        tables.local,
        *csr([range(m)] * m),
        np.zeros(m * m, np.bool_),
        np.array([operand.kleene for operand in part.clause.operands], np.bool_),
        whole,
        whole,
        nothing,
        nothing,
        Predicates(np.arange(len(pairs) + 1), tables.pairs.one),
        np.arange(m) == pairs[:, None] // m,
        np.arange(m) == pairs[:, None] % m,
    )
