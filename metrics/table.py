"""All cells of a results folder as one table."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cepbench.metrics.record import Realised, Record, Summary
from cepbench.metrics.results import Results, load_results, load_runs
from cepbench.metrics.status import Status

if TYPE_CHECKING:
    import pandas as pd

_IDENTITY = (
    "experiment", "profile", "figure", "algorithm", "round", "status", "reason", "memory_status", "memory_reason",
    "limit_seconds", "limit_bytes", "arithmetic", "digest", "overflow", "cell", "group", "run", "machine", "commit",
    "date", "started", "seconds",
)  # fmt: skip
"""The columns that identify a cell, its status, and its origin."""
_SUMMARY = tuple(name for name in Summary.model_fields if name not in ("details", "state_kinds"))
_REALISED = tuple(Realised.model_fields)


def load_frame(root: str | Path | Iterable[str | Path] = "results") -> "pd.DataFrame":
    """Read what `cepbench run` measured as one tidy table.

    Parameters
    ----------
    root
        The results folder, one of the folders in it, a pack, or several of these.

    Returns
    -------
    pandas.DataFrame
        One row per cell, of all sources below one another; docs/measurement.md, Export, documents the
        columns. Metrics of runs that are not `ok` are missing.

    Raises
    ------
    ResultsError
        As `load_results`.

    Examples
    --------
    >>> from cepbench import load_frame
    >>> cells = load_frame("results")
    >>> cells[cells.status == "ok"].groupby("algorithm").latency_mean.median()
    """
    sources = [Path(root)] if isinstance(root, str | Path) else [Path(source) for source in root]
    everything = load_runs(sources) if len(sources) > 1 else load_results(sources[0])
    return frame(everything).dropna(axis="columns", how="all")


def frame(everything: Iterable[Results]) -> "pd.DataFrame":
    """The cells of figures, in order."""
    import pandas as pd

    rows = [_row(results, record) for results in everything for record in results.records]
    fixed = [*_IDENTITY, *_SUMMARY, *(f"realised.{name}" for name in _REALISED)]
    named = {name: None for row in rows for name in row}
    points = [name for name in named if name.startswith("point.")]
    others = sorted(name for name in named if name not in fixed and name not in points)
    head, rest = fixed[:5], fixed[5:]
    return pd.DataFrame(rows, columns=[*head, *points, *rest, *others])


def _row(results: Results, record: Record) -> dict[str, Any]:
    row = record.model_dump(mode="json", include={*_IDENTITY})
    row |= {
        "figure": results.figure.id,
        "arithmetic": record.configuration.get("arithmetic"),
        "run": results.source or None,
        "machine": machine(record) if record.provenance else None,
        "commit": record.provenance.get("commit"),
        "date": record.started[:10] or None,
    }
    row |= {f"point.{name}": value for name, value in record.point.items()}
    if record.status is not Status.OK:
        return row
    row |= {name: getattr(record.summary, name) for name in _SUMMARY}
    row |= _named("details", record.summary.details) | _named("state_kinds", record.summary.state_kinds)
    if record.realised is not None:
        row |= _named("realised", record.realised.model_dump())
    return row


def machine(record: Record) -> str:
    """Processor, cores, memory and system, as far as they are recorded."""
    origin = record.provenance
    memory = origin.get("memory_bytes")
    parts = (
        origin.get("cpu"),
        f"{origin['cores']} cores" if origin.get("cores") else None,
        f"{memory / 1e9:.3g} GB" if isinstance(memory, int | float) else None,
        origin.get("system"),
    )
    return ", ".join(str(part) for part in parts if part) or "not recorded"


def _named(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in values.items()}
