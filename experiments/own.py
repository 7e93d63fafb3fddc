"""What an experiment of one's own need not say: a stream, a workload and algorithms are enough."""

from collections.abc import Mapping
from typing import Any

from cepbench.algorithms.registry import ALGORITHMS

LIMITS = {"seconds": 60, "memory": "4 GB"}
PANELS = (
    ("time", {"metric": "latency_mean", "label": "Latency (mean)", "unit": "s"}),
    ("time", {"metric": "throughput", "label": "Throughput", "unit": "events/s"}),
    ("memory", {"metric": "state_peak", "label": "Memory", "unit": "B"}),
)
"""The kind of measurement, and what is drawn of it."""


def completed(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The document of the file `name`.yaml with a default for each field that is not there.

    `algorithms: all` are all registered ones; those that cannot evaluate the workload are recorded with the reason. An
    experiment that varies nothing has one point, at which its algorithms stand beside one another.
    """
    given = dict(document)
    if given.get("algorithms") == "all":
        given["algorithms"] = [algorithm.name for algorithm in ALGORITHMS]
    if not any(given.get(varied) for varied in ("axes", "zip", "sweeps")):
        given["axes"] = {"run": [1]}
    found = {
        "id": name, "figure": name, "paper": "", "title": name, "departures": (), "limits": LIMITS,
        "plot": {"x": _axis(given), "panels": _panels(given)},
    }  # fmt: skip
    return found | given


def _axis(document: Mapping[str, Any]) -> dict[str, Any]:
    """The first one that is varied."""
    sweeps = document.get("sweeps") or {}
    places = [*sweeps.values(), document] if isinstance(sweeps, Mapping) else [document]
    kinds = [place.get(kind) for place in places if isinstance(place, Mapping) for kind in ("axes", "zip")]
    names = [name for kind in kinds if isinstance(kind, Mapping) for name in kind]
    axis = str(names[0]) if names else "run"
    return {"name": axis, "label": axis.replace("_", " ").capitalize()}


def _panels(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    measured = document.get("measurements") or ["time", "memory"]
    panels = [panel for kind, panel in PANELS if kind in measured]
    return [{"letter": f"({letter})", **panel} for letter, panel in zip("abc", panels, strict=False)]
