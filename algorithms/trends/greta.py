"""GRETA, event by event (dissertation Chapters 10-12): Algorithm 6 is `trends.online.kernels.visits`."""

from __future__ import annotations

from typing import ClassVar

from cepbench.algorithms.base import Plan
from cepbench.algorithms.compose import IndependentAlgorithm
from cepbench.algorithms.engine.lanes import Lanes
from cepbench.algorithms.trends.online.granularity import EVENT
from cepbench.algorithms.trends.online.trends import trend_lanes, unsupported_under_any
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Query


class Greta(IndependentAlgorithm):
    """Propagates aggregates along the edges of a graph of all matched events (Algorithm 6, Theorem 11.5).

    Every event visits each of its predecessors in the graph: O(n**2 k) time, O(n k) space for n events per window of
    which each lies in k windows. One graph (`online.kernels.store`) serves all overlapping windows; vertices lie in
    time panes by type and, for range predicates, in the order of an attribute (Section 11.4). Graphs of negative
    sub-patterns are summarized by the latest START of their finished trends, which invalidates the same events (Section
    11.2, `engine.kernels.negation`).

    Departures: a sorted block of at most 256 vertices replaces the tree index; simultaneous events are one
    stream transaction, in which none precedes another; for a trailing NOT of one event, finished trends are one sum,
    which that event resets. Extensions of Chapter 12 (several occurrences of a type, optional, star, minimal length,
    OR, AND, all aggregates) come with the position automaton.
    """

    name: ClassVar[str] = "greta"
    paper: ClassVar[str] = "Poppe et al., VLDB 2018; Poppe 2018 (dissertation), Chapters 10-12"

    def unsupported(self, query: Query) -> str | None:
        """Match queries, pairwise predicates, semantics other than skip-till-any-match (Table 19.1)."""
        return unsupported_under_any("GRETA", query, " (Table 19.1)")

    def part_operator(self, plan: Plan, query: CompiledQuery, part: Part, window: Window) -> Lanes:
        """A graph with vertices for all positions."""
        return trend_lanes(query, part, window, EVENT)
