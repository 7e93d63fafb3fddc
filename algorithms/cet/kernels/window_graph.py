"""The CET graph of one window, as the kernels of detection and partitioning read it (dissertation Definition 5.1)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Ints


class WindowGraph(NamedTuple):
    """The live vertices of one window, 0..V-1 in time order, and the E edges between them.

    A vertex is live if it is on a path from a START event to an END event of the window. A complete trend of the window
    is a path from a vertex without in-edges to one without out-edges.

    - `time[V]`, not decreasing; `place[V]`, position in the input.
    - out-edges of v: `out[out_ptr[v]:out_ptr[v + 1]]`, ascending; in-edges likewise: `into`, by `in_ptr`.
    """

    time: Ints
    out_ptr: Ints
    out: Ints
    in_ptr: Ints
    into: Ints
    place: Ints
