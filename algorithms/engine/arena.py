"""Arenas: tables that kernels fill. A kernel owns no array: it returns the number of a full table, and `Arena.run`
doubles that table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.lanes import mapped
from cepbench.algorithms.growth import resized

_Arrays = TypeVar("_Arrays", bound=tuple[Any, ...])


class Table(NamedTuple):
    """Arrays with room for the same items along their last axis, or along others.

    Attributes
    ----------
    arrays
        Fields of the arena's named tuple: arrays, or named tuples of arrays. One may have more entries than there are
        items; these stay as many more.
    stop
        The counter of its items, such as `rows` or `waiting.rows`. Without one, all are in use.
    first
        The counter of the items that have been dropped. With one, the table is a ring: item n is at n & (room - 1), so
        the oldest items leave, and no other item moves. Its room is a power of two.
    axes
        The axes of items.
    fill
        The value of unused entries, if it is not 0.
    """

    arrays: tuple[str, ...]
    stop: str = ""
    first: str = ""
    axes: tuple[int, ...] = (-1,)
    fill: int | None = None


class Arena(Generic[_Arrays]):
    """A named tuple of arrays, some of which form tables; its field `counters` is an array of one record.

    `tables` have numbers from 1 on. Room that has never been used takes no memory, and is not pickled.
    """

    def __init__(self, arrays: _Arrays, tables: Mapping[int, Table]) -> None:
        self.arrays, self.tables = arrays, tables

    def __getstate__(self) -> dict[str, Any]:
        rooms = {number: self.room(number) for number, table in self.tables.items() if table.stop}
        packed = Arena(self.arrays, self.tables)
        for number in rooms:
            packed.resize(number, packed.used(number))
        return {**packed.__dict__, "rooms": rooms}

    def __setstate__(self, state: dict[str, Any]) -> None:
        rooms = state.pop("rooms")
        self.__dict__.update(state)
        for number, room in rooms.items():
            self.resize(number, room)

    def run(
        self, kernel: Callable[[int], tuple[int, int]], clear: Callable[[int], None] = lambda full: None, at: int = 0
    ) -> None:
        """Calls a kernel until it ends.

        `kernel(at)` continues at `at`, and returns where it stops and the number of the full table, 0 at its end. Then
        `clear` drops what is no longer needed; numbers without a table are its own. The table is doubled if more than
        half of it is still in use, or if the kernel stops at the same place again.
        """
        full = 0
        while True:
            before = at, full
            at, full = kernel(at)
            if not full:
                return
            clear(full)
            if full in self.tables:
                self.reserve(full, 2 * (self.room(full) if (at, full) == before else self.used(full)))

    def used(self, number: int) -> int:
        """Number of items of a table."""
        return len(self._items(number))

    def room(self, number: int) -> int:
        """Number of items for which a table has room."""
        table = self.tables[number]
        return int(self._arrays_of(number)[0].shape[table.axes[0]])

    def item_bytes(self, number: int) -> int:
        """Bytes of an item of a table."""
        axis = self.tables[number].axes[0]
        return sum(array.nbytes // max(array.shape[axis], 1) for array in self._arrays_of(number))

    def reserve(self, number: int, items: int) -> None:
        """Doubles a table until it has room for so many items."""
        room = max(self.room(number), 1)
        while room < items:
            room *= 2
        if room > self.room(number):
            self.resize(number, room)

    def resize(self, number: int, room: int) -> None:
        """Moves a table to arrays with room for so many items; for a ring it is rounded up to a power of two."""
        table, items = self.tables[number], self._items(number)
        room = 1 << (room - 1).bit_length() if table.first and room else room
        more = room - self.room(number)
        self._replace(number, lambda array: _resized(array, more, table, items))

    def rearrange(self, number: int, begins: Ints, to: Ints, sizes: Ints, room: int) -> None:
        """Moves lists of a table to arrays with room for so many items: `sizes[k]` items from `begins[k]` to `to[k]`.

        Room between lists is not copied, so it takes no memory.
        """
        filled = np.flatnonzero(sizes)
        lists = list(zip(begins[filled].tolist(), to[filled].tolist(), sizes[filled].tolist(), strict=True))

        def rearranged(array: NDArray[Any]) -> NDArray[Any]:
            moved = np.zeros((*array.shape[:-1], room), array.dtype)
            for source, target, size in lists:
                moved[..., target : target + size] = array[..., source : source + size]
            return moved

        self._replace(number, rearranged)

    def _items(self, number: int) -> range:
        """The numbers of the items in use."""
        table = self.tables[number]
        if not table.stop:
            return range(self.room(number))
        return range(self._counter(table.first) if table.first else 0, self._counter(table.stop))

    def _counter(self, name: str) -> int:
        owner: Any = self.arrays
        values: NDArray[Any] = owner.counters
        for field in name.split("."):
            values = values[field]
        return int(values[0])

    def _arrays_of(self, number: int) -> list[NDArray[Any]]:
        arrays: list[NDArray[Any]] = []
        for name in self.tables[number].arrays:
            mapped(arrays.append, getattr(self.arrays, name))
        return arrays

    def _replace(self, number: int, change: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        arrays: Any = self.arrays
        names = self.tables[number].arrays
        self.arrays = arrays._replace(**{name: mapped(change, getattr(arrays, name)) for name in names})


def _resized(array: NDArray[Any], more: int, table: Table, items: range) -> NDArray[Any]:
    copy = array
    for axis in table.axes:
        copy = resized(copy, more, axis, table.fill)
    if table.first:
        numbers = np.arange(items.start, items.stop)
        copy[..., numbers & (copy.shape[-1] - 1)] = array[..., numbers & (array.shape[-1] - 1)]
    return copy
