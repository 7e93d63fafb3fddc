"""Counts the numbers of claims again, from the records of a pack, with nothing of cepbench.

    python scripts/recount.py docs/headline.tar.xz --seed 1 --claims 20

draws claims of the pack that compare measured numbers, computes each one from the raw records by the definitions of
docs/measurement.md, and compares it with the number that the pack states. The status is 1 if one of them differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tarfile
from itertools import combinations
from math import isclose, log
from statistics import mean, median
from typing import Any

import yaml

Cell = dict[str, Any]
Claim = dict[str, Any]
Figure = tuple[str, dict[str, Any], dict[str, Any], list[bytes]]
"""The name of an experiment, its file, its page, and its records, each as JSON."""


class Undefined(Exception):
    """The records do not define the number of a claim."""


def main() -> int:
    """Prints a line per claim; returns the status."""
    arguments = argparse.ArgumentParser(description="Counts the numbers of claims again, from the records of a pack.")
    arguments.add_argument("pack")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--claims", type=int, default=20)
    options = arguments.parse_args()
    cases = drawn(read(options.pack), options.claims, options.seed)
    wrong = 0
    for experiment, text, stated, counted in cases:
        agrees = isclose(stated, counted, rel_tol=1e-9)
        wrong += not agrees
        print(f"{'agrees' if agrees else 'DIFFERS'}  {experiment}: {stated:.6g} stated, {counted:.6g} counted: {text}")
    print(f"{len(cases) - wrong} of {len(cases)} claims agree.")
    return 1 if wrong or not cases else 0


def read(pack: str) -> list[Figure]:
    """The figures of a pack."""
    with tarfile.open(pack) as files:
        content = {file.name: files.extractfile(file).read() for file in files if file.isfile()}  # type: ignore[union-attr]
    figures = []
    for name, text in sorted(content.items()):
        if name.endswith("/figure.json"):
            page = json.loads(text)
            lines = content[name.replace("figure.json", "records.jsonl")].splitlines()
            experiment = page["experiment"]
            definition = yaml.safe_load(content[f"experiments/{experiment}.yaml"])
            figures.append((experiment, definition, page, lines))
    return figures


def drawn(figures: list[Figure], count: int, seed: int) -> list[tuple[str, str, float, float]]:
    """So many claims in random order: experiment, text, the number that the pack states, and the one counted here."""
    candidates = [
        (experiment, claim, result["measured"], defaults(definition, page["profile"], claim), cells)
        for experiment, definition, page, cells in figures
        for claim in definition.get("claims", ())
        for result in page["claims"]
        if result["text"] == claim["text"] and "metric" in claim
        if result["measured"] is not None and not result["bound"] and not result["reason"]
    ]
    random.Random(seed).shuffle(candidates)
    cases: list[tuple[str, str, float, float]] = []
    for experiment, claim, stated, fixed, cells in candidates:
        if len(cases) == count:
            break
        try:
            cases.append(
                (experiment, claim["text"], stated, number(claim, [json.loads(cell) for cell in cells], fixed))
            )
        except Undefined as why:
            print(f"left out  {experiment}: {why}: {claim['text']}")
    return cases


def defaults(definition: dict[str, Any], profile: str, claim: Claim) -> dict[str, Any]:
    """The values of axes that a claim does not name, and that are not zipped with one that it names."""
    changed = definition.get("profiles", {}).get(profile, {})
    named = {*claim.get("where", {}), *claim.get("between", {}), *claim.get("slope", {}), claim.get("draws")}
    zips = [sweep.get("zip") or {} for part in (definition, changed) for sweep in (part.get("sweeps") or {}).values()]
    zipped = {axis for axes in zips if named & set(axes) for axis in axes}
    values = {**definition.get("defaults", {}), **changed.get("defaults", {})}
    return {axis: value for axis, value in values.items() if axis not in zipped}


def number(claim: Claim, cells: list[Cell], fixed: dict[str, Any]) -> float:
    """The number of a claim: the median over its draws, or their mean. Raises `Undefined`."""
    [axis] = list(claim.get("between", claim.get("slope", {}))) or [None]
    free = {axis, claim.get("draws")} - {None}
    to = claim.get("to", [])
    rivals = [(name, claim.get("to_metric", claim["metric"])) for name in ([to] if isinstance(to, str) else to)]
    sides = [(claim["of"], claim["metric"]), *rivals]
    tables = [table(side, cells, claim.get("where", {}), free, fixed) for side in sides]
    best = max if sides[-1][1] == "throughput" else min
    places = set.intersection(*(set(values) for values in tables))
    by_draw: dict[str, list[tuple[float, float]]] = {}
    for place in sorted(places):
        point = json.loads(place)
        value = tables[0][place] / (best(values[place] for values in tables[1:]) if rivals else 1.0)
        at = float(point[axis]) if axis else 0.0
        by_draw.setdefault(repr(point.get(claim.get("draws"))), []).append((at, value))
    if not by_draw:
        raise Undefined("no point has all systems")
    average = mean if claim.get("average") == "mean" else median
    return average(of_curve(claim, axis, sorted(points)) for points in by_draw.values())


def of_curve(claim: Claim, axis: str | None, points: list[tuple[float, float]]) -> float:
    """The number of a draw: a value, a growth, or the median of all slopes."""
    if axis is None:
        if len(points) > 1:
            raise Undefined("several points have this size")
        return points[0][1]
    first, last = claim.get("between", claim.get("slope"))[axis]
    values = {at: value for at, value in points if min(first, last) <= at <= max(first, last)}
    if first not in values or last not in values:
        raise Undefined("an end was not measured")
    if "between" in claim:
        return values[last] / values[first]
    return median(log(values[y] / values[x]) / log(y / x) for x, y in combinations(sorted(values), 2))


def table(
    side: tuple[str, str], cells: list[Cell], where: dict[str, Any], free: set[str | None], fixed: dict[str, Any]
) -> dict[str, float]:
    """The metric of an algorithm by point: the median over workers, or of a single one over its runs."""
    algorithm, metric = side
    by_point: dict[str, list[Cell]] = {}
    for cell in cells:
        point = cell["point"]
        named = all(point.get(name) == value for name, value in where.items())
        usual = all(point[name] == fixed.get(name, point[name]) for name in point if name not in free | set(where))
        measures = cell.get("memory_status") is not None or not is_memory(metric)
        if cell["algorithm"] == algorithm and named and usual and measures:
            by_point.setdefault(json.dumps(point, sort_keys=True), []).append(cell)
    return {point: median(of_cell(cell, metric, len(same) == 1) for cell in same) for point, same in by_point.items()}


def is_memory(metric: str) -> bool:
    """Whether the runs for memory measure it, which not all cells have."""
    detail = metric.startswith("details.") and metric.endswith("_bytes_peak")
    return detail or metric in ("state_peak", "process_peak") or metric.startswith("state_kinds.")


def of_cell(cell: Cell, metric: str, alone: bool) -> float:
    """The metric of a record. Raises `Undefined` if the cell did not end well."""
    if cell["status"] != "ok":
        raise Undefined(f"a cell is {cell['status']}")
    if alone and cell["runs"].get(metric):
        return median(cell["runs"][metric])
    family, _, name = metric.partition(".")
    places = {"details": cell["summary"].get("details", {}), "state_kinds": cell["summary"].get("state_kinds", {})}
    places["realised"] = cell.get("realised") or {}
    value = places[family].get(name) if name else cell["summary"].get(metric)
    if value is None:
        raise Undefined(f"a cell has no {metric}")
    return float(value)


if __name__ == "__main__":
    sys.exit(main())
