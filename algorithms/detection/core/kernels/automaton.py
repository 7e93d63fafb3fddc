"""The determinized automaton as read by kernels, and the classification of events."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.queries.records import Records

UNKNOWN = -1
"""A decision or a target that no event has needed so far."""
NOTHING = -2
"""The event matches no position."""
START = 0
"""The initial state."""


class Lack(IntEnum):
    """The lack for which a kernel stops: of a decision or a target of the automaton, or of room in a table.

    `NODES`, `PENDING` and `FINALS` are of the update, `PATH` and `OUTPUT` of the enumeration, all others of counting.
    """

    DECISION = 1
    TARGET = 2
    NODES = 3
    PENDING = 4
    FINALS = 5
    PATH = 6
    OUTPUT = 7
    LOG = 8
    ROWS = 9


@inlined
def letter_of(decision: int) -> int:
    """The letter encoded in a final decision."""
    return NOTHING - 1 - decision


class EdgeRecord:
    """An edge from state `source` to state `target`, with the number of the list of their runs.

    `final`: the target contains an end position of the pattern. `goes_on`: some position follows one in the target.
    """

    source: int
    target: int
    list: int
    final: bool
    goes_on: bool


class Cea(NamedTuple):
    """Q states (state 0 is initial), L letters, D tests, E edges, and R lists of runs.

    - `root[T]`: the first decision for an event type: a test, `NOTHING`, or a letter (`letter_of`).
    - `test[D]`: a position whose predicates are tested; `branch[D, 2]`: the next decision if it fails, or holds.
    - `edge_ptr[L + 1]`, `edge[E]`: edges by letter (`EdgeRecord`); `open[L]`: whether a target is `UNKNOWN`.
    - `list_ptr[Q + 1]`, `list[R]`: the lists that lead to a state, one per source state. `target[R]`: that state.
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
def classified(i: int, events: KernelEvents, local: Ints, cea: Cea) -> int:
    """The final decision about event i: a letter, `NOTHING`, or `UNKNOWN`.

    O(predicates of its type).
    """
    at = cea.root[events.kind[i]]
    while at >= 0:
        at = cea.branch[at, int(_passes(at, i, events, local, cea))]
    return at


@inlined
def undecided(i: int, events: KernelEvents, local: Ints, cea: Cea) -> int:
    """The test of event i without a next decision: twice its number, plus one if it holds."""
    at = cea.root[events.kind[i]]
    while True:
        passed = int(_passes(at, i, events, local, cea))
        if cea.branch[at, passed] == UNKNOWN:
            return 2 * at + passed
        at = cea.branch[at, passed]


@inlined
def _passes(test: int, i: int, events: KernelEvents, local: Ints, cea: Cea) -> bool:
    return fits(local[cea.test[test]], i, events)
