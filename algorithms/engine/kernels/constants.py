"""Constants that the kernels of all systems share."""

from __future__ import annotations

from cepbench.queries.model import Semantics

ANY, NEXT, CONTIGUOUS = range(3)
SEMANTICS = {Semantics.ANY: ANY, Semantics.NEXT: NEXT, Semantics.CONTIGUOUS: CONTIGUOUS}
"""The semantics as numbers."""

NONE = -1
"""The number of no object: of no event, node or edge."""

NEVER = -1
"""A time before all others."""
LATEST = 2**63 - 1
"""A time after all others."""
