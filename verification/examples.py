"""Streams with known answers: worked examples (`golden/*.yaml`), and small cases that reveal small mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from cepbench.algorithms.oracle import answer
from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import RESERVED, Attribute, Kind, Schema
from cepbench.queries.model import Matches, Query
from cepbench.queries.parser import parse_query
from cepbench.verification.random_cases import Rows
from cepbench.verification.witnesses import DETECTED_APART, HUGE, SUBSTREAMS, WITNESSES

KINDS = {int: Kind.INT, float: Kind.FLOAT, str: Kind.STRING}
LIMITS = {"COUNT": 2**64, "SUM": 2**63}
"""Exclusive upper bounds of counts and of sums in modular arithmetic; larger values overflow."""

_EVENT = re.compile(r"(?P<type>[A-Za-z]+)(?P<time>\d+)(/(?P<x>-?[\d.]+))?(,(?P<y>-?[\d.]+))?(@(?P<g>\w+))?$")


@dataclass(frozen=True)
class Example:
    """A query on events in time order, and the expected columns of its rows.

    `exact` has, for a query with too many matches to construct, the values of the returned items by the window's
    start. For other queries without `expected` rows the oracle computes the rows.
    """

    name: str
    query: Query
    events: Sequence[Mapping[str, Any]]
    expected: Rows | None = None
    exact: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    time_unit: str = "s"

    @cached_property
    def batch(self) -> EventBatch:
        """The events."""
        return batch(self.events, self.time_unit)

    @cached_property
    def rows(self) -> Rows:
        """The expected rows, in modular arithmetic."""
        if self.exact:
            return [_in_the_ring(row) for row in self._exact_rows()]
        return answer(self.query, self.events, modular=True) if self.expected is None else self.expected

    @property
    def magnitudes(self) -> Rows:
        """The expected rows in float arithmetic, for an example with `exact` values."""
        return [{**row, "overflow": False} for row in map(_in_floats, self._exact_rows())]

    def _exact_rows(self) -> Iterator[dict[str, Any]]:
        window = self.query.window
        for start, values in self.exact.items():
            end = None if window is None else start + int(window.within.amount)
            head = {"query": self.query.name, "window_start": start, "window_end": end}
            yield head | dict(zip(map(str, self.query.returns.items), values, strict=True))  # type: ignore[union-attr]


@cache
def examples() -> tuple[Example, ...]:
    """Worked examples of the papers, of detection and of conditions, and the small cases of `witnesses`."""
    return (*papers(), *_conditioned(), *_witnessed(), *_apart())


def papers() -> tuple[Example, ...]:
    """The worked examples of the papers, and those of detection."""
    return (*_worked(), *_detected())


def batch(events: Sequence[Mapping[str, Any]], time_unit: str = "s") -> EventBatch:
    """Events in time order that have the same attributes."""
    values = {name: [event[name] for event in events] for name in (events[0] if events else ()) if name not in RESERVED}
    kinds = {name: KINDS[type(column[0])] for name, column in values.items()}
    types = tuple(sorted({event["type"] for event in events}))
    strings = tuple(sorted({value for column in values.values() for value in column if isinstance(value, str)}))
    schema = Schema(types, tuple(Attribute(name, kind) for name, kind in kinds.items()), time_unit, strings)
    columns: dict[str, NDArray[np.generic]] = {}
    for name, column in values.items():
        stored = [schema.string_code(value) if isinstance(value, str) else value for value in column]
        columns[name] = np.array(stored, DTYPES[kinds[name]])
    time = np.array([event["time"] for event in events], np.int64)
    codes = np.array([schema.type_code(event["type"]) for event in events], np.int32)
    return EventBatch(schema, time, codes, columns, np.arange(len(events), dtype=np.int64))


def stream(text: str) -> list[dict[str, Any]]:
    """Events in the papers' notation, `type time [/x] [,y] [@g]`, separated by blanks: `A1 B2/5`.

    `B2/5` is a B at time 2 with x = 5.
    """
    events: list[dict[str, Any]] = []
    for word in text.split():
        match = _EVENT.match(word)
        if match is None:
            raise ValueError(f"{word!r} is not an event such as A1, B2/5 or A3/1,0.5@u")
        event: dict[str, Any] = {"time": int(match["time"]), "type": match["type"]}
        if match["x"]:
            event["x"] = float(match["x"]) if "." in match["x"] else int(match["x"])
        if match["y"]:
            event["y"] = float(match["y"])
        if match["g"]:
            event["g"] = match["g"]
        events.append(event)
    return events


@cache
def golden(name: str) -> dict[str, Any]:
    """The content of a file of worked examples: `queries`, `detection` or `conditions`."""
    text = (files("cepbench.verification") / "golden" / f"{name}.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def _worked() -> Iterator[Example]:
    for case in golden("queries")["cases"]:
        rows = [{**row, "overflow": False} for row in case["rows"]]
        yield Example(case["name"], parse_query(case["query"]), case["events"], rows)


def _detected() -> Iterator[Example]:
    events = golden("detection")["events"]
    for case in golden("detection")["cases"]:
        query = parse_query(case["query"])
        yield Example(f"detection-{case['name']}", query, events, _matches(case, query, events))


def _conditioned() -> Iterator[Example]:
    """Queries for all matches are counted, too, since few algorithms return matches."""
    for case in golden("conditions")["cases"]:
        name, text, events, unit = case["name"], case["query"], case["events"], case.get("time_unit", "s")
        query = parse_query(text)
        if "rows" in case:
            yield Example(name, query, events, [{**row, "overflow": False} for row in case["rows"]], time_unit=unit)
            continue
        yield Example(name, query, events, _matches(case, query, events), time_unit=unit)
        if isinstance(query.returns, Matches):
            count = {"window_start": 0, "window_end": None, "COUNT(*)": len(case["matches"]), "overflow": False}
            rows = [count] if case["matches"] else []
            yield Example(f"{name}-counted", parse_query(f"RETURN COUNT(*) {text}"), events, rows, time_unit=unit)


def _matches(case: Mapping[str, Any], query: Query, events: Sequence[Mapping[str, Any]]) -> Rows:
    """The rows of all matches: from the first to the last event under PER MATCH, otherwise in the whole stream."""
    ends = [
        (events[match[0]]["time"], events[match[-1]]["time"]) if query.span else (0, None) for match in case["matches"]
    ]
    return [
        {"match": match, "window_start": start, "window_end": end}
        for match, (start, end) in zip(case["matches"], ends, strict=True)
    ]


def _witnessed() -> Iterator[Example]:
    for name, (text, events) in WITNESSES.items():
        yield Example(name, parse_query(f"RETURN {text}"), _with_numbers(events))
    for name, (text, events, exact) in HUGE.items():
        yield Example(name, parse_query(f"RETURN {text}"), _with_numbers(events), exact=exact)


def _apart() -> Iterator[Example]:
    """Detection queries on several keys."""
    events = [
        {**event, "h": n % 2, "x": n * 5 % 3, "g": "uv"[n // 3 % 2]} for n, event in enumerate(stream(SUBSTREAMS))
    ]
    for number, text in enumerate(DETECTED_APART):
        yield Example(f"detection-apart-{number}", parse_query(text), events)


def _with_numbers(text: str) -> list[dict[str, Any]]:
    """Events with x and y = 0 where none is given."""
    return [{**event, "x": event.get("x", 0), "y": event.get("y", 0.0)} for event in stream(text)]


def _in_the_ring(row: Mapping[str, Any]) -> dict[str, Any]:
    """A value that does not fit is null, and so is the average of such a sum."""
    over = {name for name, value in row.items() if name.startswith(tuple(LIMITS)) and value >= LIMITS[_function(name)]}
    over |= {name for name in row if name.startswith("AVG") and name.replace("AVG", "SUM") in over}
    return {**row, **dict.fromkeys(over), "overflow": bool(over)}


def _in_floats(row: Mapping[str, Any]) -> dict[str, Any]:
    """Counts and sums as magnitudes; none overflows."""
    return {name: float(value) if name.startswith(tuple(LIMITS)) else value for name, value in row.items()}


def _function(name: str) -> str:
    return name.partition("(")[0]
