"""Checks whether matches in a stream exceed the maximum length of a flattened pattern, also with predicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.longest_trend import longest_trend
from cepbench.algorithms.engine.longest_match import LongerMatch
from cepbench.algorithms.engine.window_stacks import StackExecutor
from cepbench.algorithms.rows import QueryRows
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class LongestTrend(StackExecutor):
    """Finds the length of the longest match of each window, without constructing any.

    O(V + E) time for V events and E pairs that follow one another. It protects the answer of a flattened pattern and
    returns no rows. `pointers` as in `StackExecutor`.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, pointers: int, max_length: int) -> None:
        super().__init__(query, part, window, pointers)
        self.max_length = max_length

    def construct(self, k: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        """Returns no rows. Raises `LongerMatch`."""
        length = np.zeros(self.kept[0], np.int64)
        longest = longest_trend(self.window.start(k), self.valid_ends(latest), self.tables, self.stacks, length)
        if longest > self.max_length:
            raise LongerMatch(
                f"query {self.query.query.name}: a match has {longest} events, more than max_length={self.max_length}"
            )
        return []
