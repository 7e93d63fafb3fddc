"""How long the search for a plan may take, and how much room."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class SearchLimitReached(Exception):
    """The search has used up its time or its room; the message says which."""


class TablesTooLarge(SearchLimitReached):
    """The pools depend on one another too much for the tables of elimination."""


@dataclass(frozen=True)
class SearchLimits:
    """Seconds from the making of the limits on; the most combinations of plans of the pools before a pool; and the most
    entries of the tables of edges that come to one pool.
    """

    seconds: float
    combinations: int = 2**10
    entries: int = 2**21
    started: float = field(default_factory=time.perf_counter)

    def check(self) -> None:
        """Raises `SearchLimitReached` when the time is over."""
        if time.perf_counter() - self.started > self.seconds:
            raise SearchLimitReached(f"{self.seconds:g} s")
