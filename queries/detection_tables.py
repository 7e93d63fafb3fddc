"""A clause of detection as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.events.schema import Schema
from cepbench.queries.detection import DetectionClause
from cepbench.queries.model import Comparison
from cepbench.queries.tables import Columns, Ints, Predicates, bindings, flag_rows, predicate_tables


class DetectionTables(NamedTuple):
    """One clause of m operands over a stream's type codes, without its negations. Lists are CSR.

    - the operand types of an event's type: `binding_ptr[T + 1]`, `binding`. `operand[e]` has type e among its
      alternatives.
    - `local`: per type of an operand, the row of `flags` that says which events pass its conditions, or -1.
    - `pairs`: list a * m + b has the conditions between operands a (left) and b.
    """

    binding_ptr: Ints
    binding: Ints
    operand: Ints
    local: Ints
    pairs: Predicates


def build_detection_tables(clause: DetectionClause, schema: Schema, columns: Columns) -> DetectionTables:
    """Tables of a clause; columns that it needs are added to `columns`. Raises `QueryError` for bad comparisons."""
    m = len(clause.operands)
    bound = [(number, event) for number, operand in enumerate(clause.operands) for event in operand.either]
    pairs: list[list[Comparison]] = [[] for _ in range(m * m)]
    for condition in clause.conditions:
        predicate = condition.predicate
        pairs[condition.left * m + condition.right].append(predicate)
        pairs[condition.right * m + condition.left].append(predicate.exchanged)
    return DetectionTables(
        *bindings([event.type for _, event in bound], schema),
        np.array([number for number, _ in bound], np.int64),
        flag_rows([event.predicates for _, event in bound], columns),
        predicate_tables(pairs, columns),
    )
