"""The orders in which a detection clause can bind its operands: each is a pattern, since Flink's are sequences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial

from cepbench.queries.analysis import analyse
from cepbench.queries.detection import DetectionClause, clauses_of
from cepbench.queries.model import Query

MAX_FLOWS = 64
"""Maximum number of CEP operators of one job, which all are chained into one task."""


@dataclass(frozen=True)
class PatternPlace:
    """A place of a pattern: binds one event, or at least one with `loop`, to one of its operands."""

    operands: tuple[int, ...]
    loop: bool


def unsupported_detection(query: Query) -> str | None:
    """Why Flink cannot evaluate a detection query, in words; None if it can."""
    clauses = clauses_of(query, analyse(query).names)
    if any(clause.negated for clause in clauses):
        return "Flink's notFollowedBy lets simultaneous events follow and cannot end a pattern, so NOT is not supported"
    for clause in clauses:
        if clause.ordered:
            continue
        loops = [operand.single.type for operand in clause.operands if operand.kleene]
        if len(set(loops)) < len(loops):
            return "two Kleene operands of an AND bind the same type, which places in a sequence cannot separate"
    flows = sum(map(_number, clauses))
    if flows > MAX_FLOWS:
        return f"AND needs a pattern for each order, {flows} here, but a job of Flink has at most {MAX_FLOWS}"
    return None


def orders(clause: DetectionClause) -> Iterator[tuple[PatternPlace, ...]]:
    """The one order of a SEQ. For an AND all orders of single operands, with loops between them and around them.

    A loop binds the Kleene operands in any order, and occurs in at least one gap. If the types of operands differ,
    every match has exactly one order, that of its events in the stream.
    """
    operands = range(len(clause.operands))
    if clause.ordered:
        yield tuple(PatternPlace((operand,), clause.operands[operand].kleene) for operand in operands)
        return
    single = [operand for operand in operands if not clause.operands[operand].kleene]
    kleene = tuple(operand for operand in operands if clause.operands[operand].kleene)
    for order in permutations(single):
        for gaps in product((False, True), repeat=len(single) + 1):  # a loop before each, and after the last one
            if any(gaps) != bool(kleene):
                continue
            places: list[PatternPlace] = []
            for operand, gap in zip((*order, None), gaps, strict=True):
                places += [PatternPlace(kleene, True)] if gap else []
                places += [PatternPlace((operand,), False)] if operand is not None else []
            yield tuple(places)


def _number(clause: DetectionClause) -> int:
    """Number of orders of a clause."""
    if clause.ordered:
        return 1
    single = sum(not operand.kleene for operand in clause.operands)
    return factorial(single) * (1 if single == len(clause.operands) else 2 ** (single + 1) - 1)
