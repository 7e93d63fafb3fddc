"""Reads a results folder: `<results>/<experiment>/<profile>/figure.json` with the records in `cells` beside it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cepbench.events.errors import CepbenchError
from cepbench.metrics.figure import CELLS_FOLDER, FIGURE_FILE, FIGURE_FORMAT, SUPERSEDED, Figure
from cepbench.metrics.record import FORMAT, Record
from cepbench.metrics.record_files import SamplesError, read_record

Model = TypeVar("Model", bound=BaseModel)


class ResultsError(CepbenchError):
    """A results folder, figure or record that cannot be used: the message names the file."""


@dataclass(frozen=True)
class Results:
    """One swept figure: its description and all of its cells, ordered by algorithm, point, measurement, repetition."""

    folder: Path
    figure: Figure
    records: tuple[Record, ...]


def read(folder: Path) -> Results:
    """Everything of one experiment and profile. Cells of another experiment or profile are refused."""
    figure = _figure(folder / FIGURE_FILE)
    order = {specification: rank for rank, specification in enumerate(figure.algorithms)}
    records = list(_records(folder / CELLS_FOLDER, figure))
    records.sort(
        key=lambda r: (
            order.get(r.algorithm, len(order)),
            r.algorithm,
            point_key(r.point),
            r.measurement,
            r.repetition,
            r.cell,
        )
    )
    return Results(folder, figure, tuple(records))


def load_results(root: str | Path = "results") -> tuple[Results, ...]:
    """What `cepbench run` measured: one `Results` per experiment and profile, in the order of the papers' figures.

    >>> from cepbench import load_results
    >>> for found in load_results("results"):
    ...     print(found.figure.title, len(found.records))

    - `root`: the results folder, or one of the folders in it. Cells of an earlier configuration (`superseded`) are read
      only if `root` is their folder.
    - `Results.figure`: what the figure shows, with the verdicts on the paper's claims.
    - `Results.records`: one `Record` per cell: algorithm, point, status, raw samples and their summary, such as
      `record.summary.latency_p50` in seconds (docs/measurement.md, Metrics). Only a record with the status `ok` may be
      read as a time.

    Raises `ResultsError`, which names the file, if the folder does not exist or something in it cannot be read.
    """
    root = Path(root)
    if not root.is_dir():
        raise ResultsError(f"{root}: no such results folder")
    folders = sorted(
        path.parent
        for pattern in (FIGURE_FILE, f"*/{FIGURE_FILE}", f"*/*/{FIGURE_FILE}")
        for path in root.glob(pattern)
        if SUPERSEDED not in path.relative_to(root).parts
    )
    return tuple(sorted((read(folder) for folder in folders), key=figure_order))


def point_key(point: dict[str, Any]) -> tuple[tuple[str, bool, float, str], ...]:
    """Orders points: numbers by value and before text, whatever the order of the axes in the file."""
    return tuple((name, *value_key(point[name])) for name in sorted(point))


def value_key(value: Any) -> tuple[bool, float, str]:
    """Orders one coordinate: numbers by value, then everything else by its text."""
    if isinstance(value, int | float):
        return (False, float(value), "")
    return (True, 0.0, str(value))


def figure_order(results: Results) -> tuple[list[tuple[bool, float, str]], str, str]:
    """Sorts figures as the papers do, 13.4 before 13.10: the parts of the id as numbers."""
    parts = [value_key(int(part) if part.isdigit() else part) for part in results.figure.id.split(".")]
    return parts, results.figure.experiment, results.figure.profile


def _figure(path: Path) -> Figure:
    class Format(BaseModel):
        experiment: str = "the experiment"
        format: int = 1

    found = _parse(path, Format)
    if found.format != FIGURE_FORMAT:
        raise ResultsError(
            f"{path}: figure format {found.format}, expected {FIGURE_FORMAT}; run {found.experiment} again, "
            "which keeps its finished cells"
        )
    return _parse(path, Figure)


def _records(folder: Path, figure: Figure) -> Iterator[Record]:
    for path in sorted(folder.glob("*.json")):
        record = _parsed(path, read_record)
        if record.format != FORMAT:
            raise ResultsError(f"{path}: record format {record.format}, expected {FORMAT}; run the experiment again")
        if (record.experiment, record.profile) != (figure.experiment, figure.profile):
            raise ResultsError(
                f"{path}: a cell of {record.experiment} ({record.profile}), "
                f"expected {figure.experiment} ({figure.profile})"
            )
        yield record


def _parsed(path: Path, parse: Callable[[Path], Model]) -> Model:
    try:
        return parse(path)
    except OSError as error:
        raise ResultsError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ResultsError(f"{path}: {place + ': ' if place else ''}{first['msg']}") from None
    except SamplesError as error:
        raise ResultsError(str(error)) from None


def _parse(path: Path, model: type[Model]) -> Model:
    return _parsed(path, lambda file: model.model_validate_json(file.read_bytes()))
