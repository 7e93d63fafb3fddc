"""Sliding windows."""

from dataclasses import dataclass

FOREVER = 2**62
"""A window length beyond every time stamp: times are smaller, so that the end of a window is a 64-bit integer."""


@dataclass(frozen=True)
class Window:
    """Window k covers `[k * slide, (k + 1) * slide + within - slide)`, k >= 0 (docs/semantics.md, rule 6).

    Units are those of the stream's time, or events of the key if `counts_events` is set.
    """

    within: int
    slide: int
    counts_events: bool = False

    def first_at(self, point: int) -> int:
        """The smallest k whose window contains `point`."""
        return max(0, (point - self.within) // self.slide + 1)

    def last_at(self, point: int) -> int:
        """The largest k whose window contains `point`; below `first_at` if windows leave gaps and `point` is in one."""
        return point // self.slide

    def start(self, k: int) -> int:
        """First unit of window k."""
        return k * self.slide

    def end(self, k: int) -> int:
        """First unit after window k."""
        return k * self.slide + self.within

    def ends_between(self, after: int, until: int) -> bool:
        """Whether some window ends in (after, until]."""
        if until < self.within:
            return False
        return (until - self.within) // self.slide > (after - self.within) // self.slide

    @property
    def overlap(self) -> int:
        """The maximum number of windows that contain one event."""
        return -(-self.within // self.slide)


@dataclass(frozen=True)
class TimeSlice:
    """The events of a stream at times `begin <= t < end`; the first slice begins at 0, the last one ends at `END`."""

    begin: int
    end: int


END = 2 * FOREVER - 1
"""A time by which every window has ended."""
