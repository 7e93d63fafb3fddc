"""The plan that an optimizer makes for sequences and an executor executes (dissertation 22.1, 23.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cepbench.algorithms.base import Plan
from cepbench.algorithms.engine.event_sequence import Sequence
from cepbench.algorithms.sequences.candidates import Candidate


@dataclass(frozen=True)
class SharingPlan(Plan):
    """A valid sharing plan: no two candidates of `shared` overlap (Definition 23.2).

    `sequences` are those of all queries. Places outside of all shared occurrences are private to their sequence. If
    nothing is shared, each sequence is counted separately: A-Seq. `max_length` limits the length of Kleene matches;
    None if no query has a Kleene pattern.
    """

    sequences: tuple[Sequence, ...]
    shared: tuple[Candidate, ...]
    max_length: int | None = field(default=None, kw_only=True)
