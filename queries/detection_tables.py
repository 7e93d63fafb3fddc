"""A clause of detection as arrays: what kernels read. Nothing is compiled per query."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cepbench.events.schema import Schema
from cepbench.queries.detection import DetectionClause
from cepbench.queries.model import Comparison
from cepbench.queries.tables import Columns, Flags, Ints, Predicates, bindings, predicate_tables


class DetectionTables(NamedTuple):
    """One clause of m operands and k negated types over a stream's type codes. Lists are CSR: `x_ptr[i]:x_ptr[i + 1]`.

    - what an event of a type may be: `binding_ptr[T + 1]`, `binding`: numbers below e are types of operands, those from
      e on are the negated types. `operand[e]` has that type among its alternatives.
    - `kleene[m]`: whether an operand binds one or more events.
    - `gap[k]`: where a type is negated: before operand `gap`, at m after the last one.
    - `local`: predicates per type of an operand and negated type.
    - `pairs`: list a * m + b has the conditions between operands a (left) and b; `compared[m, m]` tells where one is.
    """

    binding_ptr: Ints
    binding: Ints
    operand: Ints
    kleene: Flags
    gap: Ints
    local: Predicates
    pairs: Predicates
    compared: Flags


def build_detection_tables(clause: DetectionClause, schema: Schema, columns: Columns) -> DetectionTables:
    """Tables of a clause; columns that it needs are added to `columns`. Raises `QueryError` for bad comparisons."""
    m = len(clause.operands)
    bound = [(number, one) for number, operand in enumerate(clause.operands) for one in operand.either]
    types = [*(one.type for _, one in bound), *(one.type for one in clause.negated)]
    predicates = [*(one.predicates for _, one in bound), *(one.predicates for one in clause.negated)]
    pairs: list[list[Comparison]] = [[] for _ in range(m * m)]
    for condition in clause.conditions:
        predicate = condition.predicate
        pairs[condition.left * m + condition.right].append(predicate)
        flipped = replace(predicate, left=predicate.right, op=predicate.op.flipped, right=predicate.left)
        pairs[condition.right * m + condition.left].append(flipped)
    binding_ptr, binding = bindings(types, schema)
    return DetectionTables(
        binding_ptr,
        binding,
        np.array([number for number, _ in bound], np.int64),
        np.array([operand.kleene for operand in clause.operands], np.bool_),
        np.array([negation.gap for negation in clause.negated], np.int64),
        predicate_tables(predicates, columns),
        predicate_tables(pairs, columns),
        np.array([bool(row) for row in pairs], np.bool_).reshape(m, m),
    )
