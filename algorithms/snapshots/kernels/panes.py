"""Panes of sliding windows of several kinds: records of them have `within` and `slide`."""

from __future__ import annotations

from cepbench.algorithms.kernels.compilation import inner
from cepbench.queries.records import Records


@inner
def next_edge(time: int, window: Records) -> int:
    """The first time after `time` at which some window begins or ends: the next edge of a pane that matters."""
    edge = 2**63 - 1
    for w in range(len(window)):
        within, slide = window[w].within, window[w].slide
        edge = min(edge, (time // slide + 1) * slide)
        last = (time - within) // slide + 1
        edge = min(edge, max(last, 0) * slide + within)
    return edge
