"""The enumeration phase: reports the matches that events ended, with a delay between two matches that is linear in
their size (CORE, Algorithm 2).

It is separate from the update: nodes do not change, so matches can be enumerated later, as long as their nodes are
kept. A depth-first search goes from the last event of a match back to the first. Other successors of a node wait on a
stack if they have a match within the span. A node is only visited for a match that is still to come, and at most one
union precedes each cell, so there are at most 2 l steps between a match and the next one, of l events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.detection.core.kernels.compact_set import CompactSet, is_live
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.ticks import ticks
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes, finished, mixed
from cepbench.queries.records import Records

DELAYS = 512
"""Delays are counted in a histogram over ticks with eight buckets per doubling."""


class SettingRecord:
    """`reach`: the span. With `digests`, matches are counted and digested; `limit` per last event, 0 for all."""

    reach: int
    digests: bool
    limit: int


class StepRecord:
    """The position of an event of a match, the hash of the match from here to its end, and BASE^d for the d events
    after this one.
    """

    place: int
    term: np.uint64
    power: np.uint64


class WaitingRecord:
    """A node that waits, and the depth at which it continues the match."""

    node: int
    depth: int


class SearchRecord:
    """Place and counted work of the enumeration.

    - `done`: final cells whose matches were enumerated; `cell`: the current one; `waiting`: nodes on the stack.
    - of the output: `matches` and their `positions`, or `digest_rows`.
    - `reported`: matches that end with the event at position `last_event`.
    - `steps_since` the last match, `steps` in all, `max_steps` between two matches; `max_ratio`: of steps to the length
      of the match, in thousandths.
    - `updates`: events in all matches; `longest` match; `slowest` match and `all_ticks`, in ticks.
    """

    done: int
    cell: int
    waiting: int
    matches: int
    positions: int
    digest_rows: int
    reported: int
    last_event: int
    steps_since: int
    steps: int
    max_steps: int
    max_ratio: int
    updates: int
    longest: int
    slowest: int
    all_ticks: int


class Search(NamedTuple):
    """The match under construction, from its last event back.

    - `path` (`StepRecord`); `stack` (`WaitingRecord`).
    - `counters[1]`: `SearchRecord`.
    - `delays[DELAYS]`: number of matches by delay.
    """

    path: Records
    stack: Records
    counters: Records
    delays: Ints


class MatchRecord:
    """A match: times of its first and last event, the window that ends with it, and the `stop` of its events."""

    first: int
    last: int
    window: int
    stop: int


class Output(NamedTuple):
    """Matches as output: `match` (`MatchRecord`), `positions`; or digests, by `window` (`rows.MatchDigests`)."""

    match: Records
    positions: Ints
    window: Ints
    matches: Hashes
    digest: Hashes


@kernel
def enumerate_matches(setting: Records, runs: CompactSet, search: Search, output: Output) -> tuple[int, int]:
    """Enumerates the matches of all final cells, or continues; returns the steps so far, and what it lacks, or 0.

    O(l) per match of l events, and O(1) for its digest.
    """
    mark = search.counters[0]
    moment = ticks()
    while True:
        if mark.waiting == 0:
            if mark.done == runs.counters[0].finals:
                mark.done = runs.counters[0].finals = 0
                return mark.steps, 0
            lack, moment = _begin(moment, setting, runs, search, output)
        else:
            lack, moment = _find_next(moment, setting, runs, search, output)
        if lack != 0:
            return mark.steps, lack


@inlined
def _begin(moment: int, setting: Records, runs: CompactSet, search: Search, output: Output) -> tuple[int, int]:
    """Begins with the next final cell."""
    mark = search.counters[0]
    mark.cell = runs.final[mark.done]
    cell = runs.node[mark.cell & (len(runs.node) - 1)]
    if cell.place != mark.last_event:
        mark.last_event, mark.reported = cell.place, 0
    elif setting[0].limit > 0 and mark.reported == setting[0].limit:
        mark.done += 1
        return 0, moment
    search.path[0].place = cell.place
    if setting[0].digests:
        search.path[0].term, search.path[0].power = mixed(cell.place), np.uint64(1)
    if cell.left == NONE:
        if _is_full(1, setting, search, output):
            return Lack.OUTPUT, moment
        mark.steps_since += 1
        moment = _emit(1, cell.time, moment, setting, runs, search, output)
    else:
        mark.steps_since += 1
        search.stack[0].node, search.stack[0].depth = cell.left, 1
        mark.waiting = 1
    mark.done += 1
    return 0, moment


@inlined
def _find_next(moment: int, setting: Records, runs: CompactSet, search: Search, output: Output) -> tuple[int, int]:
    """Finds the next match of the final cell, from the node on top of the stack."""
    mark = search.counters[0]
    mask, kept = len(runs.node) - 1, runs.counters[0].kept
    floor = runs.node[mark.cell & mask].born - setting[0].reach
    mark.waiting -= 1
    n, depth = search.stack[mark.waiting].node, search.stack[mark.waiting].depth
    while True:
        lack = 0
        if depth == len(search.path) or mark.waiting + 2 > len(search.stack):
            lack = Lack.PATH
        node = runs.node[n & mask]
        starts = node.place != NONE and node.left == NONE
        if starts and _is_full(depth + 1, setting, search, output):
            lack = Lack.OUTPUT
        if lack != 0:
            search.stack[mark.waiting].node, search.stack[mark.waiting].depth = n, depth
            mark.waiting += 1
            return lack, moment
        mark.steps_since += 1
        if node.next != NONE and is_live(node.next, kept, floor, runs):
            search.stack[mark.waiting].node, search.stack[mark.waiting].depth = node.next, depth
            mark.waiting += 1
        if node.place != NONE:
            step = search.path[depth]
            step.place = node.place
            if setting[0].digests:
                after = search.path[depth - 1]
                step.power = after.power * BASE
                step.term = after.term + mixed(node.place) * step.power
            depth += 1
            if starts:
                moment = _emit(depth, node.time, moment, setting, runs, search, output)
                if setting[0].limit > 0 and mark.reported == setting[0].limit:
                    mark.waiting = 0
                return 0, moment
        n = node.left


@inlined
def _is_full(length: int, setting: Records, search: Search, output: Output) -> bool:
    """Whether there is no space for one more match."""
    mark = search.counters[0]
    if setting[0].digests:
        return mark.digest_rows == len(output.window)
    return mark.matches == len(output.match) or mark.positions + length > len(output.positions)


@inlined
def _emit(
    length: int, first: int, moment: int, setting: Records, runs: CompactSet, search: Search, output: Output
) -> int:
    """Writes or digests the match; returns the current tick."""
    mark = search.counters[0]
    cell = runs.node[mark.cell & (len(runs.node) - 1)]
    window = cell.born - setting[0].reach
    if setting[0].digests:
        at = mark.digest_rows - 1
        if at < 0 or output.window[at] != window:
            at += 1
            output.window[at], output.matches[at], output.digest[at] = window, np.uint64(0), np.uint64(0)
            mark.digest_rows = at + 1
        output.matches[at] += np.uint64(1)
        output.digest[at] += finished(search.path[length - 1].term)
    else:
        written = mark.positions
        for d in range(length):
            output.positions[written + d] = search.path[length - 1 - d].place
        match = output.match[mark.matches]
        match.first, match.last, match.window, match.stop = first, cell.time, window, written + length
        mark.matches, mark.positions = mark.matches + 1, written + length
    mark.reported += 1
    mark.updates += length
    mark.longest = max(mark.longest, length)
    mark.steps += mark.steps_since
    mark.max_steps = max(mark.max_steps, mark.steps_since)
    mark.max_ratio = max(mark.max_ratio, mark.steps_since * 1000 // length)
    mark.steps_since = 0
    now = ticks()
    delay = now - moment
    mark.slowest = max(mark.slowest, delay)
    mark.all_ticks += delay
    search.delays[_bucket(delay)] += 1
    return now


@inlined
def _bucket(delay: int) -> int:
    """The bucket of a delay: eight per doubling (`delay_of` is the least delay in a bucket)."""
    octave = 0
    rest = delay
    while rest >= 16:
        rest >>= 1
        octave += 1
    return min(8 * octave + max(rest, 0), DELAYS - 1)


def delay_of(bucket: int) -> int:
    """The least delay in ticks of a bucket."""
    return bucket if bucket < 16 else (bucket % 8 + 8) << (bucket // 8 - 1)
