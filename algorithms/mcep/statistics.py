"""What the optimiser knows of the conditions of a workload before it runs (MCEP, Section 2, Stat)."""

from __future__ import annotations

from collections.abc import Sequence

from cepbench.algorithms.mcep.planning.patterns import DetectionPattern
from cepbench.algorithms.mcep.planning.selectivities import Selectivities
from cepbench.events.statistics import Statistics


def known_selectivities(patterns: Sequence[DetectionPattern], statistics: Statistics) -> Selectivities:
    """Selectivities of the conditions of some patterns: 1 where the statistics of the stream tell nothing of them."""
    return Selectivities()
