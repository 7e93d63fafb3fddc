"""Grows the sequences of a flattened Kleene pattern; longer ones inherit the counters of shorter ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from cepbench.algorithms.engine.flattening import NO_PATH, steps_to_end
from cepbench.algorithms.engine.lanes import OneLane, mapped
from cepbench.algorithms.engine.longest_match import LongestMatch
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.sequences.channels import FAMILIES
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.executor import counter_of_part
from cepbench.algorithms.sequences.kernels.counters import CounterState
from cepbench.algorithms.sequences.kernels.program import Chains, Program
from cepbench.algorithms.sequences.state import FAMILY_OF, lay_out
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class GrowingSequences(OneLane):
    """A Kleene pattern of one key that is flattened up to the length that the longest match so far needs.

    This length is one event beyond the longest partial match plus the shortest path to an END position. So everything
    that the next event extends is a prefix of some sequence, whose counters all longer sequences inherit.
    """

    lanes: SequenceCounter

    def __init__(self, schema: Schema, query: CompiledQuery, part: Part, window: Window) -> None:
        self.beyond = 1 + max((steps for steps in steps_to_end(part.automaton) if steps < NO_PATH), default=0)
        self.counter_of = partial(counter_of_part, schema, query, part, window)
        self.longest = LongestMatch(query, part, window, None)
        super().__init__(self.counter_of(self.beyond))
        self.bound = self.beyond

    def process(self, events: EventBatch) -> Rows:
        partial_match = self.longest.partial
        self.longest.follow(events)
        if self.longest.partial + self.beyond > self.bound:
            self.bound = self.longest.partial + self.beyond
            longer = self.counter_of(self.bound)
            inherit(longer, self.lanes, partial_match)
            self.lanes = longer
        return super().process(events)


def inherit(longer: SequenceCounter, shorter: SequenceCounter, known: int) -> None:
    """Copies the counters of `shorter` to `longer`; no partial match of the key had more than `known` events.

    Both count the sequences of one query separately, and those of `shorter` come first in `longer`. Every prefix of
    `known + 1` places of a sequence is a prefix of one in `shorter`, and no sequence that `shorter` lacks has been
    matched. A source has less room for START events than its copy only if it has one event, and then nothing is copied.
    O(counters) time.
    """
    if not len(shorter.ends):
        return
    longer.follow(shorter)
    old, slots = shorter.state_of_key(0), longer.state_of_key(0).slots
    program, before = longer.counting.program, shorter.counting.program
    sources = _sources(longer, shorter, known)
    place, opened, span = slots.place, slots.opened, slots.opened.shape[1]
    for field in ("head", "tail"):
        place[field] = old.slots.place[field][sources]
    place["capacity"] = np.maximum(place["capacity"], old.slots.place["capacity"][sources])
    opened[:] = old.slots.opened[sources]
    slots.clock[:] = old.slots.clock
    longer.lanes.size[0] = lay_out(longer.counting, place, slots.snapshot, span)
    state = longer.moved(0)
    mapped(np.copyto, state.gathered, old.gathered)
    state.plain.ring[: len(old.plain.ring)] = old.plain.ring
    state.plain.over[: len(old.plain.over)] = old.plain.over
    for g, source in enumerate(sources):
        begin, was = longer.counting.plain[g] + 1, shorter.counting.plain[source] + 1
        if g == source:
            _inherit(g, g, int(before.chains.segment["rows"][g]), program, before, state, old)
            _inherit_results(g, program, before, state, old)
        elif begin > 0:
            state.plain.ring[begin : begin + known] = old.plain.ring[was : was + known]
            state.plain.over[begin : begin + known] = old.plain.over[was : was + known]
        else:
            _inherit(g, source, known, program, before, state, old)


def _sources(longer: SequenceCounter, shorter: SequenceCounter, known: int) -> list[int]:
    """For each sequence of `longer` the index of the one in `shorter` to copy from: itself if it is there."""
    beginnings = {sequence.positions[: known + 1]: i for i, sequence in enumerate(shorter.sequences)}
    size = len(shorter.sequences)
    return [i if i < size else beginnings[s.positions[: known + 1]] for i, s in enumerate(longer.sequences)]


def _inherit(
    g: int, source: int, places: int, program: Program, before: Program, state: CounterState, old: CounterState
) -> None:
    """Copies the counters of the first places of a shorter sequence."""
    width = int(state.slots.place["capacity"][g])
    size = places * width
    kept, kept_before = program.chains.segment["rows"][g] * width, before.chains.segment["rows"][source] * width
    for array, family in FAMILY_OF.items():
        new, known = getattr(state.values, array), getattr(old.values, array)
        at, at_before = state.slots.place["at"][family][g], old.slots.place["at"][family][source]
        for channel, channel_before in _channels(g, source, family, program.chains, before.chains):
            begin, was = at + channel * kept, at_before + channel_before * kept_before
            new[begin : begin + size] = known[was : was + size]


def _inherit_results(g: int, program: Program, before: Program, state: CounterState, old: CounterState) -> None:
    """Copies the results of the open windows of a sequence that is in both."""
    segment, segment_before = program.chains.segment[g], before.chains.segment[g]
    for array, family in FAMILY_OF.items():
        size = segment["width"][family] * segment["first"] * state.slots.opened.shape[1]
        begin, was = segment["result"][family], segment_before["result"][family]
        getattr(state.values, array)[begin : begin + size] = getattr(old.values, array)[was : was + size]


def _channels(g: int, source: int, family: str, chains: Chains, before: Chains) -> Iterator[tuple[int, int]]:
    """The channels of a family in both sequences, for the query that both count."""
    sizes = chains.query["width"][0].tolist()
    number = FAMILIES.index(family)
    for c in range(sum(sizes[:number]), sum(sizes[: number + 1])):
        channel = int(chains.channel[chains.sequence["channel"][g] + c])
        known = int(before.channel[before.sequence["channel"][source] + c])
        if channel >= 0 and known >= 0:
            yield channel, known
