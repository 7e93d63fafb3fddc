"""A clause of detection as arrays: what kernels read. Nothing is compiled per query."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cepbench.events.schema import Schema
from cepbench.queries.detection import ClauseOperand, DetectionClause, NegatedType
from cepbench.queries.model import Comparison
from cepbench.queries.tables import Columns, Flags, Ints, Predicates, bindings, predicate_tables


class DetectionTables(NamedTuple):
    """One clause of m operands and k negated types over a stream's type codes. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - operands of a type: `binding_ptr[T + 1]`, `binding`; numbers from m on are those of the negated types.
    - `kleene[m]`: whether an operand binds one or more events.
    - `gap[k]`: where a type is negated: before operand `gap`, at m after the last one.
    - `local`: predicates per operand and negated type.
    - `pairs`: list a * m + b has the conditions between operands a (left) and b; `compared[m, m]` tells where one is.
    """

    binding_ptr: Ints
    binding: Ints
    kleene: Flags
    gap: Ints
    local: Predicates
    pairs: Predicates
    compared: Flags


def build_detection_tables(clause: DetectionClause, schema: Schema, columns: Columns) -> DetectionTables:
    """Tables of a clause; columns that it needs are added to `columns`. Raises `QueryError` for bad comparisons."""
    m = len(clause.operands)
    everything: list[ClauseOperand | NegatedType] = [*clause.operands, *clause.negated]
    pairs: list[list[Comparison]] = [[] for _ in range(m * m)]
    for condition in clause.conditions:
        predicate = condition.predicate
        pairs[condition.left * m + condition.right].append(predicate)
        flipped = replace(predicate, left=predicate.right, op=predicate.op.flipped, right=predicate.left)
        pairs[condition.right * m + condition.left].append(flipped)
    binding_ptr, binding = bindings([one.type for one in everything], schema)
    return DetectionTables(
        binding_ptr,
        binding,
        np.array([operand.kleene for operand in clause.operands], np.bool_),
        np.array([negation.gap for negation in clause.negated], np.int64),
        predicate_tables([one.predicates for one in everything], columns),
        predicate_tables(pairs, columns),
        np.array([bool(row) for row in pairs], np.bool_).reshape(m, m),
    )
