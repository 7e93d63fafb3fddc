"""What kernels of many keys share: the state of one key, when its windows end, and whose rows they wrote.

The states of all keys lie in named tuples of arrays with a first axis of keys; a lane is what one key has of them.
"""

from __future__ import annotations

from typing import Any, TypeVar

from numba import types
from numba.extending import overload

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.kernels.events import KernelEvents, Sliding

NO_END = -1
"""Of a key whose windows with events are closed."""

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
def last_end(time: int, window: Sliding) -> int:
    """When the last window ends that holds an event of this time."""
    return time // window.slide * window.slide + window.within


@inlined
def own(owner: Ints, first: int, stop: int, key: int) -> None:
    """Rows `first..stop - 1` are those of a key."""
    for row in range(first, stop):
        owner[row] = key


@inlined
def until_place(events: KernelEvents, stop: int) -> KernelEvents:
    """The events before place `stop`."""
    return KernelEvents(events.time[:stop], events.kind, events.ints, events.reals, events.negated)
