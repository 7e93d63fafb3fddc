"""The length of the longest match of an automaton under skip-till-any-match, window by window."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.queries.tables import Tables

NOW, TOP, PARTIAL = 0, 1, 2


class Lengths(NamedTuple):
    """Maximum lengths of paths in each window w, stored at w modulo the number of columns.

    - `across[E, W]`: of paths to the source of a transition since the latest event negated on it; 0 for none.
    - `current[P, W]`: of paths that end at a position at the current time.
    - `clock`: the current time, the latest window so far, and the maximum length of any path so far.
    """

    across: Ints
    current: Ints
    clock: Ints


@kernel
def longest_match(events: KernelEvents, first: Ints, last: Ints, tables: Tables, lengths: Lengths) -> int:
    """The maximum length of a match that ends in a batch and lies in one window, or 0.

    `first[n]`, `last[n]`: the windows that contain each event. O(1) per event, transition and window that contains it;
    there are no predicates on transitions.
    """
    longest = 0
    clock = lengths.clock
    span = lengths.across.shape[1]
    for i in range(len(events.time)):
        if events.time[i] != clock[NOW]:
            _pass(i, events, tables, lengths)
            clock[NOW] = events.time[i]
        for w in range(max(clock[TOP] + 1, first[i]), last[i] + 1):
            for e in range(lengths.across.shape[0]):
                lengths.across[e, w % span] = 0
            for p in range(lengths.current.shape[0]):
                lengths.current[p, w % span] = 0
        clock[TOP] = max(clock[TOP], last[i])
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if not fits(tables.local[p], i, events):
                continue
            for w in range(first[i], last[i] + 1):
                length = 1 if tables.start[p] else 0
                for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                    if lengths.across[e, w % span] > 0:
                        length = max(length, lengths.across[e, w % span] + 1)
                lengths.current[p, w % span] = max(lengths.current[p, w % span], length)
                clock[PARTIAL] = max(clock[PARTIAL], length)
                if tables.end[p]:
                    longest = max(longest, length)
    return longest


@inlined
def _pass(i: int, events: KernelEvents, tables: Tables, lengths: Lengths) -> None:
    """Ends a time stamp before event i: its negated events cut off earlier paths, and its paths can be extended."""
    for e in range(len(tables.source)):
        for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
            if events.negated[i, tables.between[k]] == lengths.clock[NOW]:
                for w in range(lengths.across.shape[1]):
                    lengths.across[e, w] = 0
        for w in range(lengths.across.shape[1]):
            lengths.across[e, w] = max(lengths.across[e, w], lengths.current[tables.source[e], w])
    for p in range(lengths.current.shape[0]):
        for w in range(lengths.current.shape[1]):
            lengths.current[p, w] = 0
