"""Limits of the search for a plan."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

MAX_VERTICES = 2**13


class LimitReached(Exception):
    """The search exceeded a limit; `what` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class TimeLimitReached(LimitReached):
    """The search exceeded its time limit."""


@dataclass(frozen=True)
class Limits:
    """Seconds since the limits were created, bytes of plans stored at a time, and number of vertices of a graph."""

    seconds: float
    bytes: int = 2**28
    vertices: int = MAX_VERTICES
    started: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Remaining seconds; negative when the time is over."""
        return self.seconds - (time.perf_counter() - self.started)

    def check_time(self) -> None:
        """Raises `TimeLimitReached`."""
        if self.left < 0:
            raise TimeLimitReached(f"the limit of {self.seconds:g} s")

    def timed(self, items: Iterable[T]) -> Iterator[T]:
        """The items, with a check of the time before each. Raises `TimeLimitReached`."""
        for item in items:
            self.check_time()
            yield item

    def check_vertices(self, count: int) -> None:
        """Raises `LimitReached`."""
        if count > self.vertices:
            raise LimitReached(f"{self.vertices} candidates and options")

    def check_bytes(self, count: int) -> None:
        """Raises `LimitReached`."""
        if count > self.bytes:
            raise LimitReached(f"{self.bytes / 2**20:g} MB of plans")
