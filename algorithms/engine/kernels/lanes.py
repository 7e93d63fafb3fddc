"""How one kernel serves one key or many: the state of each key is a lane of arrays that all keys share.

The states of all keys lie in named tuples of arrays with a first axis of keys; a lane is what one key has of them. The
kernel of a system advances one lane:

    advance(first, until, events, fixed, arena, lane, rows, written) -> (next event, rows written, why it stopped)

- It processes events `first..`, then closes the windows that end by `until`, and stops as `ROWS` or `ROOM` before what
  `rows` or its lane or arena may not have room for. It continues from the next event when there is room.
- `fixed`: a named tuple of what does not change, with the `window`; `arena`: arrays that all keys share.
- Rows are written from place `written` on.

Each system has a kernel of its own for that loop (`over_keys`), which names its `advance`: Numba keeps no kernel on
disk that was handed another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import types
from numba.extending import overload

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import written_out
from cepbench.algorithms.engine.kernels.constants import NEVER
from cepbench.algorithms.engine.kernels.events import KernelEvents

DONE, ROWS, ROOM = 0, 1, 2
"""Why a kernel stopped: it is done; the rows must be taken first; its lane or arena must grow first."""

_NONE: Any = np.int64(0)
"""No rows yet. For the literal 0 Numba would compile each `advance` a second time."""

_States = TypeVar("_States")


def lane(states: _States, key: int) -> _States:
    """A named tuple, nested or not, of the arrays of one key: views without the first axis. For kernels only."""
    raise NotImplementedError


@overload(lane, inline="always", jit_options=cast(Any, {"_nrt": False, "no_cfunc_wrapper": True}))
def _lane(states: Any, key: Any) -> Any:
    """Writes the views out for a type of named tuple, which Numba does not loop over."""
    scope: dict[str, Any] = {}

    def views(kind: Any, path: str) -> str:
        if isinstance(kind, types.Array):
            return f"{path}[key]"
        if isinstance(kind, types.Number):
            return path
        made = f"made_{len(scope)}"
        scope[made] = kind.instance_class
        parts = (views(one, f"{path}.{field}") for field, one in zip(kind.fields, kind.types, strict=True))
        return f"{made}({', '.join(parts)})"

    exec(f"def written_out(states: Any, key: Any) -> Any:\n    return {views(states, 'states')}", scope)
    return scope["written_out"]


class Calls(NamedTuple):
    """What the lanes of m keys do: they process events, and then close the windows that end by `until`.

    - `keys[m]`, `offsets[m + 1]`: events `offsets[j]..offsets[j + 1] - 1` are those of `keys[j]`.
    - Written: `ends[K]`, by key the end of the last window that holds an event of it, or `NEVER` if it is closed;
      `owner[N]`, the keys of the rows.
    """

    keys: Ints
    offsets: Ints
    events: KernelEvents
    until: int
    ends: Ints
    owner: Ints


@written_out
def over_keys(
    advance: Any, at: int, done: int, calls: Calls, fixed: Any, arena: Any, lanes: Any, rows: Any,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Processes keys `at..`, the first of them from event `done` on; returns (next key, next event, rows written, why
    it stopped). O(1) per key in addition to its events.
    """
    written = _NONE
    keys, offsets, events, until, ends = calls.keys, calls.offsets, calls.events, calls.until, calls.ends
    for j in range(at, len(keys)):
        key, begin, stop, before = keys[j], offsets[j], offsets[j + 1], written
        time, negated = events.time[:stop], events.negated[j:]
        part = KernelEvents(time, events.kind, events.ints, events.reals, events.flags, negated)
        done, written, why = advance(done, until, part, fixed, arena, lane(lanes, key), rows, written)
        for row in range(before, written):
            calls.owner[row] = key
        if why != DONE:
            return j, done, written, why
        if begin < stop:
            window = fixed.window
            ends[key] = events.time[stop - 1] // window.slide * window.slide + window.within
        if ends[key] <= until:
            ends[key] = NEVER
    return len(keys), done, written, DONE
