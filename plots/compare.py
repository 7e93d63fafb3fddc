"""Two results folders side by side: how the summaries of the same cells changed, and which statuses and answers did."""

import json
from collections.abc import Mapping
from math import exp, log
from pathlib import Path
from typing import Any

import pandas as pd

from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import load_results
from cepbench.metrics.values import measurement, value
from cepbench.plots.points import HIGHER_IS_BETTER
from cepbench.plots.units import human

COMPARED = {
    "latency_p50": "s",
    "latency_p95": "s",
    "latency_p99": "s",
    "throughput": "events/s",
    "state_peak": "B",
    "process_peak": "B",
}
IDENTITY = ["experiment", "profile", "algorithm", "point", "measurement", "repetition"]

Key = tuple[str, str, str, str, str, int]


def compare(a: Path, b: Path) -> pd.DataFrame:
    """One row per cell of either folder, in a stable order. Raises `ResultsError` as `load_results` does.

    Columns: the cell's identity (experiment, profile, algorithm, point as JSON, measurement, repetition), `status_a`,
    `status_b` (None where the cell is missing), `status_changed`, `digest_changed` (None unless both have a digest),
    and for every metric of `COMPARED` its value `<metric>_a`, `<metric>_b` and `<metric>_ratio`, b over a. Only cells
    that are ok have values; a ratio needs both, and a positive a.
    """
    left, right = _cells(a), _cells(b)
    rows = [_row(key, left.get(key), right.get(key)) for key in dict.fromkeys((*left, *right))]
    columns = [
        *IDENTITY,
        "status_a",
        "status_b",
        "status_changed",
        "digest_changed",
        *(f"{metric}_{part}" for metric in COMPARED for part in ("a", "b", "ratio")),
    ]
    table = pd.DataFrame(rows, columns=columns)
    numbers = {
        name: "Float64"
        for name in columns
        if name.rsplit("_", 1)[-1] in ("a", "b", "ratio") and not name.startswith("status")
    }
    return table.astype({**numbers, "repetition": "int64", "status_changed": "bool", "digest_changed": "boolean"})


def describe(table: pd.DataFrame) -> str:
    """The table in words for a terminal: counts, changed statuses and answers, and the ratios per algorithm.

    A ratio is the geometric mean over the cells that are ok in both folders, with the smallest and the largest.
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
            ratios = [float(ratio) for ratio in group[f"{metric}_ratio"].dropna() if ratio > 0]
            if ratios:
                lines.append(_ratio_line(f"{experiment} {algorithm} {metric}", group, metric, unit, ratios))
    return "\n".join(lines)


def _ratio_line(name: str, group: pd.DataFrame, metric: str, unit: str, ratios: list[float]) -> str:
    mean = exp(sum(map(log, ratios)) / len(ratios))
    better = mean > 1 if metric in HIGHER_IS_BETTER else mean < 1
    word = "unchanged" if abs(log(mean)) < log(1.02) else "better" if better else "worse"
    shared = group[group[f"{metric}_ratio"].notna()]
    middle = [human(float(shared[f"{metric}_{side}"].median()), unit) for side in ("a", "b")]
    return (
        f"{name}: x{mean:.3g} ({word}; {min(ratios):.3g} to {max(ratios):.3g} over {len(ratios)} cells, "
        f"median {middle[0]} -> {middle[1]})"
    )


def _cells(folder: Path) -> dict[Key, Record]:
    return {_key(record): record for results in load_results(folder) for record in results.records}


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
    return row


def _value(record: Record | None, metric: str) -> float | None:
    if record is None or record.status is not Status.OK or record.measurement != measurement(metric):
        return None
    return value(record, metric)


def _place(row: Mapping[Any, Any]) -> str:
    return " ".join(str(row[name]) for name in IDENTITY)
