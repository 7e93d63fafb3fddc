"""Two results folders, or two algorithms of one, side by side: ratios of the same cells with intervals, and answers.

The interval of a ratio follows from those of both medians, each wide enough that both hold in 95 % of cases
(Bonferroni): it needs seven runs on either side. That of several cells is the interval of the median of their ratios,
from six cells on; of fewer, from the least to the greatest of their intervals. A ratio whose interval holds 1 is
inconclusive.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

import pandas as pd

from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import ResultsError, load_results
from cepbench.metrics.statistics import CONFIDENCE, estimate, median
from cepbench.metrics.values import measurement, repetitions, value
from cepbench.plots.points import HIGHER_IS_BETTER
from cepbench.plots.units import human

COMPARED = {
    "latency_mean": "s",
    "latency_p50": "s",
    "latency_p95": "s",
    "latency_p99": "s",
    "latency_max": "s",
    "service_total": "s",
    "throughput": "events/s",
    "state_peak": "B",
    "process_peak": "B",
}
IDENTITY = ["experiment", "profile", "algorithm", "point", "measurement", "repetition"]

Key = tuple[str, str, str, str, str, int]


def compare(a: Path, b: Path, algorithms: tuple[str, str] | None = None) -> pd.DataFrame:
    """One row per cell of either folder, in a stable order. Raises `ResultsError` as `load_results` does.

    With `algorithms`, cells of the first one in `a` are compared with those of the second one in `b`.

    Columns: the cell's identity (experiment, profile, algorithm, point as JSON, measurement, repetition), `status_a`,
    `status_b` (None where the cell is missing), `status_changed`, `digest_changed` (None unless both have a digest),
    and for every metric of `COMPARED` its value `<metric>_a`, `<metric>_b`, `<metric>_ratio`, b over a, and its
    interval from `<metric>_low` to `<metric>_high`, if there are enough runs. Only cells that are ok have values; a
    ratio needs both, and a positive a.
    """
    names = (None, None) if algorithms is None else algorithms
    left, right = _of_algorithm(a, names[0]), _of_algorithm(b, names[1])
    if algorithms is not None:
        called = f"{algorithms[1]} / {algorithms[0]}"
        left, right = ({(*key[:2], called, *key[3:]): cells[key] for key in cells} for cells in (left, right))
    return side_by_side(left, right)


def side_by_side(left: Mapping[Key, Record], right: Mapping[Key, Record]) -> pd.DataFrame:
    """The table of `compare` for cells that were read already."""
    rows = [_row(key, left.get(key), right.get(key)) for key in dict.fromkeys((*left, *right))]
    parts = ("a", "b", "ratio", "low", "high")
    columns = [
        *IDENTITY,
        "status_a",
        "status_b",
        "status_changed",
        "digest_changed",
        *(f"{metric}_{part}" for metric in COMPARED for part in parts),
    ]
    table = pd.DataFrame(rows, columns=columns)
    numbers = {f"{metric}_{part}": "Float64" for metric in COMPARED for part in parts}
    return table.astype({**numbers, "repetition": "int64", "status_changed": "bool", "digest_changed": "boolean"})


def describe(table: pd.DataFrame) -> str:
    """The table in words for a terminal: counts, changed statuses and answers, and the ratios per algorithm.

    A ratio is the median over the cells that are ok on both sides, with its interval.
    """
    both = table["status_a"].notna() & table["status_b"].notna()
    lines = [
        f"{int(both.sum())} cells in both, {int(table['status_b'].isna().sum())} only in a, "
        f"{int(table['status_a'].isna().sum())} only in b"
    ]
    lines += [
        f"status {row['status_a']} -> {row['status_b']}: {_place(row)}"
        for row in table[both & table["status_changed"]].to_dict("records")
    ]
    answers = table[table["digest_changed"].fillna(False)]
    lines += [f"another answer: {_place(row)}" for row in answers.to_dict("records")]
    for (experiment, algorithm), group in table.groupby(["experiment", "algorithm"], sort=False):
        for metric, unit in COMPARED.items():
            known = group[group[f"{metric}_ratio"].fillna(0) > 0]
            if len(known):
                lines.append(_ratio_line(f"{experiment} {algorithm} {metric}", known, metric, unit))
    return "\n".join(lines)


def _ratio_line(name: str, cells: pd.DataFrame, metric: str, unit: str) -> str:
    ratios = [float(ratio) for ratio in cells[f"{metric}_ratio"]]
    middle = median(ratios)
    values = [human(float(cells[f"{metric}_{side}"].median()), unit) for side in ("a", "b")]
    over = f"over {len(ratios)} cells" if len(ratios) > 1 else "one cell"
    told = f"x{middle:.3g} ({{}}; {over}, median {values[0]} -> {values[1]})"
    interval = ratio_interval(cells, metric, ratios)
    better = middle > 1 if metric in HIGHER_IS_BETTER else middle < 1
    word = "better" if better else "worse"
    if unit == "B":  # not measured in runs
        return f"{name}: " + told.format("unchanged" if abs(log(middle)) < log(1.02) else word)
    if interval is None:
        return f"{name}: " + told.format("inconclusive: too few runs for an interval")
    low, high = interval
    if low == high == 1:
        word = "unchanged"
    elif low <= 1 <= high:
        word = "inconclusive"
    return f"{name}: " + told.format(f"{word}: {low:.3g} to {high:.3g}")


def ratio_interval(cells: pd.DataFrame, metric: str, ratios: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the median of `ratios`, those of rows of a table; None if there are too few runs."""
    found = estimate(ratios)
    if found.low is not None and found.high is not None:
        return found.low, found.high
    lows, highs = cells[f"{metric}_low"], cells[f"{metric}_high"]
    return None if lows.isna().any() or highs.isna().any() else (float(lows.min()), float(highs.max()))


def cells_of(records: Iterable[Record]) -> dict[Key, Record]:
    """Records by what makes two cells the same measurement."""
    return {_key(record): record for record in records}


def _of_algorithm(folder: Path, algorithm: str | None) -> dict[Key, Record]:
    """All cells, or those of an algorithm. Raises `ResultsError` if it has none."""
    records = [record for results in load_results(folder) for record in results.records]
    found = cells_of(record for record in records if algorithm in (None, record.algorithm))
    if algorithm is not None and not found:
        names = ", ".join(dict.fromkeys(record.algorithm for record in records)) or "none"
        raise ResultsError(f"{folder}: no cells of algorithm {algorithm!r}; there are those of {names}")
    return found


def _key(record: Record) -> Key:
    """What makes two cells the same measurement, whatever the commit or machine."""
    point = json.dumps(record.point, sort_keys=True, default=str)
    return (record.experiment, record.profile, record.algorithm, point, record.measurement, record.repetition)


def _row(key: Key, a: Record | None, b: Record | None) -> dict[str, Any]:
    row: dict[str, Any] = dict(zip(IDENTITY, key, strict=True))
    row["status_a"], row["status_b"] = (None if r is None else str(r.status) for r in (a, b))
    row["status_changed"] = row["status_a"] != row["status_b"]
    digests = [None if r is None else r.digest for r in (a, b)]
    row["digest_changed"] = None if None in digests else digests[0] != digests[1]
    for metric in COMPARED:
        x, y = (_value(r, metric) for r in (a, b))
        row |= {f"{metric}_a": x, f"{metric}_b": y, f"{metric}_ratio": y / x if x and y is not None else None}
        if x and y is not None and a is not None and b is not None:
            (a_low, a_high), (b_low, b_high) = _spread(a, metric), _spread(b, metric)
            if a_low and b_high is not None and a_high and b_low is not None:
                row |= {f"{metric}_low": b_low / a_high, f"{metric}_high": b_high / a_low}
    return row


def _spread(record: Record, metric: str) -> tuple[float | None, float | None]:
    """The interval of the median over a cell's runs, as sure as two of them must be."""
    runs = repetitions(record, metric)
    if not runs:
        return None, None
    found = estimate(runs, 1 - (1 - CONFIDENCE) / 2)
    return found.low, found.high


def _value(record: Record | None, metric: str) -> float | None:
    if record is None or record.status is not Status.OK or record.measurement != measurement(metric):
        return None
    return value(record, metric)


def _place(row: Mapping[Any, Any]) -> str:
    return " ".join(str(row[name]) for name in IDENTITY)
