"""Experiment files for tests."""

from pathlib import Path
from typing import Any

import yaml

SMALL: dict[str, Any] = {
    "id": "small-1.1",
    "figure": "1.1",
    "paper": "none",
    "title": "Small",
    "departures": [],
    "stream": {
        "generator": "uniform",
        "parameters": {"events": "${events}", "types": 1, "groups": 4, "rate": 1, "seed": 5},
    },
    "workload": "RETURN key, COUNT(*) PATTERN A+ GROUP-BY key WITHIN ${within} s",
    "axes": {"events": [100, 200]},
    "zip": {"within": [50]},
    "algorithms": ["counting", "slow"],
    "measurements": ["time"],
    "repeat": 0.1,
    "limits": {"seconds": 30, "memory": "3 GB"},
    "plot": {
        "x": {"name": "events", "label": "Events"},
        "panels": [{"metric": "latency_max", "label": "Latency", "unit": "s"}],
    },
    "claims": [
        {
            "text": "Slow is slower.", "source": "here", "metric": "latency_max",
            "of": "slow", "to": "counting", "where": {"events": 200}, "at_least": 2,
        }
    ],
}  # fmt: skip


def write(folder: Path, document: dict[str, Any] = SMALL, name: str = "small-1.1", **changes: Any) -> Path:
    """The experiment as a file; `changes` replace top-level fields, None removes them."""
    merged = {key: value for key, value in {**document, **changes}.items() if value is not None}
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(merged, sort_keys=False))
    return path
