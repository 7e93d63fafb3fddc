"""Random predicates over the attributes of a fixed schema."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from cepbench.events.schema import Kind
from cepbench.queries.model import (
    TIME,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    In,
    Inverse,
    Length,
    Local,
    Number,
    Op,
    Operand,
    Relation,
    Term,
)
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature

STRINGS = ("", "u", "v", "w")
"""The empty string represents null."""
ATTRIBUTES = {"g": Kind.INT, "h": Kind.INT, "x": Kind.INT, "y": Kind.FLOAT, "s": Kind.STRING}
"""Grouping attribute, equivalence attribute, and one attribute of each kind."""

Places = tuple[str, str]
"""The names of two events of a pattern."""

_ORDERED = (Op.LT, Op.LE, Op.GT, Op.GE)
_CONSTANTS: tuple[Number, ...] = (-1, 0, 1, 2, 0.5, 1.25)
_TIMES = (3, 9, 10, 35, 10**12 + 5)
"""Some events of a stream are earlier than one of these, others are later (`random_streams`)."""
_SMALL: tuple[Number, ...] = (-3, -1, 1, 2, 4, 0.5, -1.25)
_LARGE = (2**62, -(2**62), 2**63 - 1, -(2**63))
"""Added to the largest values of a stream, they leave 64 bits."""


def random_local(draw: Draw, name: str) -> Local:
    """A condition on the events of a name."""
    return Local(name, _combination(draw) if draw.has(Feature.LOGIC, 0.25) else _relation(draw))


def random_comparison(draw: Draw, pair: Places, ordered: bool) -> Comparison:
    """A predicate on two events; `ordered` ones select a range of values, others possibly a few."""
    random = draw.random
    left, right = pair
    is_next = random.random() < 0.5
    negative = 0.9 if Feature.NEGATIVE_FACTOR in draw.wanted else 0.1
    if Feature.NEGATIVE_FACTOR in draw.banned:
        negative = 0.0
    timed, shifted = draw.has(Feature.TIME, 0.15, wanted=0.8), draw.has(Feature.OFFSET, 0.2, wanted=0.8)
    if not ordered and random.random() < 0.3 and not (negative > 0.5 or timed or shifted):
        return Comparison(Operand(left, "s"), random.choice((Op.EQ, Op.NE)), Operand(right, "s"), is_next)
    if timed:
        first, second = random.choice(((TIME, TIME), (TIME, TIME), (TIME, TIME), (TIME, "x"), ("y", TIME)))
        negative /= 3
    else:
        first, second = random.choice((("x", "x"), ("x", "x"), ("y", "y"), ("x", "y"), ("y", "x")))
    terms = Term(first, _factor(random, negative)), Term(second, _factor(random, negative / 2))
    if shifted:
        terms = _shifted(random, *terms)
    left_side, right_side = (
        Operand(name, term.attribute, term.factor, term.offset) for name, term in zip(pair, terms, strict=True)
    )
    return Comparison(left_side, random.choice(_ORDERED if ordered else tuple(Op)), right_side, is_next)


def _combination(draw: Draw) -> Condition:
    """Conditions joined by OR, the inverse of one, or a list of values."""
    random = draw.random
    kind = random.choice(("in", "or", "or", "not"))
    if kind == "in":
        return _membership(random)
    if kind == "not":
        return Inverse(random.choice((_relation, _conjunction, _alternatives))(draw))
    return _alternatives(draw)


def _alternatives(draw: Draw) -> Condition:
    parts = [_conjunction(draw) if draw.random.random() < 0.2 else _relation(draw) for _ in range(2)]
    if draw.random.random() < 0.4:
        parts.append(draw.random.choice((Inverse(_relation(draw)), _membership(draw.random))))
    return AnyOf(tuple(parts))


def _conjunction(draw: Draw) -> Condition:
    return AllOf((_relation(draw), _relation(draw)))


def _membership(random: Random) -> In:
    attribute = random.choice(("x", "y", "s", TIME))
    if attribute == "s":
        return In("s", tuple(random.sample((*STRINGS[1:], "unseen"), random.randint(1, 3))))
    if attribute == TIME:
        return In(TIME, (*random.sample(_TIMES, 2), Length(Fraction(8), "s")))
    return In(attribute, tuple(random.sample(_CONSTANTS, random.randint(1, 4))))


def _relation(draw: Draw) -> Relation:
    """A comparison of an attribute with a constant, or with another attribute of the same event."""
    random = draw.random
    if draw.has(Feature.TWO_ATTRIBUTES, 0.25, wanted=0.8):
        first, second = random.choice((("x", "y"), ("y", "x"), ("x", "g"), ("x", "x"), (TIME, "x"), ("y", TIME)))
        left, right = Term(first, _factor(random, 0.1)), Term(second, _factor(random, 0.1))
        if first == second or random.random() < 0.3:
            left, right = _shifted(random, left, right)
        if left != right:
            return Relation(left, random.choice(tuple(Op)), right)
    attribute = random.choice(("x", "x", "x", "y", "y", "s", "s", TIME))
    if attribute == "s":
        text = random.choice((*STRINGS[1:], "unseen"))
        return Relation(Term("s"), random.choice((Op.EQ, Op.NE, Op.NE)), text)
    if attribute == TIME:
        time = random.choice(_TIMES)
        return Relation(Term(TIME), random.choice(tuple(Op)), random.choice((time, _length(random, time))))
    term = Term(attribute, _factor(random, negative=0.1))
    if random.random() < 0.15:
        term = replace(term, offset=random.choice((*_SMALL, *_LARGE)))
    return Relation(term, random.choice(tuple(Op)), random.choice(_CONSTANTS))


def _shifted(random: Random, left: Term, right: Term) -> tuple[Term, Term]:
    """The terms with an offset on one side, or with small ones on both."""
    side = random.randrange(3)
    if left.attribute == right.attribute == TIME:
        seconds = random.choice((1, 2, 3, 5))
        offset: Number | Length = random.choice((seconds, -seconds, _length(random, seconds), 1.5))
    else:
        offset = random.choice((*_SMALL, *_SMALL, *_LARGE))
    if side == 0 or (isinstance(offset, int) and abs(offset) > 2**32):  # two large ones do not fit into 64 bits
        return (replace(left, offset=offset), right) if random.random() < 0.5 else (left, replace(right, offset=offset))
    if side == 1:
        return left, replace(right, offset=offset)
    return replace(left, offset=random.choice(_SMALL)), replace(right, offset=offset)


def _length(random: Random, seconds: int) -> Length:
    """A number of seconds, in one of several units."""
    factor, unit = random.choice(((Fraction(1), "s"), (Fraction(1000), "ms"), (Fraction(1, 60), "min")))
    return Length(seconds * factor, unit)


def _factor(random: Random, negative: float) -> Number:
    if random.random() < negative:
        return random.choice((-1, -2, -0.5))
    return random.choice((1, 1, 1, 1, 2, 0.5, 1.1))
