"""The hash of a match, for answers that are compared without being kept (`algorithms.rows.MatchDigests`).

A match of events at input positions p1 ... pl has the polynomial hash h = sum of mixed(pi) * BASE^(l - i) modulo 2^64,
so that the hash of a concatenation follows from those of its parts: h(xy) = h(x) * BASE^|y| + h(y). The digest of a set
of matches is the sum of `finished(h)` modulo 2^64: it depends neither on their order nor on how they were put together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel

Hashes = NDArray[np.uint64]

BASE = np.uint64(0x9E3779B97F4A7C15)
_SHIFT_A, _SHIFT_B, _SHIFT_C = np.uint64(30), np.uint64(27), np.uint64(31)
_FACTOR_A, _FACTOR_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def finished(h: np.uint64) -> np.uint64:
    """The share of one match in a digest: the finalizer of splitmix64."""
    h = (h ^ (h >> _SHIFT_A)) * _FACTOR_A
    h = (h ^ (h >> _SHIFT_B)) * _FACTOR_B
    return h ^ (h >> _SHIFT_C)


@inlined
def mixed(position: int) -> np.uint64:
    """The term of one event."""
    return finished(np.uint64(position) + BASE)


@kernel
def mix_positions(positions: Ints, terms: Hashes) -> None:
    """`terms[i]` = mixed(`positions[i]`); both [n]."""
    for i in range(len(positions)):
        terms[i] = mixed(positions[i])


@kernel
def powers(into: Hashes) -> None:
    """`into[i]` = BASE^i modulo 2^64."""
    power = np.uint64(1)
    for i in range(len(into)):
        into[i] = power
        power = power * BASE


@kernel
def digest_matches(window: Ints, offsets: Ints, positions: Ints, digests: Hashes) -> None:
    """Adds each of n matches (`algorithms.rows.MatchRows`) to `digests[window[i]]`."""
    for i in range(len(window)):
        h = np.uint64(0)
        for at in range(offsets[i], offsets[i + 1]):
            h = h * BASE + mixed(positions[at])
        digests[window[i]] += finished(h)
