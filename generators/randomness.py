"""Randomness that depends on (seed, column, slice) only, never on earlier output.

Two kinds. `column_random` is a counter-based generator (Philox) for one column of one slice: columns draw from streams
of their own, so a parameter of one column (for example, the number of groups) does not change the other columns.
`hashed_uniform` is a function of a number (splitmix64): for values of an object that exists longer than a slice, such
as a vehicle's cruising speed. Streams are equal on every machine with the same version of numpy.
"""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def column_random(seed: int, column: str, index: int) -> np.random.Generator:
    """The random stream of `column` in slice `index`."""
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(crc32(column.encode()), index))
    return np.random.Generator(np.random.Philox(sequence))


def hashed_uniform(seed: int, purpose: str, things: NDArray[np.int64]) -> NDArray[np.float64]:
    """A uniform value in [0, 1) for each number in `things`; equal numbers get equal values."""
    key = np.random.SeedSequence(entropy=seed, spawn_key=(crc32(purpose.encode()),)).generate_state(1, np.uint64)[0]
    z = things.astype(np.uint64)
    z *= _GOLDEN  # unsigned arrays wrap around, as splitmix64 requires
    z += key
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    z >>= np.uint64(11)
    values: NDArray[np.float64] = z.astype(np.float64)
    values *= 2.0**-53
    return values


def zipf_weights(n: int, skew: float) -> NDArray[np.float64]:
    """Shares of n things, proportional to 1 / (rank ** skew), that sum to 1; all equal for skew 0."""
    weights: NDArray[np.float64] = np.arange(1, n + 1, dtype=np.float64) ** -skew
    weights /= weights.sum()
    return weights


def draw_codes(random: np.random.Generator, n: int, codes: int, skew: float) -> NDArray[np.int64]:
    """Draw n independent codes 0..codes-1, code k with the share `zipf_weights(codes, skew)[k]`."""
    if skew == 0.0:
        return random.integers(codes, size=n, dtype=np.int64)
    return draw_weighted(random, n, zipf_weights(codes, skew))


def draw_weighted(random: np.random.Generator, n: int, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw n independent codes 0..len(weights)-1, code k with the share weights[k]; they sum to 1."""
    codes = np.searchsorted(np.cumsum(weights), random.random(n), side="right")
    return np.minimum(codes, len(weights) - 1)  # the last sum may round below 1
