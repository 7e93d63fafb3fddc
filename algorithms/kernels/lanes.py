"""How one kernel serves one key or many: the state of each key is a lane of arrays that all keys share.

The states of all keys lie in named tuples of arrays with a first axis of keys; a lane is what one key has of them. The
kernel of a system advances one lane:

    advance(first, until, events, fixed, arena, lane, rows, written) -> (next event, rows written, why it stopped)

- It processes events `first..`, then closes the windows that end by `until`, and stops as `ROWS` or `ROOM` before what
  `rows` or its lane or arena may not have room for. It goes on from the next event when there is room.
- `fixed`: a named tuple of what does not change, with the `window`; `arena`: arrays that all keys share.
- Rows are written from place `written` on.

Each system has two kernels of its own for that loop, which name its `advance`: Numba keeps no kernel on disk that was
handed another one.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.extending import overload

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.kernels.events import KernelEvents, Sliding

DONE, ROWS, ROOM = 0, 1, 2
"""Why a kernel stopped: it is done; the rows must be taken first; its lane or arena must grow first."""

NO_END = -1
"""Of a key whose windows with events are closed."""

_FIRST: Any = np.int64(0)
_NEVER: Any = np.int64(-1)
"""A time by which no window ends. Not literals, for each of which Numba would compile a kernel anew."""

_States = TypeVar("_States")


def lane(states: _States, key: int) -> _States:
    """A named tuple, nested or not, of the arrays of one key: views without the first axis. For kernels only."""
    raise NotImplementedError


@overload(lane, inline="always")
def _lane(states: Any, key: Any) -> Any:
    """Writes the views out for a type of named tuple, which Numba does not loop over."""
    scope: dict[str, Any] = {}

    def views(kind: Any, path: str) -> str:
        if isinstance(kind, types.Array):
            return f"{path}[key]"
        made = f"made_{len(scope)}"
        scope[made] = kind.instance_class
        parts = (views(one, f"{path}.{field}") for field, one in zip(kind.fields, kind.types, strict=True))
        return f"{made}({', '.join(parts)})"

    exec(f"def written_out(states: Any, key: Any) -> Any:\n    return {views(states, 'states')}", scope)
    return scope["written_out"]


@inlined
def over_keys(
    advance: Any,
    at: int,
    done: int,
    keys: Ints,
    offsets: Ints,
    events: KernelEvents,
    fixed: Any,
    arena: Any,
    lanes: Any,
    ends: Ints,
    rows: Any,
    owner: Ints,
) -> tuple[int, int, int, int]:
    """Processes keys `at..` of a batch, the first of them from event `done` on; returns (next key, next event,
    rows written, why it stopped). O(1) per key beside its events.

    `ends[k]` becomes the end of the last window that holds an event of key k, `owner` the keys of the rows.
    """
    written = 0
    for j in range(at, len(keys)):
        key, stop, before = keys[j], offsets[j + 1], written
        done, written, why = advance(
            max(done, offsets[j]), _NEVER, _until_place(events, stop), fixed, arena, lane(lanes, key), rows, written
        )
        _own(owner, before, written, key)
        if why != DONE:
            return j, done, written, why
        ends[key] = _last_end(events.time[stop - 1], fixed.window)
    return len(keys), done, written, DONE


@inlined
def close_keys(
    advance: Any,
    at: int,
    until: int,
    nothing: KernelEvents,
    fixed: Any,
    arena: Any,
    lanes: Any,
    ends: Ints,
    rows: Any,
    owner: Ints,
) -> tuple[int, int, int]:
    """Closes the windows that end by `until` of keys `at..`; returns the next key, the rows written, and why it
    stopped. `nothing` are no events.
    """
    written = 0
    for key in range(at, len(ends)):
        if ends[key] != NO_END:
            before = written
            _, written, why = advance(_FIRST, until, nothing, fixed, arena, lane(lanes, key), rows, written)
            _own(owner, before, written, key)
            if why != DONE:
                return key, written, why
            if ends[key] <= until:
                ends[key] = NO_END
    return len(ends), written, DONE


@inlined
def _last_end(time: int, window: Sliding) -> int:
    """When the last window ends that holds an event of this time."""
    return time // window.slide * window.slide + window.within


@inlined
def _own(owner: Ints, first: int, stop: int, key: int) -> None:
    """Rows `first..stop - 1` are those of a key."""
    for row in range(first, stop):
        owner[row] = key


@inlined
def _until_place(events: KernelEvents, stop: int) -> KernelEvents:
    """The events before place `stop`."""
    return KernelEvents(events.time[:stop], events.kind, events.ints, events.reals, events.negated)
