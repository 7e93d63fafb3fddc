"""Text that names axes as `${axis}`: in streams, workloads and specifications of algorithms."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cepbench.experiments.errors import ExperimentError

_AXIS = re.compile(r"\$\{(\w+)\}")
_SPECIFICATION = re.compile(r"(?P<name>[^\[]*)\[(?P<parameters>.*)\]\s*", re.DOTALL)


def values_at(point: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The value of each axis at a point: the value of its label, if it has `values`, with other axes replaced.

    Raises `ExperimentError` for a value that needs itself.
    """
    result = {axis: values[axis][label] if axis in values else label for axis, label in point.items()}
    for _ in result:
        open_axes = [axis for axis, value in result.items() if axes_in(value)]
        if not open_axes:
            return result
        result |= {axis: substituted(result[axis], result, f"axis {axis}") for axis in open_axes}
    if remaining := [axis for axis, value in result.items() if axes_in(value)]:
        raise ExperimentError(f"axis {remaining[0]}: its value needs itself: {result[remaining[0]]!r}")
    return result


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


def axes_in(*parts: Any) -> set[str]:
    """The axes that these texts, or JSON values with texts, name."""
    return {*_AXIS.findall(json.dumps(parts, default=str))}


def whole_axis(text: Any) -> str | None:
    """The axis of a text that is only `${axis}`; None for any other value."""
    match = _AXIS.fullmatch(text.strip()) if isinstance(text, str) else None
    return None if match is None else match[1]


def series_name(specification: str) -> str:
    """The name of an algorithm over all points: its specification without the parameters that contain an axis.

    `cet[detect=hybrid, memory=${memory}]` is `cet[detect=hybrid]` at every point.
    """
    match = _SPECIFICATION.fullmatch(specification)
    if match is None or _AXIS.search(specification) is None:
        return specification
    kept = [part.strip() for part in match["parameters"].split(",") if _AXIS.search(part) is None]
    return f"{match['name'].strip()}[{', '.join(kept)}]" if kept else match["name"].strip()
