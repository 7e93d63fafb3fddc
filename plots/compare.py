"""Compares two results folders, or two algorithms of one: ratios of equal cells with intervals, and answers.

The interval of a ratio follows from the intervals of both medians, which are wide enough that both hold in 95% of cases
(Bonferroni); it needs seven runs on either side. Several cells have the interval of the median of their ratios, from
six cells on; fewer cells have the range of their intervals. A ratio whose interval contains 1 is inconclusive, and a
ratio without an interval has no verdict. Cells of different configurations have no ratio.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from math import sqrt
from pathlib import Path
from typing import Any

import pandas as pd

from cepbench.metrics.configuration import differences
from cepbench.metrics.record import Record
from cepbench.metrics.results import ResultsError, load_results
from cepbench.metrics.statistics import CONFIDENCE, estimate, interval_rank, values_for
from cepbench.metrics.status import Status
from cepbench.metrics.values import MEMORY_METRICS, runs_of, status_of, value
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
LATENCIES = {
    "latency_p50": values_for(50),
    "latency_p95": values_for(95),
    "latency_p99": values_for(99),
    "latency_max": 2,
}
"""The number of different latencies that a cell needs before these metrics differ from its mean and from each other."""

EXACT = "state_peak"
"""A deterministic metric: equal values of all runs are an interval without width."""

SURE = 1 - (1 - CONFIDENCE) / 2
RUNS = next(runs for runs in count(1) if interval_rank(runs, SURE) is not None)
SHOWN = 3  # differences of two configurations that are named
IDENTITY = ["experiment", "profile", "algorithm", "point", "round"]

Key = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Ratio:
    """A metric of the cells of one algorithm: the median over cells of b divided by a.

    `a` and `b` are the values of the cell with the median ratio; for an even number of cells, all three are geometric
    means over the two cells in the middle.
    """

    experiment: str
    algorithm: str
    metric: str
    cells: int
    a: float
    b: float
    interval: tuple[float, float] | None
    runs: int  # the fewest of any cell

    @property
    def ratio(self) -> float:
        """The value of b divided by that of a."""
        return self.b / self.a

    @property
    def verdict(self) -> str:
        """Better, worse, unchanged or inconclusive, with the interval; without one, no verdict and the reason."""
        if self.interval is None:
            runs = "one run" if self.runs == 1 else f"{self.runs} runs, an interval needs {RUNS}"
            return f"no verdict: {runs}"
        low, high = self.interval
        if low == high == 1:
            return "unchanged"
        if low <= 1 <= high:
            word = "inconclusive"
        else:
            word = "better" if (low > 1) == (self.metric in HIGHER_IS_BETTER) else "worse"
        return f"{word}: {low:.3g} to {high:.3g}"


def compare(a: str | Path, b: str | Path, algorithms: tuple[str, str] | None = None) -> pd.DataFrame:
    """Compares the cells of two results folders.

    Parameters
    ----------
    a, b
        Results folders or packs.
    algorithms
        Two algorithms: cells of the first one in `a` are compared with cells of the second one in `b`. By default,
        cells are compared with cells of the same algorithm.

    Returns
    -------
    pandas.DataFrame
        A row per cell of `a` or `b`, in a stable order, in these columns:

        - the identity of the cell: experiment, profile, algorithm, point (as JSON), round;
        - `status_a`, `status_b` (None if the cell is missing; that of memory if only memory failed) and
          `status_changed`;
        - `digest_changed`: whether the answers differ; None unless both cells have a digest;
        - `differs`: how the configurations differ; None if they are equal;
        - `latencies`: the number of different latencies of the cell with fewer of them; None if unknown;
        - for each metric of `COMPARED`: `<metric>_a`, `<metric>_b`, their ratio `<metric>_ratio` (b divided by a), its
          interval from `<metric>_low` to `<metric>_high` if there are enough runs, and `<metric>_runs`, the number of
          runs of the side with fewer runs.

        Only runs that are ok have values. A ratio needs both values, a positive a, and equal configurations.

    Raises
    ------
    ResultsError
        If a folder cannot be read, or has no cells of the algorithm.

    Examples
    --------
    >>> from cepbench import compare
    >>> compare("results", "later")
    """
    names = (None, None) if algorithms is None else algorithms
    left, right = _of_algorithm(Path(a), names[0]), _of_algorithm(Path(b), names[1])
    if algorithms is not None:
        name = f"{algorithms[1]} / {algorithms[0]}"
        left, right = ({(*key[:2], name, *key[3:]): cells[key] for key in cells} for cells in (left, right))
    return side_by_side(left, right)


def side_by_side(left: Mapping[Key, Record], right: Mapping[Key, Record]) -> pd.DataFrame:
    """The table of `compare` for these cells."""
    rows = [_row(key, left.get(key), right.get(key)) for key in dict.fromkeys((*left, *right))]
    parts = ("a", "b", "ratio", "low", "high", "runs")
    columns = [
        *IDENTITY,
        "status_a",
        "status_b",
        "status_changed",
        "digest_changed",
        "differs",
        "latencies",
        *(f"{metric}_{part}" for metric in COMPARED for part in parts),
    ]
    table = pd.DataFrame(rows, columns=columns, dtype=object)  # None stays None in columns of text
    numbers = {f"{metric}_{part}": "Float64" for metric in COMPARED for part in parts}
    numbers |= {f"{metric}_runs": "Int64" for metric in COMPARED}
    kinds = {"round": "int64", "latencies": "Int64", "status_changed": "bool", "digest_changed": "boolean"}
    return table.astype({**numbers, **kinds})


def describe(table: pd.DataFrame) -> str:
    """The table as text: counts, changed statuses, configurations and answers, and ratios per algorithm."""
    common = table["status_a"].notna() & table["status_b"].notna()
    lines = [
        f"{_counted(int(common.sum()))} in both, {int(table['status_b'].isna().sum())} only in a, "
        f"{int(table['status_a'].isna().sum())} only in b"
    ]
    for (experiment, profile, text), group in table.groupby(["experiment", "profile", "differs"], sort=False):
        lines.append(f"not compared: {_counted(len(group))} of {experiment} {profile} of another configuration: {text}")
    lines += [
        f"status {row['status_a']} -> {row['status_b']}: {_place(row)}"
        for row in table[common & table["status_changed"]].to_dict("records")
    ]
    answers = table[table["digest_changed"].fillna(False) & table["differs"].isna()]
    lines += [f"another answer: {_place(row)}" for row in answers.to_dict("records")]
    for _, members in groupby(ratios(table), lambda ratio: (ratio.experiment, ratio.algorithm)):
        lines += _block(list(members))
    scarce = [
        f"{metric} (below {least})"
        for metric, least in LATENCIES.items()
        if (table[f"{metric}_ratio"].notna() & (table["latencies"] < least).fillna(False)).any()
    ]
    if scarce:
        lines.append(f"left out where a cell has too few different latencies: {', '.join(scarce)}")
    return "\n".join(lines)


def ratios(table: pd.DataFrame) -> Iterator[Ratio]:
    """The ratios of each algorithm of an experiment, over its cells that have a ratio.

    Quantiles of latencies are omitted if the cells have too few latencies for them (`LATENCIES`).
    """
    for (experiment, algorithm), group in table.groupby(["experiment", "algorithm"], sort=False):
        for metric in COMPARED:
            cells = with_enough(group, metric)
            cells = cells[cells[f"{metric}_ratio"].fillna(0) > 0].sort_values(f"{metric}_ratio")
            if len(cells):
                a, b = (_middle(cells[f"{metric}_{side}"].tolist()) for side in ("a", "b"))
                runs = int(cells[f"{metric}_runs"].min())
                single = metric in MEMORY_METRICS and runs == 1
                interval = None if single else ratio_interval(cells, metric, cells[f"{metric}_ratio"].tolist())
                yield Ratio(str(experiment), str(algorithm), metric, len(cells), a, b, interval, runs)


def with_enough(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The cells with enough samples for a metric: all, except for quantiles of too few latencies (`LATENCIES`)."""
    least = LATENCIES.get(metric, 0)
    return table[table["latencies"].fillna(least) >= least]


def median_ratio(values: Sequence[float]) -> float:
    """The median; for an even number, the geometric mean of the two in the middle, so that both directions agree."""
    return _middle(sorted(values))


def _middle(ordered: Sequence[float]) -> float:
    return sqrt(ordered[(len(ordered) - 1) // 2] * ordered[len(ordered) // 2])


def _block(members: Sequence[Ratio]) -> Iterator[str]:
    """The ratios of an algorithm below its name, in lines of at most 120 letters."""
    yield f"{members[0].experiment} {members[0].algorithm}"
    for each in members:
        a, b = (human(value, COMPARED[each.metric]) for value in (each.a, each.b))
        ratio, cells = f"x{each.ratio:.3g}", _counted(each.cells)
        yield f"  {each.metric:<13} {ratio:<9} {a:>15} -> {b:<15} {cells:<10} {each.verdict}"


def _counted(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


def ratio_interval(cells: pd.DataFrame, metric: str, values: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the median of ratios, the `values` of rows of a table; None if there are too few runs."""
    interval = estimate(values)
    if interval.low is not None and interval.high is not None:
        return interval.low, interval.high
    lows, highs = cells[f"{metric}_low"], cells[f"{metric}_high"]
    return None if lows.isna().any() or highs.isna().any() else (float(lows.min()), float(highs.max()))


def cells_of(records: Iterable[Record]) -> dict[Key, Record]:
    """Records by the identity of their cell; of several with one identity, the latest."""
    cells: dict[Key, Record] = {}
    for record in records:
        key = _key(record)
        if key not in cells or record.started >= cells[key].started:
            cells[key] = record
    return cells


def _of_algorithm(folder: Path, algorithm: str | None) -> dict[Key, Record]:
    """All cells, or those of an algorithm. Raises `ResultsError` if it has none."""
    records = [record for results in load_results(folder) for record in results.records]
    cells = cells_of(record for record in records if algorithm in (None, record.algorithm))
    if algorithm is not None and not cells:
        names = ", ".join(dict.fromkeys(record.algorithm for record in records)) or "none"
        raise ResultsError(f"{folder}: no cells of algorithm {algorithm!r}; there are those of {names}")
    return cells


def _key(record: Record) -> Key:
    """The identity of a cell, independent of commit and machine."""
    point = json.dumps(record.point, sort_keys=True, default=str)
    return (record.experiment, record.profile, record.algorithm, point, record.round)


def _row(key: Key, a: Record | None, b: Record | None) -> dict[str, Any]:
    row: dict[str, Any] = dict(zip(IDENTITY, key, strict=True))
    row["status_a"], row["status_b"] = (None if r is None else str(r.cell_status) for r in (a, b))
    row["status_changed"] = row["status_a"] != row["status_b"]
    digests = [None if r is None else r.digest for r in (a, b)]
    row["digest_changed"] = None if None in digests else digests[0] != digests[1]
    row["differs"] = None if a is None or b is None else _differs(a, b)
    row["latencies"] = min((latencies for r in (a, b) if r is not None and (latencies := _latencies(r))), default=None)
    for metric in COMPARED:
        x, y = (_value(r, metric) for r in (a, b))
        row |= {f"{metric}_a": x, f"{metric}_b": y}
        if x is not None and x > 0 and y is not None and a is not None and b is not None and row["differs"] is None:
            row[f"{metric}_ratio"] = y / x
            row[f"{metric}_runs"] = min(len(runs_of(r, metric)) or 1 for r in (a, b))
            (a_low, a_high), (b_low, b_high) = _spread(a, metric), _spread(b, metric)
            if a_low and b_high is not None and a_high and b_low is not None:
                row |= {f"{metric}_low": b_low / a_high, f"{metric}_high": b_high / a_low}
    return row


def _differs(a: Record, b: Record) -> str | None:
    """The difference of the configurations; the specifications of two different algorithms do not count."""
    same = a.algorithm == b.algorithm
    left, right = ({k: v for k, v in r.configuration.items() if same or k != "algorithm"} for r in (a, b))
    texts = differences(left, right)
    more = f"; and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return "; ".join(texts[:SHOWN]) + more if texts else None


def _latencies(record: Record) -> int | None:
    """An upper bound on the different latencies of a cell: those of its samples, and one per window."""
    bounds = [len(set(record.samples.latency))] if record.samples.latency else []
    if record.realised is not None:
        bounds.append(record.realised.windows)
    return min(bounds, default=None)


def _spread(record: Record, metric: str) -> tuple[float | None, float | None]:
    """The interval of the median over the runs of a cell, with the confidence that a ratio of two needs."""
    runs = runs_of(record, metric)
    if not runs:
        return None, None
    if metric == EXACT and len(runs) > 1 and len(set(runs)) == 1:
        return runs[0], runs[0]
    interval = estimate(runs, SURE)
    return interval.low, interval.high


def _value(record: Record | None, metric: str) -> float | None:
    if record is None or status_of(record, metric) is not Status.OK:
        return None
    return value(record, metric)


def _place(row: Mapping[Any, Any]) -> str:
    return " ".join([*(str(row[name]) for name in IDENTITY[:-1]), f"round {row['round']}"])
