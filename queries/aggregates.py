"""The channels in which every algorithm propagates a query's aggregates (dissertation Theorem 12.1).

Each RETURN item is computed from a few channels with one algebra, so an algorithm needs no case per function:

- *ring* channels are sums: channel 0 is COUNT(*); the others add, for each event bound to a name, a weight times the
  number of trends: 1 for COUNT(E), the attribute for SUM over integers, its magnitude to detect overflow exactly.
- *real* channels are float sums, weighted in the same way.
- *least* channels are minima of order-preserving int64 keys; MAX is the minimum of the inverted key.

docs/semantics.md, Numbers, defines overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from cepbench.events.schema import Kind, Schema
from cepbench.queries.errors import QueryError
from cepbench.queries.model import AggregateOf, Aggregates, CountAll, CountOf, Function, Item

NO_VALUE = 2**63 - 1
"""The key of a least channel without events; also that of the greatest integer, and of the least for MAX."""
MOST_RING = 64
"""Ring channels: each has an overflow bit."""


class Transform(StrEnum):
    """The type of the kernel column of an attribute: float64 for `REAL`, otherwise int64."""

    INT = "int"
    MAGNITUDE = "magnitude"
    KEY = "key"
    INVERTED_KEY = "inverted key"
    REAL = "real"


@dataclass(frozen=True)
class Column:
    """A column that kernels read."""

    attribute: str
    transform: Transform


@dataclass(frozen=True)
class Channel:
    """A weight per event bound to `name`: the column, or 1 when there is none (COUNT)."""

    name: str
    column: Column | None


@dataclass(frozen=True)
class Layout:
    """Channels of one query: `ring[0]` is COUNT(*) and belongs to no event (name '')."""

    ring: tuple[Channel, ...]
    real: tuple[Channel, ...]
    least: tuple[Channel, ...]

    def ring_of(self, name: str, column: Column | None) -> int:
        """Index of a ring channel."""
        return self.ring.index(Channel(name, column))

    def real_of(self, name: str, attribute: str) -> int:
        """Index of a real channel."""
        return self.real.index(Channel(name, Column(attribute, Transform.REAL)))

    def least_of(self, name: str, attribute: str, transform: Transform) -> int:
        """Index of a least channel."""
        return self.least.index(Channel(name, Column(attribute, transform)))


COUNT_ALL = Channel("", None)


def layout(
    returns: Aggregates,
    schema: Schema,
    arithmetic: str,
    canonical: Callable[[str], str],
    optional: Callable[[str], bool],
) -> Layout:
    """Channels for the items of `returns`.

    `canonical` maps a name to one for the same occurrences, so that equal aggregates share a channel. `optional` says
    whether a match may bind no event to a name: then COUNT(E) distinguishes MIN and MAX without events from those that
    are equal to `NO_VALUE`. In float arithmetic all sums are real channels; in modular arithmetic sums of integers are
    ring channels.
    """
    ring: dict[Channel, None] = {COUNT_ALL: None}
    real: dict[Channel, None] = {}
    least: dict[Channel, None] = {}
    for item in returns.items:
        for family, channel in _channels(item, schema, arithmetic, canonical, optional):
            {"ring": ring, "real": real, "least": least}[family][channel] = None
    if len(ring) > MOST_RING:
        raise QueryError(f"RETURN needs {len(ring)} counts and sums; at most {MOST_RING} are kept, so split the query")
    return Layout(tuple(ring), tuple(real), tuple(least))


def sums_in_ring(kind: Kind, arithmetic: str) -> bool:
    """Whether SUM over an attribute of this kind is a ring channel."""
    return kind is Kind.INT and arithmetic == "modular"


def _channels(
    item: Item,
    schema: Schema,
    arithmetic: str,
    canonical: Callable[[str], str],
    optional: Callable[[str], bool],
) -> list[tuple[str, Channel]]:
    match item:
        case CountAll():
            return []
        case CountOf(name):
            return [("ring", Channel(canonical(name), None))]
        case AggregateOf(function, name, attribute):
            kind = schema.kinds[attribute]
            if kind is Kind.STRING:
                raise QueryError(f"{item} needs a number, but {attribute!r} is a string")
            name = canonical(name)
            count = ("ring", Channel(name, None))
            if function in (Function.MIN, Function.MAX):
                transform = Transform.KEY if function is Function.MIN else Transform.INVERTED_KEY
                least = ("least", Channel(name, Column(attribute, transform)))
                return [count, least] if optional(name) else [least]
            if sums_in_ring(kind, arithmetic):
                total = ("ring", Channel(name, Column(attribute, Transform.INT)))
                return [count, total, ("ring", Channel(name, Column(attribute, Transform.MAGNITUDE)))]
            return [count, ("real", Channel(name, Column(attribute, Transform.REAL)))]
