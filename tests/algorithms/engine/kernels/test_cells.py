"""Where 64 bits end."""

import itertools

import numpy as np
import pytest

from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.compilation import kernel

BORDER = [2**31, 2**32, 2**33 - 1, 3037000499, 4294967291, 6700417 * 641, 2**63, 2**64 - 2**32, 2**64 - 1]
BORDER.append(0x5555555555555555)
NUMBERS = sorted({n + d for n in [*BORDER, 0, 1, 2, 3, 641] for d in (-1, 0, 1) if 0 <= n + d < 2**64})


@kernel
def product_exceeds(a: np.uint64, b: np.uint64) -> bool:
    return cells.product_exceeds(a, b)


@kernel
def sum_exceeds(total: np.uint64, more: np.uint64) -> bool:
    return cells.sum_exceeds(total, more)


@pytest.mark.parametrize("a", NUMBERS)
def test_products_and_sums_beyond_64_bits(a: int) -> None:
    for b in NUMBERS:
        assert product_exceeds(np.uint64(a), np.uint64(b)) == (a * b >= 2**64)
        assert sum_exceeds(np.uint64((a + b) % 2**64), np.uint64(b)) == (a + b >= 2**64)


def test_quotients_of_the_range_are_the_border() -> None:
    for a, d in itertools.product([3, 5, 17, 257, 641, 65537, 2**32 + 1, *NUMBERS[2:]], (0, 1)):
        assert product_exceeds(np.uint64(a), np.uint64((2**64 - 1) // a + d)) == bool(d)
