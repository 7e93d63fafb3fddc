"""The common base of the detectors of complete trends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from cepbench.algorithms.cet.graph import CetGraph
from cepbench.algorithms.cet.kernels.trends import TRAVERSALS, UPDATES
from cepbench.algorithms.cet.limit import MemoryLimit
from cepbench.algorithms.cet.output import Output
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.stacks import COMPLETE
from cepbench.algorithms.kernels.trend_hash import Hashes, mix_positions
from cepbench.algorithms.rows import QueryRows


class Detector(ABC):
    """Detects the complete trends of one key, window by window, in its graph."""

    pointers: ClassVar[int] = COMPLETE
    """The pointers between events of the graph (`kernels.stacks`)."""

    def __init__(self, limit: MemoryLimit, *, summarised: bool) -> None:
        self.limit = limit
        self.output = Output(summarised)
        self.work = np.zeros(2, np.int64)

    @abstractmethod
    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Returns the complete trends of a window that holds all vertices; the next window starts at time `following`.

        Raises `NotEnoughMemory`.
        """

    @property
    def bytes(self) -> int:
        """Bytes of the trends that are kept for the next window."""
        return 0

    @property
    def trends(self) -> int:
        """Number of the trends that are kept for the next window."""
        return 0

    def forget(self) -> None:
        """Drops the trends that are kept for the next window."""
        return

    def details(self) -> Mapping[str, float]:
        """Complete trends so far, and the operations of Table 5.1: traversed edges and updates of trends."""
        return {
            "trends": float(self.output.trends),
            "traversals": float(self.work[TRAVERSALS]),
            "updates": float(self.work[UPDATES]),
        }


def terms_of(place: Ints) -> Hashes:
    """The hash of each vertex."""
    terms = np.empty(len(place), np.uint64)
    mix_positions(place, terms)
    return terms
