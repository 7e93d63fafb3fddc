"""The determinized automaton as kernels read it, and how an event is classified."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.predicates import hold
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

UNKNOWN = -1
"""A decision, or a target, that no event has asked for yet."""
NOTHING = -2
"""The event fits no position."""
START = 0
"""The state before any event."""


@inlined
def letter_of(decision: int) -> int:
    """The letter that a decision ends at."""
    return NOTHING - 1 - decision


class EdgeRecord:
    """From `source` to `target`, both states, with the number of the list of their runs.

    `final`: the target holds an end of the pattern. `goes_on`: some position follows one of the target's.
    """

    source: int
    target: int
    list: int
    final: bool
    goes_on: bool


class Cea(NamedTuple):
    """Q states, of which 0 is that before any event, L letters, D tests, E edges, and R lists of runs.

    - `root[T]`: where events of a type begin: a test, `NOTHING`, or a letter (`letter_of`).
    - `test[D]`: a position whose predicates are asked for; `branch[D, 2]`: what comes then if they fail, or hold.
    - `edge_ptr[L + 1]`, `edge[E]`: edges by letter (`EdgeRecord`); `open[L]`: whether a target is `UNKNOWN`.
    - `list_ptr[Q + 1]`, `list[R]`: the lists that lead to a state: one per source. `target[R]`: that state.
    """

    root: Ints
    test: Ints
    branch: Ints
    edge_ptr: Ints
    edge: Records
    open: Flags
    list_ptr: Ints
    list: Ints
    target: Ints


@inlined
def classified(i: int, events: KernelEvents, local: Predicates, cea: Cea) -> int:
    """Where the decisions about event i end: at a letter or `NOTHING`; or `UNKNOWN`.

    O(predicates of its type).
    """
    at = cea.root[events.kind[i]]
    while at >= 0:
        at = cea.branch[at, int(_passes(at, i, events, local, cea))]
    return at


@inlined
def undecided(i: int, events: KernelEvents, local: Predicates, cea: Cea) -> int:
    """The test of event i that has no next decision, twice its number and one more if it holds."""
    at = cea.root[events.kind[i]]
    while True:
        passed = int(_passes(at, i, events, local, cea))
        if cea.branch[at, passed] == UNKNOWN:
            return 2 * at + passed
        at = cea.branch[at, passed]


@inlined
def _passes(test: int, i: int, events: KernelEvents, local: Predicates, cea: Cea) -> bool:
    return hold(local, cea.test[test], events.ints, events.reals, i, events.ints, events.reals, i)
