"""Random predicates over the attributes of a fixed schema."""

from __future__ import annotations

from random import Random

from cepbench.events.schema import Kind
from cepbench.queries.model import Comparison, Local, Number, Op, Operand
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature

STRINGS = ("", "u", "v", "w")
"""The empty string represents null."""
ATTRIBUTES = {"g": Kind.INT, "h": Kind.INT, "x": Kind.INT, "y": Kind.FLOAT, "s": Kind.STRING}
"""Grouping attribute, equivalence attribute, and one attribute of each kind."""

Places = tuple[str, str]
"""The names of two events of a pattern."""

_ORDERED = (Op.LT, Op.LE, Op.GT, Op.GE)


def random_local(draw: Draw, name: str) -> Local:
    """A predicate on the events of a name."""
    random = draw.random
    attribute = random.choice(("x", "x", "y", "s"))
    if attribute == "s":
        return Local(Operand(name, "s"), random.choice((Op.EQ, Op.NE, Op.NE)), random.choice((*STRINGS[1:], "unseen")))
    constant: Number = random.choice((-1, 0, 1, 2, 0.5, 1.25))
    return Local(Operand(name, attribute, _factor(random, negative=0.1)), random.choice(tuple(Op)), constant)


def random_comparison(draw: Draw, pair: Places, ordered: bool) -> Comparison:
    """A predicate on two events; `ordered` ones select a range of values, others possibly a few."""
    random = draw.random
    left, right = pair
    is_next = random.random() < 0.5
    negative = 0.9 if Feature.NEGATIVE_FACTOR in draw.wanted else 0.1
    if Feature.NEGATIVE_FACTOR in draw.banned:
        negative = 0.0
    if not ordered and random.random() < 0.3 and not negative > 0.5:
        return Comparison(Operand(left, "s"), random.choice((Op.EQ, Op.NE)), Operand(right, "s"), is_next)
    first, second = random.choice((("x", "x"), ("x", "x"), ("y", "y"), ("x", "y"), ("y", "x")))
    left_side = Operand(left, first, _factor(random, negative))
    right_side = Operand(right, second, _factor(random, negative / 2))
    return Comparison(left_side, random.choice(_ORDERED if ordered else tuple(Op)), right_side, is_next)


def _factor(random: Random, negative: float) -> Number:
    if random.random() < negative:
        return random.choice((-1, -2, -0.5))
    return random.choice((1, 1, 1, 1, 2, 0.5, 1.1))
