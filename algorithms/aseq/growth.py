"""Longer sequences of a Kleene pattern begin with what shorter ones have counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from cepbench.algorithms.rows import QueryRows
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.evaluator import SequenceEvaluator
from cepbench.algorithms.sequences.flattening import NO_WAY, steps_to_end
from cepbench.algorithms.sequences.kernels.tables import (
    CAPACITY,
    FIRST,
    FROM_LEAST,
    FROM_REAL,
    FROM_RING,
    HEAD,
    MAP,
    ROWS,
    TAIL,
    CounterState,
    Program,
)
from cepbench.algorithms.sequences.state import CHANNELS, PLACES, QUERY_CHANNELS, lay_out
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part

RESULTS = (FROM_RING, FROM_REAL, FROM_LEAST)


class GrowingSequences(SequenceEvaluator):
    """A Kleene pattern, flattened as far as the longest match so far needs.

    That is one event beyond the longest partial match, and then the shortest way to an END position. So whatever the
    next event extends is the beginning of a sequence, whose counters all longer sequences inherit.
    """

    def __init__(self, schema: Schema, query: CompiledQuery, part: Part, window: Window) -> None:
        self.beyond = 1 + max((steps for steps in steps_to_end(part.automaton) if steps < NO_WAY), default=0)
        super().__init__(schema, self.beyond, query, part, window)
        self.bound = self.beyond

    def process(self, events: EventBatch) -> QueryRows | None:
        assert self.longest is not None
        known = self.longest.partial
        self.longest.follow(events)
        if self.longest.partial + self.beyond > self.bound:
            self.bound = self.longest.partial + self.beyond
            longer = self.counter_of(self.bound)
            longer.cells = inherited(longer, self.counter, known)
            self.counter = longer
        return self.counter.process(events).get(0)


def inherited(longer: SequenceCounter, shorter: SequenceCounter, known: int) -> CounterState:
    """The state of `longer` after what `shorter` has seen, in which no partial match had more than `known` events.

    Both count sequences of one query on their own, those of `shorter` first. Every beginning of `known + 1` places of a
    sequence is that of a shorter one, and no sequence that `shorter` lacks has been matched. O(counters) time.
    """
    old, state = shorter.cells, longer.cells
    donors = _donors(longer, shorter, known)
    state.place[:, [HEAD, TAIL, CAPACITY]] = old.place[donors][:, [HEAD, TAIL, CAPACITY]]
    state.opened[:] = old.opened[donors]
    span, dtype = state.opened.shape[1], state.plain.dtype
    ring, over, real, least = lay_out(longer.counting, state.place, state.snapshot, span, dtype)
    state = state._replace(ring=ring, over=over, real=real, least=least)
    state = state._replace(clock=old.clock, gathered=old.gathered, tally=old.tally)
    state.plain[: len(old.plain)] = old.plain
    state.plain_over[: len(old.plain)] = old.plain_over
    for g, donor in enumerate(donors):
        begin, was = longer.counting.plain[g] + 1, shorter.counting.plain[donor] + 1
        if g == donor:
            _inherit(
                g,
                g,
                int(shorter.counting.program.segment[g, ROWS]),
                longer.counting.program,
                shorter.counting.program,
                state,
                old,
            )
            _inherit_results(g, longer.counting.program, shorter.counting.program, state, old)
        elif begin > 0:
            state.plain[begin : begin + known] = old.plain[was : was + known]
            state.plain_over[begin : begin + known] = old.plain_over[was : was + known]
        else:
            _inherit(g, donor, known, longer.counting.program, shorter.counting.program, state, old)
    return state


def _donors(longer: SequenceCounter, shorter: SequenceCounter, known: int) -> list[int]:
    """For each sequence of `longer` the one of `shorter` that it inherits from: itself, if it is there."""
    beginnings = {sequence.positions[: known + 1]: i for i, sequence in enumerate(shorter.sequences)}
    size = len(shorter.sequences)
    return [i if i < size else beginnings[s.positions[: known + 1]] for i, s in enumerate(longer.sequences)]


def _inherit(
    g: int, donor: int, places: int, program: Program, before: Program, state: CounterState, old: CounterState
) -> None:
    """Copies the counters of the first places from a shorter sequence."""
    width = int(state.place[g, CAPACITY])
    size = places * width
    for family, (new_store, old_store) in enumerate(_families(state, old)):
        kept, kept_before = int(program.segment[g, ROWS]) * width, int(before.segment[donor, ROWS]) * width
        at, at_before = int(state.place[g, PLACES[family]]), int(old.place[donor, PLACES[family]])
        for channel, channel_before in _channels(g, donor, family, program, before):
            begin, was = at + channel * kept, at_before + channel_before * kept_before
            for new, known in zip(new_store, old_store, strict=True):
                new[begin : begin + size] = known[was : was + size]


def _inherit_results(g: int, program: Program, before: Program, state: CounterState, old: CounterState) -> None:
    """Copies what a sequence that is in both has counted in the open windows."""
    for family, (new_store, old_store) in enumerate(_families(state, old)):
        size = int(program.segment[g, CHANNELS[family]] * program.segment[g, FIRST]) * state.opened.shape[1]
        begin, was = int(program.segment[g, RESULTS[family]]), int(before.segment[g, RESULTS[family]])
        for new, known in zip(new_store, old_store, strict=True):
            new[begin : begin + size] = known[was : was + size]


def _families(new: CounterState, old: CounterState) -> list[tuple[list[NDArray[Any]], list[NDArray[Any]]]]:
    return [([new.ring, new.over], [old.ring, old.over]), ([new.real], [old.real]), ([new.least], [old.least])]


def _channels(g: int, donor: int, family: int, program: Program, before: Program) -> Iterator[tuple[int, int]]:
    """Channels of a family, of both sequences: those of the query that both of them count."""
    sizes = program.query[0, list(QUERY_CHANNELS)]
    at = int(sizes[:family].sum())
    for c in range(int(sizes[family])):
        channel = int(program.channel[program.sequence[g, MAP] + at + c])
        known = int(before.channel[before.sequence[donor, MAP] + at + c])
        if channel >= 0 and known >= 0:
            yield channel, known
