"""Lanes that keep aggregates in cells of the open windows; and events, or blocks of them, in places of an arena."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.online.kernels.lifecycle import OpenWindows, Slots, Windowed, new_state
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class PlaceLanes(CellLanes):
    """Aggregates in cells of open windows, one for each of `slots`; `own` makes a lane of its `windows`.

    Keys store events, or blocks of them, in linked lists of places of an arena that all keys share. An arena of N
    places has a stack `free[N]` of the `left[0]` free places, and N times as many `cells`, `ints` and `reals` as a
    place has. The arrays of the names `by_place` have places as their first axis.
    """

    by_place: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        query: CompiledQuery,
        part: Part,
        window: Window,
        slots: Slots,
        semantics: int,
        own: Callable[[OpenWindows], Any],
        sizes: Sizes,
    ) -> None:
        windows = new_state(window.overlap, slots, query.layout, query.arithmetic, sizes.clock())
        super().__init__(query, window, Windowed(part.tables, slots, semantics, sliding(window)), own(windows), sizes)
        self.negations = negations_of(part.negations, window, query.columns)

    @property
    def clocks(self) -> Ints:
        clocks: Ints = self.lanes.windows.clock
        return clocks

    @abstractmethod
    def new_arena(self, places: int) -> Any:
        """An arena whose places are all free."""

    def grow(self, key: int) -> None:
        """Doubles the number of places."""
        places, free = len(self.arena.free), self.arena.free[: self.arena.left[0]]
        self._move(2 * places, slice(places), self._of_places(), np.append(free, np.arange(places, 2 * places)))

    def packed(self, live: Ints) -> Any:
        places = len(self.arena.free)
        used = np.setdiff1d(np.arange(places), self.arena.free[: self.arena.left[0]])
        return places, used, [array[used] for array in self._of_places()]

    def unpacked(self, live: Ints, packed: Any) -> Any:
        places, used, kept = packed
        self._move(places, used, kept, np.setdiff1d(np.arange(places), used))
        return self.arena

    def _move(self, places: int, to: Ints | slice, kept: Sequence[NDArray[Any]], free: Ints) -> None:
        """Allocates an arena of `places`, and copies the kept contents to the places `to`."""
        self.arena = self.new_arena(places)
        for array, some in zip(self._of_places(), kept, strict=True):
            array[to] = some
        self.arena.left[0] = len(free)
        self.arena.free[: len(free)] = free

    def _of_places(self) -> list[NDArray[Any]]:
        """Views of the arrays with places as their first axis."""
        arena, places = self.arena, len(self.arena.free)
        found = [getattr(arena, name) for name in self.by_place]
        found += [array.reshape(places, len(array) // places, array[0].size) for array in arena.cells]
        found += [
            array.reshape(len(array), places, array.shape[1] // places).swapaxes(0, 1)
            for array in (arena.ints, arena.reals)
        ]
        return found
