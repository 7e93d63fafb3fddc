"""Small streams in the papers' notation, and the worked examples of the papers."""

from pathlib import Path
from typing import Any

import yaml

from cepbench.verification.examples import golden, stream

__all__ = ["golden_cases", "golden_conditions", "golden_detection", "golden_plans", "stream"]


def golden_cases() -> list[dict[str, Any]]:
    """The worked examples: queries, events and rows."""
    cases: list[dict[str, Any]] = golden("queries")["cases"]
    return cases


def golden_conditions() -> list[dict[str, Any]]:
    """The examples of conditions and repetitions: queries, events, and rows or the positions of all matches."""
    cases: list[dict[str, Any]] = golden("conditions")["cases"]
    return cases


def golden_detection() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The examples of detection: events, and queries with the positions of all matches."""
    return golden("detection")["events"], golden("detection")["cases"]


def golden_plans() -> dict[str, Any]:
    """The worked optimizer examples."""
    text = (Path(__file__).parent / "golden" / "optimizers.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded
