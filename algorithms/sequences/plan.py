"""What an optimiser decides about sequences, and an executor carries out (dissertation 22.1, 23.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from cepbench.algorithms.base import Plan
from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.event_sequence import Sequence


@dataclass(frozen=True)
class SharingPlan(Plan):
    """A valid sharing plan: no two candidates of `shared` overlap (Definition 23.2).

    `sequences` are those of all queries. Places outside of every shared occurrence are private to their sequence. With
    nothing shared, each sequence is counted on its own: A-Seq. `max_length` bounds the length of Kleene matches, or is
    None where no query has any.
    """

    sequences: tuple[Sequence, ...]
    shared: tuple[Candidate, ...]
    max_length: int | None = field(default=None, kw_only=True)
