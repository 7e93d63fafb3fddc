"""Text that names axes as `${axis}`: in streams, workloads and specifications of algorithms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cepbench.experiments.errors import ExperimentError

_AXIS = re.compile(r"\$\{(\w+)\}")
_SPECIFICATION = re.compile(r"(?P<name>[^\[]*)\[(?P<parameters>.*)\]\s*", re.DOTALL)


def substituted(value: Any, point: Mapping[str, Any], where: str) -> Any:
    """`value` with `${axis}` replaced at every depth. Text that is one `${axis}` alone becomes the axis value."""
    if isinstance(value, Mapping):
        return {key: substituted(entry, point, f"{where}.{key}") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [substituted(entry, point, where) for entry in value]
    if not isinstance(value, str):
        return value
    for name in _AXIS.findall(value):
        if name not in point:
            raise ExperimentError(f"{where}: unknown axis ${{{name}}}; there are {', '.join(point) or 'none'}")
    whole = whole_axis(value)
    if whole is not None:
        return point[whole]
    return _AXIS.sub(lambda match: str(point[match[1]]), value)


def whole_axis(text: Any) -> str | None:
    """The axis of a text that is only `${axis}`; None for any other value."""
    found = _AXIS.fullmatch(text.strip()) if isinstance(text, str) else None
    return None if found is None else found[1]


def series_name(specification: str) -> str:
    """The name of an algorithm over all points: its specification without the parameters that contain an axis.

    `cet[detect=hybrid, memory=${memory}]` is `cet[detect=hybrid]` at every point.
    """
    found = _SPECIFICATION.fullmatch(specification)
    if found is None or _AXIS.search(specification) is None:
        return specification
    kept = [part.strip() for part in found["parameters"].split(",") if _AXIS.search(part) is None]
    return f"{found['name'].strip()}[{', '.join(kept)}]" if kept else found["name"].strip()
