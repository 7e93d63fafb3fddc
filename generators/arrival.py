"""The arrival of events: the time stamp of event i as an exact, never decreasing function of i.

Nothing here is random, so the time stamps of a slice need no other slice.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cepbench.events.units import NANOSECONDS


def ticks_per_second(unit: str) -> Fraction:
    """Time units in a second."""
    return Fraction(NANOSECONDS["s"], NANOSECONDS[unit])


SURGE_PARTS = 10
"""A surge lasts for one of so many parts of its period."""


class Arrival(ABC):
    """Time stamps in the stream's unit; `block` consecutive events share the time stamp of the first of them."""

    block: int

    @abstractmethod
    def at(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Time stamps of increasing ordinals that span less than 2^22 (a slice and two blocks)."""

    def times(self, start: int, n: int) -> NDArray[np.int64]:
        """Time stamps of events start..start+n-1, int64[n]."""
        if self.block == 1:
            return self.at(np.arange(start, start + n, dtype=np.int64))
        first, last = start // self.block, (start + n - 1) // self.block
        stamps = self.at(np.arange(first, last + 1, dtype=np.int64) * self.block)
        skipped = start - first * self.block
        return np.repeat(stamps, self.block)[skipped : skipped + n]


@dataclass(frozen=True)
class ConstantRate(Arrival):
    """Event i arrives at i / rate seconds, rounded down to a whole unit."""

    rate: Fraction
    unit: str
    block: int = 1

    def at(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """floor(i * ticks / rate), exactly: only the distance to the first ordinal is multiplied in 64 bits."""
        per_event = ticks_per_second(self.unit) / self.rate
        numerator, denominator = per_event.numerator, per_event.denominator
        first = int(ordinals[0])
        base, carry = divmod(first * numerator, denominator)
        whole, part = divmod(numerator, denominator)
        steps = ordinals - first
        # part < denominator <= MAX_RATE * MAX_DENOMINATOR = 10^12 < 2^40, and steps < 2^22: below 2^62.
        times = (steps * part + carry) // denominator
        times += steps * whole
        times += base
        return times


@dataclass(frozen=True)
class RisingRate(Arrival):
    """The rate rises linearly from `start` to `end` events/s within `seconds`, and would continue to rise."""

    start: float
    end: float
    seconds: float
    unit: str
    block: int = 1

    @property
    def gain(self) -> float:
        """The increase of the rate, in events per second each second."""
        return (self.end - self.start) / self.seconds

    def before(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Events that have arrived before each of `seconds` (the integral of the rate)."""
        return (self.start + self.gain / 2 * seconds) * seconds

    def after(self, ordinals: NDArray[np.int64], ticks: float = 1.0) -> NDArray[np.float64]:
        """The inverse of `before`, in `ticks` per second.

        Each step of the formula is monotone in float64, hence so is the result.
        """
        i: NDArray[np.float64] = ordinals.astype(np.float64)
        if self.gain == 0.0:
            return i * ticks / self.start
        seconds: NDArray[np.float64] = (np.sqrt(self.start * self.start + 2 * self.gain * i) - self.start) / self.gain
        return seconds * ticks

    def at(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rounded down to a whole unit."""
        return np.floor(self.after(ordinals, float(ticks_per_second(self.unit)))).astype(np.int64)


@dataclass(frozen=True)
class SurgingRate(Arrival):
    """A rate that is `surge` times as high in the first tenth of each `period` seconds as in the rest of it.

    Each period has as many events as at the `steady` rate.
    """

    steady: ConstantRate
    surge: float
    period: float
    block: int = 1

    def at(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """The steady time stamps, moved within their periods; monotone, since each step of the formula is."""
        ticks = max(SURGE_PARTS, round(self.period * float(ticks_per_second(self.steady.unit))))
        surging = ticks // SURGE_PARTS
        split = ticks * self.surge * surging / (self.surge * surging + ticks - surging)
        periods, within = np.divmod(self.steady.at(ordinals), ticks)
        early, late = surging / split, (ticks - surging) / (ticks - split)
        moved = np.where(within < split, within * early, surging + (within - split) * late)
        return periods * ticks + np.minimum(np.floor(moved).astype(np.int64), ticks - 1)
