"""Predicates that are alike, whatever the queries call their events."""

from __future__ import annotations

from cepbench.queries.model import Comparison, Local


def anonymous(predicate: Local | Comparison) -> object:
    """A predicate without the names of its events, which its place tells."""
    if isinstance(predicate, Local):
        operand = predicate.operand
        return operand.attribute, operand.factor, predicate.op, predicate.constant, type(predicate.constant)
    left, right = predicate.left, predicate.right
    return left.attribute, left.factor, predicate.op, right.attribute, right.factor
