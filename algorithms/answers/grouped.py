"""The rows of one query by group: in the order of arrival, and sorted by group."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cepbench.algorithms.rows import Group, QueryRows, concatenate

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Answered:
    """Rows of a query; row i belongs to `groups[number[i]]`. Groups are sorted, and rows are ordered by group."""

    groups: list[Group]
    number: Ints
    rows: QueryRows


@dataclass
class GroupedRows:
    """Collects parts of one query's rows. Each part has one group number for all of its rows, or one per row."""

    groups: dict[Group, int] = field(default_factory=dict)
    numbers: list[int | Ints] = field(default_factory=list)
    parts: list[QueryRows] = field(default_factory=list)

    def number(self, group: Group) -> int:
        """The number of a group; a new group gets the next number."""
        return self.groups.setdefault(group, len(self.groups))

    def add(self, numbers: int | Ints, rows: QueryRows) -> None:
        """Adds rows of one group, or of several."""
        self.numbers.append(numbers)
        self.parts.append(rows)

    def merge(self, other: GroupedRows) -> None:
        """Adds all rows of `other`, which belongs to the same query."""
        own = np.array([self.number(group) for group in other.groups], np.int64)
        for numbers, rows in zip(other.numbers, other.parts, strict=True):
            self.add(int(own[numbers]) if isinstance(numbers, int) else own[numbers], rows)

    def together(self) -> Answered:
        """All rows (at least one part) with sorted groups; rows stay in the order of arrival."""
        known = list(self.groups)  # by number
        order = _order(known)
        groups = [known[number] for number in order.tolist()]
        place = np.empty(len(groups), np.int64)
        place[order] = np.arange(len(groups))
        return Answered(groups, place[self._number_of_rows()], concatenate(self.parts))

    def packed(self) -> GroupedRows:
        """The same rows in one part, which pickles faster than thousands."""
        return GroupedRows(self.groups, [self._number_of_rows()], [concatenate(self.parts)])

    def _number_of_rows(self) -> Ints:
        """The group number of each row."""
        sizes = [len(part) for part in self.parts]
        if all(isinstance(numbers, int) for numbers in self.numbers):
            return np.repeat(np.array(self.numbers, np.int64), sizes)
        many = [
            np.full(size, numbers, np.int64) if isinstance(numbers, int) else numbers
            for numbers, size in zip(self.numbers, sizes, strict=True)
        ]
        return np.concatenate(many)


def _order(groups: list[Group]) -> Ints:
    """The sort order of groups, computed by column: sorting tuples in Python takes ten times as long (measured)."""
    columns = [np.array(column, object if isinstance(column[0], str) else None) for column in zip(*groups, strict=True)]
    codes = [column if column.dtype.kind in "if" else pd.factorize(column, sort=True)[0] for column in columns]
    return np.lexsort(codes[::-1]) if codes else np.arange(len(groups))
