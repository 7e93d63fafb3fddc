"""Small streams in the papers' notation: `A1 B2/5` is an A at time 1 and a B at time 2 with x = 5."""

import re
from pathlib import Path
from typing import Any

import yaml

_EVENT = re.compile(r"(?P<type>[A-Za-z]+)(?P<time>\d+)(/(?P<x>-?[\d.]+))?(@(?P<g>\w+))?$")


def stream(text: str) -> list[dict[str, Any]]:
    """Events from `type time [/x] [@g]`, separated by blanks."""
    events: list[dict[str, Any]] = []
    for word in text.split():
        found = _EVENT.match(word)
        assert found, word
        event: dict[str, Any] = {"time": int(found["time"]), "type": found["type"]}
        if found["x"]:
            event["x"] = float(found["x"]) if "." in found["x"] else int(found["x"])
        if found["g"]:
            event["g"] = found["g"]
        events.append(event)
    return events


def golden_cases() -> list[dict[str, Any]]:
    """The worked examples of the papers."""
    cases: list[dict[str, Any]] = _golden("queries")["cases"]
    return cases


def golden_detection() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Events, and queries of detection over them with the positions of all matches."""
    loaded = _golden("detection")
    return loaded["events"], loaded["cases"]


def golden_plans() -> dict[str, Any]:
    """The worked optimiser examples of the papers."""
    return _golden("plans")


def _golden(name: str) -> dict[str, Any]:
    text = (Path(__file__).parent / "golden" / f"{name}.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded
