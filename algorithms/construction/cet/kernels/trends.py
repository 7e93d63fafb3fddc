"""Output of CET kernels: complete trends as events, or their number and digest, and counted work (dissertation
Table 5.1).
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.trend_hash import Hashes

TRENDS, WRITTEN = 0, 1
TRAVERSALS, UPDATES = 0, 1


class FoundTrends(NamedTuple):
    """Complete trends of one window, owned by `algorithms.construction.cet.detector.Detector`.

    `offsets[m + 1]`, `positions[n]`: trends as rows; both are empty if trends are only counted and digested.
    `size`: TRENDS and events WRITTEN since the rows were last taken. `digest[1]`: sum of all hashes.
    """

    offsets: Ints
    positions: Ints
    size: Ints
    digest: Hashes


@inlined
def full(length: int, trends: int, written: int, output: FoundTrends) -> bool:
    """Whether rows are written and there is no space for another trend of this length."""
    return len(output.offsets) > 0 and (trends + 2 > len(output.offsets) or written + length > len(output.positions))
