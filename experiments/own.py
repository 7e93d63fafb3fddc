"""Users' own experiments: a template file, and defaults for all fields but stream, workload and algorithms."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cepbench.algorithms.registry import ALGORITHMS
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.templates import whole_axis
from cepbench.experiments.workload import Steps
from cepbench.metrics.files import write

TEMPLATE = Path(__file__).with_name("template.yaml")
NAME = r"[a-z][a-z0-9.-]*"
"""The pattern of the name of an experiment and its file."""

RUN = "run"
"""The axis of an experiment without axes."""

LIMITS = {"seconds": 60, "memory": "4 GB"}
PANELS = (
    ("time", {"metric": "latency_mean", "label": "Latency (mean)", "unit": "s"}),
    ("time", {"metric": "throughput", "label": "Throughput", "unit": "events/s"}),
    ("memory", {"metric": "state_peak", "label": "Memory", "unit": "B"}),
)
"""The default panels, each with the measurement that it needs."""


def write_template(name: str, folder: Path) -> Path:
    """Writes a commented experiment to a new file `name`.yaml. Raises `ExperimentError` for an invalid or used name."""
    if re.fullmatch(NAME, name) is None:
        raise ExperimentError(f"{name!r} is not a valid name; use lowercase letters, digits, - and . (my-queries)")
    path = folder / f"{name}.yaml"
    if path.exists():
        raise ExperimentError(f"{path} exists already; choose another name")
    write(path, TEMPLATE.read_text(encoding="utf-8").replace("${NAME}", name).encode())
    return path


def completed(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The document of the file `name`.yaml with a default for each missing field.

    `algorithms: all` means all registered algorithms; those that cannot evaluate the workload are recorded with the
    reason. The values of an axis that is a whole specification (`algorithms: ["${algorithm}"]`) are algorithms, each a
    series. An experiment without axes has one point, at which its algorithms are compared.
    """
    filled = _listed(document)
    if filled.get("algorithms") == "all":
        filled["algorithms"] = [algorithm.name for algorithm in ALGORITHMS]
    if not any(filled.get(varied) for varied in ("axes", "zip", "sweeps")):
        filled["axes"] = {RUN: [1]}
    labels = filled.pop("labels", {})  # of algorithms that were values with labels
    if labels and isinstance(filled.get("plot"), Mapping):
        filled["plot"] = {"labels": labels, **filled["plot"]}
    defaults = {
        "id": name, "figure": name, "paper": "", "title": name, "departures": (), "limits": LIMITS,
        "plot": {"x": _axis(filled), "panels": _panels(filled), "labels": labels},
    }  # fmt: skip
    return defaults | filled


def labeled(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with each axis that has labels (`{short: ..., long: ...}`) as a list of them.

    An axis may also be a range, `{from: 1, to: 200}`, both ends included. What the labels stand for is in `values`, so
    that a profile or `--set` can select labels.
    """
    values: dict[str, Any] = {}

    def listed(place: Any) -> Any:
        if not isinstance(place, Mapping):
            return place
        changed = dict(place)
        for kind in ("axes", "zip"):
            axes = place.get(kind)
            if isinstance(axes, Mapping):
                axes = {axis: _steps(axis, entries) for axis, entries in axes.items()}
                named = {axis: _texts(entries) for axis, entries in axes.items() if isinstance(entries, Mapping)}
                values.update(named)
                changed[kind] = {**axes, **{axis: list(labels) for axis, labels in named.items()}}
        return changed

    changed = listed(document)
    if isinstance(document.get("sweeps"), Mapping):
        changed["sweeps"] = {name: listed(sweep) for name, sweep in document["sweeps"].items()}
    if values:
        previous = document.get("values")
        changed["values"] = {**(previous if isinstance(previous, Mapping) else {}), **values}
    return dict(changed)


def _steps(axis: str, entries: Any) -> Any:
    """The values of a range; anything else as it is. Raises `ExperimentError` for a range without values."""
    if not isinstance(entries, Mapping) or not {"from", "to"} <= set(entries):
        return entries
    try:
        return Steps.model_validate(entries).values()
    except ValueError as error:
        raise ExperimentError(f"axes.{axis}: {str(error).splitlines()[-2].strip()}") from None


def _texts(labels: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(label): value for label, value in labels.items()}


def _listed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the values of an axis in place of an algorithm that is only this axis.

    Labels of the values are those of the algorithms.
    """
    changed = dict(document)
    names, axes = changed.get("algorithms"), changed.get("axes")
    if not isinstance(names, list):
        return changed
    algorithms: list[Any] = []
    for name in names:
        axis = whole_axis(name)
        values = axes.get(axis) if isinstance(axes, Mapping) and axis is not None else None
        if isinstance(values, list):
            labels = changed.get("values", {}).get(axis, {})
            algorithms += [labels.get(value, value) for value in values]
            changed["axes"] = {key: value for key, value in changed["axes"].items() if key != axis}
            if labels:
                changed["values"] = {key: value for key, value in changed["values"].items() if key != axis}
                changed["labels"] = {**changed.get("labels", {}), **{value: label for label, value in labels.items()}}
        else:
            algorithms.append(name)
    return changed | {"algorithms": algorithms}


def _axis(document: Mapping[str, Any]) -> dict[str, Any]:
    """The first axis that is varied."""
    sweeps = document.get("sweeps") or {}
    places = [*sweeps.values(), document] if isinstance(sweeps, Mapping) else [document]
    kinds = [place.get(kind) for place in places if isinstance(place, Mapping) for kind in ("axes", "zip")]
    names = [name for kind in kinds if isinstance(kind, Mapping) for name in kind]
    axis = str(names[0]) if names else RUN
    return {"name": axis, "label": axis.replace("_", " ").capitalize()}


def _panels(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    measured = document.get("measurements") or ["time", "memory"]
    panels = [panel for kind, panel in PANELS if kind in measured]
    return [{"letter": f"({letter})", **panel} for letter, panel in zip("abc", panels, strict=False)]
