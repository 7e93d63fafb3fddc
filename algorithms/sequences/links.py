"""Links between segments: where sequences continue with a segment after a common prefix (dissertation 22.3)."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Sequence as Sequences
from dataclasses import dataclass

from cepbench.algorithms.engine.event_sequence import Sequence
from cepbench.algorithms.sequences.channels import Member, counted
from cepbench.algorithms.sequences.segments import Cut, Use


@dataclass(frozen=True)
class Links:
    """Sequences whose chains begin with the same segments have the same counts so far, and share their links.

    - `uses`: per link, the use of its segment in the first sequence that has it; ordered by segment.
    - `of`: the link of each use of a segment, except for the first of a chain.
    - `answers[s]`: equal for sequences whose whole chains are the same.

    Two chains are the same up to a point if they consist of the same segments and their queries aggregate over the same
    places. A segment that is not shared belongs to one sequence, so chains diverge there.
    """

    uses: tuple[Use, ...]
    of: dict[Use, int]
    answers: tuple[Hashable, ...]


def links_of(members: Sequences[Member], sequences: Sequences[Sequence], parts: Cut) -> Links:
    """The links of all chains, ordered by segment. O(length) per sequence and segment of it."""
    first: dict[Hashable, Use] = {}
    keys: dict[Use, Hashable] = {}
    answers = []
    for sequence, chain in zip(sequences, parts.chains, strict=True):
        member = members[sequence.query]
        end = 0
        for number, use in enumerate(chain):
            end += len(parts.segments[use.segment])
            key = tuple(other.segment for other in chain[: number + 1]), counted(member, sequence.positions[:end])
            if number:
                keys[use] = key
                first.setdefault(key, use)
        answers.append(key)
    uses = tuple(sorted(first.values(), key=lambda use: (use.segment, use.sequence, use.offset)))
    number_of = {keys[use]: number for number, use in enumerate(uses)}
    return Links(uses, {use: number_of[key] for use, key in keys.items()}, tuple(answers))
