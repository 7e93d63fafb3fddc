"""Synthetic results: no algorithm runs here."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cepbench.metrics.figure import Axis, ClaimResult, Departure, Evidence, Figure, Panel, Scale, Verdict
from cepbench.metrics.record import Realised, Record, Samples, Summary
from cepbench.metrics.status import Status

PANELS = (
    Panel(metric="latency_p50", label="Latency (median)", unit="s", letter="(a)"),
    Panel(metric="throughput", label="Throughput", unit="events/s", letter="(b)"),
    Panel(metric="state_peak", label="Peak state", unit="B", letter="(c)"),
)
ONE = PANELS[:1]
"""One panel for tests that need no more: it is drawn in a third of the time."""


def make_figure(**changes: Any) -> Figure:
    fields: dict[str, Any] = {
        "id": "13.1",
        "experiment": "greta-13.1",
        "profile": "headline",
        "title": "Positive patterns, stock stream",
        "paper": "Poppe 2018, Figure 13.1",
        "caption": "Events per window vary; each point is a window.",
        "x": Axis(name="events", label="Events per window", scale=Scale.LOG),
        "panels": PANELS,
        "algorithms": ("sase", "greta", "cogra"),
        "workload": "q1: RETURN sector, COUNT(*)\nPATTERN Stock S+\nWHERE S.price < NEXT(S).price\nWITHIN 10 minutes",
        "stream": "stock: 10 companies, replicated, seed 7",
        "departures": (Departure(what="windows tumble; those of the paper slide", reason="one answer per event"),),
        "environment": {"cpu": "x86-64, 2 cores", "memory": 8 << 30},
        "claims": (
            ClaimResult(
                text="GRETA outperforms SASE.",
                source="Section 13.2",
                expected="200 times",
                claimed=200.0,
                size="events 100000",
                measured=312.4,
                low=290.0,
                high=330.0,
                unit="x",
                verdict=Verdict.HOLDS,
            ),
            ClaimResult(
                text="Memory of GRETA is linear.",
                source="Section 13.2",
                expected="n^1",
                size="events 1000 to 1000000",
                measured=-0.4,
                low=-0.5,
                high=-0.3,
                verdict=Verdict.OPPOSITE,
                cause="ours",
                why="Each event has an entry of its own in the index.",
                evidence=(Evidence(what="state_peak of greta at events 1000", measured=42e3, unit="B"),),
            ),
            ClaimResult(
                text="Flink fails above 100k.",
                source="Section 13.2",
                expected="flink does not end",
                size="events 100000",
                verdict=Verdict.OPEN,
                reason="Flink is not in this figure",
            ),
        ),
    }
    return Figure(**(fields | changes))


def make_record(algorithm: str = "greta", point: dict[str, Any] | None = None, **changes: Any) -> Record:
    point = {"events": 1000} if point is None else point
    """A record; with `memory=True` also of a memory run, with the same status."""
    memory, number = changes.pop("memory", False), changes.get("round", 1)
    group = json.dumps(point, sort_keys=True)
    status = changes.get("status", Status.OK)
    fields: dict[str, Any] = {
        "cell": f"{algorithm} {group} {number}",
        "group": group,
        "experiment": "greta-13.1",
        "profile": "headline",
        "algorithm": algorithm,
        "point": point,
        "round": number,
        "configuration": {"arithmetic": "modular"},
        "status": status,
        "memory_status": status if memory else None,
        "limit_seconds": 60.0,
        "limit_bytes": 4 << 30,
        "digest": "d1ge57" if status is Status.OK else None,
        "provenance": {"commit": "abc", "versions": {"numpy": "2.0"}},
        "started": "2027-01-02T03:04:05Z",
    }
    return Record(**(fields | changes))


def make_sweep() -> list[Record]:
    """Three algorithms over five sizes; SASE times out, once answers wrongly, GRETA runs out of memory."""
    records = []
    for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
        for algorithm, seconds, bytes_per in (
            ("sase", 2e-10 * size**2.4, 60),
            ("greta", 3e-9 * size**1.6, 40),
            ("cogra", 4e-8 * size, 0),
        ):
            for number in (1, 2, 3):
                took = seconds * (1 + 0.08 * (number - 2))
                realised = Realised(events=size, windows=1, rows=10, substreams=10, matches_per_window=2.0**20)
                changes: dict[str, Any] = {
                    "memory": True,
                    "round": number,
                    "realised": realised,
                    "digest": f"digest-{size}",
                    "seconds": seconds,
                }
                if algorithm == "sase" and size == 1_000_000 and number == 1:
                    changes |= {
                        "status": Status.WRONG,
                        "reason": "differs from greta and cogra in 3 rows",
                        "digest": "other",
                        "summary": Summary(latency_p50=1e-9, state_peak=1),
                    }
                elif algorithm == "greta" and size == 10_000_000:
                    changes |= {"status": Status.OUT_OF_MEMORY, "reason": "a worker exceeded 4 GB", "digest": None}
                elif seconds > 60:
                    changes |= {"status": Status.TIMEOUT, "reason": "no answer within 60 s", "digest": None}
                else:
                    state = 2_000 + bytes_per * size
                    changes |= {
                        "summary": Summary(latency_p50=took, throughput=size / took, state_peak=state),
                        "samples": Samples(latency=[took]),
                    }
                records.append(make_record(algorithm, {"events": size}, **changes))
    return records


def write_results(root: Path, figure: Figure, records: Sequence[Record]) -> Path:
    folder = root / figure.experiment / figure.profile
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    (folder / "figure.json").write_text(figure.model_dump_json())
    for number, record in enumerate(records):
        (folder / "cells" / f"{number:04}.json").write_text(record.model_dump_json())
    return folder


@pytest.fixture
def figure() -> Callable[..., Figure]:
    return make_figure


@pytest.fixture
def record() -> Callable[..., Record]:
    return make_record


@pytest.fixture
def sweep() -> list[Record]:
    return make_sweep()


@pytest.fixture
def save() -> Callable[[Path, Figure, Sequence[Record]], Path]:
    return write_results
