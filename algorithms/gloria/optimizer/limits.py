"""Limits of the search for a plan: time, and entries of tables."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class SearchLimitReached(Exception):
    """The search reached its limit of time or of table entries; the message says which."""


class TablesTooLarge(SearchLimitReached):
    """The pools depend on one another too much for the tables of elimination."""


@dataclass(frozen=True)
class SearchLimits:
    """Seconds after the limits are created; the most combinations of plans of the pools before a pool; and the most
    entries of the tables of edges that come to one pool.
    """

    seconds: float
    combinations: int = 2**10
    entries: int = 2**21
    started: float = field(default_factory=time.perf_counter)

    def check(self) -> None:
        """Raises `SearchLimitReached` after `seconds`."""
        if time.perf_counter() - self.started > self.seconds:
            raise SearchLimitReached(f"{self.seconds:g} s")
