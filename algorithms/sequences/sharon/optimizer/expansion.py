"""Sharing conflict resolution: candidates expanded to options for fewer queries (dissertation 24.1)."""

from __future__ import annotations

from collections.abc import Iterator

from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.sharon.optimizer.limits import Limits
from cepbench.algorithms.sequences.sharon.optimizer.sharon_graph import SharonGraph, bits


def expanded_candidates(graph: SharonGraph, limits: Limits) -> tuple[Candidate, ...]:
    """Algorithm 15: every candidate with all of its options, the vertices of the expanded SHARON graph."""
    found: list[Candidate] = []
    for v in range(len(graph.candidates)):
        found.extend(options(graph, v, limits))
        limits.check_vertices(len(found))
    return tuple(found)


def options(graph: SharonGraph, v: int, limits: Limits) -> tuple[Candidate, ...]:
    """Algorithm 14, getSet: the candidate and its options, by breadth-first search.

    To resolve a conflict (v, u), the queries that cause it are divided: v drops some and u drops the others
    (Definition 24.1). Dropping a set of queries from v can resolve the conflict if u keeps at least two queries.
    Raises `LimitReached`: there can be as many options as subsets of Q_p.
    """
    candidate = graph.candidates[v]
    conflicts = _conflicts(graph, v)
    whole = _mask(candidate)
    known = {whole: None}
    level = [whole]
    while level:
        following: list[int] = []
        for queries in level:
            for causing, sharing in conflicts.items():
                for dropped in _resolving(queries & causing, sharing):
                    limits.check_time()
                    rest = queries & ~dropped
                    if rest.bit_count() > 1 and rest not in known:
                        known[rest] = None
                        limits.check_vertices(len(known))
                        following.append(rest)
        level = following
    return tuple(candidate.restricted(frozenset(bits(queries))) for queries in known)


def _conflicts(graph: SharonGraph, v: int) -> dict[int, int]:
    """The queries that cause a conflict of v, with the number of queries of the other candidate.

    If several candidates conflict with v because of the same queries, the one with most queries allows every option.
    """
    candidate = graph.candidates[v]
    found: dict[int, int] = {}
    for u in bits(graph.neighbors[v]):
        other = graph.candidates[u]
        causing = 0
        for sequence, _ in candidate.places & other.places:
            causing |= 1 << sequence
        found[causing] = max(found.get(causing, 0), len(other.sequences))
    return found


def _resolving(causing: int, sharing: int) -> Iterator[int]:
    """The subsets of the causing queries whose removal ends the conflict with a candidate of `sharing` queries."""
    least = 2 - sharing + causing.bit_count()
    dropped = causing
    while dropped:
        if dropped.bit_count() >= least:
            yield dropped
        dropped = (dropped - 1) & causing


def _mask(candidate: Candidate) -> int:
    return sum(1 << sequence for sequence in candidate.sequences)
