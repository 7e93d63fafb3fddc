"""Grows the sequences of a flattened Kleene pattern; longer ones inherit the counters of shorter ones."""

from __future__ import annotations

from functools import partial

import numpy as np

from cepbench.algorithms.engine.flattening import NO_PATH, steps_to_end
from cepbench.algorithms.engine.lanes import OneLane, mapped
from cepbench.algorithms.engine.longest_match import LongestMatch
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.sequences.counter import SequenceCounter
from cepbench.algorithms.sequences.executor import counter_of_part
from cepbench.algorithms.sequences.kernels.counters import CounterState
from cepbench.algorithms.sequences.kernels.program import Program
from cepbench.algorithms.sequences.state import copy_rows, empty_words, forget_peak, lay_out
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
        longest = self.longest.partial
        self.longest.follow(events)
        if self.longest.partial + self.beyond > self.bound:
            self.bound = self.longest.partial + self.beyond
            longer = self.counter_of(self.bound)
            inherit(longer, self.lanes, longest)
            self.lanes = longer
        return super().process(events)


def inherit(longer: SequenceCounter, shorter: SequenceCounter, longest: int) -> None:
    """Copies the counters of `shorter` to `longer`; no partial match of the key had more than `longest` events.

    Both count the sequences of one query separately, and those of `shorter` come first in `longer`. Every prefix of
    `longest + 1` places of a sequence is a prefix of one in `shorter`, and no sequence that `shorter` lacks has been
    matched. A source has less room for START events than its copy only if it has one event, and then nothing is copied.
    O(counters) time.
    """
    if not len(shorter.ends):
        return
    longer.follow(shorter)
    old, slots = shorter.state_of_key(0), longer.state_of_key(0).slots
    program, before = longer.counting.program, shorter.counting.program
    sources = _sources(longer, shorter, longest)
    place, opened, span = slots.place, slots.opened, slots.opened.shape[1]
    for field in ("head", "tail"):
        place[field] = old.slots.place[field][sources]
    place["capacity"] = np.maximum(place["capacity"], old.slots.place["capacity"][sources])
    opened[:] = old.slots.opened[sources]
    slots.clock[:] = old.slots.clock
    forget_peak(slots)
    longer.lanes.region["size"][0] = lay_out(longer.counting, place, slots.snapshot, span)
    state = longer.moved(0)
    state.values.ints[:] = empty_words(longer.counting, mapped(lambda array: array[0], longer.lanes))
    mapped(np.copyto, state.gathered, old.gathered)
    totals = longer.counting.totals - program.totals
    copy_rows(old.values, before.totals, state.values, program.totals, 1, totals, totals)
    for counters, counters_before in zip(state.plain, old.plain, strict=True):
        counters[: len(counters_before)] = counters_before
    results = (span * program.chains.segment["width"] * program.chains.segment["first"]).tolist()
    for g, source in enumerate(sources):
        begin, was = longer.counting.plain[g] + 1, shorter.counting.plain[source] + 1
        if g == source:
            _inherit(g, g, int(before.chains.segment["rows"][g]), program, before, state, old)
            result, source_result = program.chains.segment["result"][g], before.chains.segment["result"][g]
            copy_rows(old.values, source_result, state.values, result, 1, results[g], results[g])
        elif begin > 0:
            for counters, counters_before in zip(state.plain, old.plain, strict=True):
                counters[begin : begin + longest] = counters_before[was : was + longest]
        else:
            _inherit(g, source, longest, program, before, state, old)


def _sources(longer: SequenceCounter, shorter: SequenceCounter, longest: int) -> list[int]:
    """For each sequence of `longer` the index of the one in `shorter` to copy from: itself if it is there."""
    beginnings = {sequence.positions[: longest + 1]: i for i, sequence in enumerate(shorter.sequences)}
    size = len(shorter.sequences)
    return [i if i < size else beginnings[s.positions[: longest + 1]] for i, s in enumerate(longer.sequences)]


def _inherit(
    g: int, source: int, places: int, program: Program, before: Program, state: CounterState, old: CounterState
) -> None:
    """Copies the counters of the first places of a shorter sequence, for each channel of the query that both count."""
    chains, chains_before = program.chains, before.chains
    place, place_before = state.slots.place[g], old.slots.place[source]
    width, size = int(place["capacity"]), int(place_before["capacity"])
    rows, rows_before = chains.segment["rows"][g] * width, chains_before.segment["rows"][source] * size
    channels = np.arange(chains.query["width"][0])
    sources = chains.source[chains.sequence["source"][g] + channels]
    sources_before = chains_before.source[chains_before.sequence["source"][source] + channels]
    for channel, channel_before in zip(sources.tolist(), sources_before.tolist(), strict=True):
        if channel >= 0 and channel_before >= 0:
            at, at_before = place["at"] + channel * rows, place_before["at"] + channel_before * rows_before
            copy_rows(old.values, at_before, state.values, at, places, size, width)
