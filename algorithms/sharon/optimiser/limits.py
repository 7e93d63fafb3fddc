"""What the search for a plan may cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

MOST_VERTICES = 2**13
MOST_BYTES = 2**28


class LimitReached(Exception):
    """The search has used up its time or its room; `what` says which."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class TimeLimitReached(LimitReached):
    """The search has used up its time."""


@dataclass(frozen=True)
class Limits:
    """Seconds from the making of the limits on, vertices of a graph, and bytes of plans that are kept at a time."""

    seconds: float
    vertices: int = MOST_VERTICES
    bytes: int = MOST_BYTES
    started: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds that are left; negative when the time is over."""
        return self.seconds - (time.perf_counter() - self.started)

    def check_time(self) -> None:
        """Raises `TimeLimitReached`."""
        if self.left < 0:
            raise TimeLimitReached(f"the limit of {self.seconds:g} s")

    def check_vertices(self, count: int) -> None:
        """Raises `LimitReached`."""
        if count > self.vertices:
            raise LimitReached(f"{self.vertices} candidates and options")

    def check_bytes(self, count: int) -> None:
        """Raises `LimitReached`."""
        if count > self.bytes:
            raise LimitReached(f"{self.bytes / 2**20:g} MB of plans")
