"""Members that may share, directly or through others: those that have a key in common, and what they have keys with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from cepbench.algorithms.snapshots.members import SetMember, aggregate_class
from cepbench.queries.aggregates import COUNT_ALL, MOST_RING


def connected(members: Sequence[SetMember], keys: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """A partition of members by the `keys` of each, if their aggregates are of one class.

    A set takes no more members than have `MOST_RING` counts and sums together, one that all of them keep counted once.
    """
    root = list(range(len(members)))
    kept = [_counts_and_sums(member) for member in members]

    def find(m: int) -> int:
        while root[m] != m:
            root[m] = root[root[m]]
            m = root[m]
        return m

    owner: dict[tuple[object, Hashable], int] = {}
    for m, member in enumerate(members):
        class_ = aggregate_class(member.query)
        for key in keys[m]:
            one, other = sorted((find(m), find(owner.setdefault((class_, key), m))))
            if one != other and len(kept[one] | kept[other]) <= MOST_RING:
                root[other] = one
                kept[one] |= kept[other]
    sets: dict[int, list[int]] = {}
    for m in range(len(members)):
        sets.setdefault(find(m), []).append(m)
    return list(sets.values())


def _counts_and_sums(member: SetMember) -> set[object]:
    seen: Counter[object] = Counter()
    found: set[object] = set()
    for channel in member.query.layout.ring:
        key = COUNT_ALL if channel == COUNT_ALL else channel.column
        found.add((key, seen[key]))
        seen[key] += 1
    return found
