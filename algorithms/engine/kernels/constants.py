"""Constants that the kernels of all systems share."""

from __future__ import annotations

import numpy as np

from cepbench.queries.model import Semantics

ANY, NEXT, CONTIGUOUS = range(3)
SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}
"""The semantics as numbers."""

NONE = -1
"""The number of no object: of no block, list, vertex or condition."""
END = np.uint64(2**64 - 1)
"""Ends a list of unsigned numbers. A loop to it is not vectorized, which would cost more than short lists take."""

NEVER = -1
"""A time before all others."""
LATEST = 2**63 - 1
"""A time after all others."""
