"""Reads results: `<experiment>/<profile>/figure.json` with the records in `cells` beside it, in a folder or a pack.

A pack has the records of a figure as lines of one file. All commands that read results do so here.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from cepbench.events.errors import CepbenchError
from cepbench.metrics.figure import CELLS_FOLDER, FIGURE_FILE, FIGURE_FORMAT, SUPERSEDED, Figure
from cepbench.metrics.pack import SUFFIX, PackError, read_members, write_members
from cepbench.metrics.record import Record
from cepbench.metrics.record_files import SamplesError, read_record

Model = TypeVar("Model", bound=BaseModel)
PACKED = "results"  # folder of a pack with one folder per figure
MOST_LETTERS = 40  # of the value of an axis in a message
RECORDS_FILE = "records.jsonl"  # of a figure in a pack, a record in each line
MOST_LATENCIES = 10_000  # of a cell in a pack
EXPERIMENTS = "experiments"  # folder of a pack with the files of its experiments
ENVIRONMENT = "environment.json"


class ResultsError(CepbenchError):
    """A results folder, figure or record that cannot be used: the message names the file."""


@dataclass(frozen=True)
class Results:
    """One swept figure: its description and all of its cells, ordered by algorithm, point and round.

    `folder` holds them; in a pack it is not a folder of the file system. `source` names the run if several are shown.
    `file` is the text of the experiment, if a pack has it.
    """

    folder: Path
    figure: Figure
    records: tuple[Record, ...]
    source: str = ""
    file: str = ""


def read(folder: Path) -> Results:
    """The results of one experiment and profile. Cells of another experiment or profile are refused."""
    figure = _figure(folder / FIGURE_FILE, (folder / FIGURE_FILE).read_bytes)
    cells = ((path, partial(read_record, path)) for path in sorted((folder / CELLS_FOLDER).glob("*.json")))
    return _results(folder, figure, cells)


def load_results(root: str | Path = "results") -> tuple[Results, ...]:
    """Read what `cepbench run` measured.

    Parameters
    ----------
    root
        The results folder, one of the folders in it, or a pack (`cepbench pack`). Cells of an earlier configuration
        (`superseded`) are read only if `root` is their folder.

    Returns
    -------
    tuple of Results
        One per experiment and profile, in the order of the papers' figures. `figure` describes the figure, with the
        verdicts on the paper's claims. `records` has one `Record` per cell: algorithm, point, status, raw samples and
        their summary, such as `record.summary.latency_p50` in seconds (docs/measurement.md, Metrics). Only a record
        with the status `ok` has valid times, and only one with the `memory_status` `ok` has memory.

    Raises
    ------
    ResultsError
        If the folder does not exist or one of its files cannot be read; the message names the file.

    Examples
    --------
    >>> from cepbench import load_results
    >>> for found in load_results("results"):
    ...     print(found.figure.title, len(found.records))
    """
    root = Path(root)
    if root.is_dir():
        figures = [read(folder) for folder in _folders(root)]
    elif root.exists():
        figures = list(_packed(root))
    else:
        raise ResultsError(f"{root}: no such results folder")
    return tuple(sorted(figures, key=figure_order))


def load_runs(sources: Sequence[Path]) -> tuple[Results, ...]:
    """The results of all sources in the order of the figures and, for one figure, of the sources.

    `Results.source` names the source if there are several or if it is a pack. Raises `ResultsError` like
    `load_results`.
    """
    if len(sources) == 1 and not sources[0].is_file():
        return load_results(sources[0])
    named = zip(names(sources), sources, strict=True)
    figures = [replace(results, source=name) for name, source in named for results in load_results(source)]
    return tuple(sorted(figures, key=figure_order))


def names(sources: Sequence[Path]) -> list[str]:
    """A short name for each source, of letters, digits, dots and dashes; equal names are numbered."""
    short = [re.sub(r"[^\w.-]+", "-", source.resolve().name.removesuffix(SUFFIX)) for source in sources]
    names: list[str] = []
    for name in short:
        free = (f"{name}-{number}" for number in count(1))
        alone = short.count(name) == 1
        names.append(name if alone else next(option for option in free if option not in names and option not in short))
    return names


def write_pack(path: Path, everything: Sequence[Results], experiments: Mapping[str, bytes]) -> Path:
    """Writes results, and the files of their experiments by id, to one file. Raises `Unwritable`."""
    members = {ENVIRONMENT: _environments(everything)}
    members |= {f"{EXPERIMENTS}/{name}.yaml": content for name, content in experiments.items()}
    for results in everything:
        folder = f"{PACKED}/{results.figure.experiment}/{results.figure.profile}"
        packed = (_thinned(record).model_dump(mode="json") for record in results.records)
        lines = [json.dumps(record, separators=(",", ":")) for record in packed]
        members[f"{folder}/{FIGURE_FILE}"] = results.figure.model_dump_json(indent=1).encode()
        members[f"{folder}/{RECORDS_FILE}"] = "".join(f"{line}\n" for line in lines).encode()
    about = {"figures": len(everything), "records": sum(len(results.records) for results in everything)}
    return write_members(path, members, about)


def _thinned(record: Record) -> Record:
    """A record with at most `MOST_LATENCIES` latencies, in their order; of more, those at equal distances of rank."""
    latency = record.samples.latency
    if len(latency) <= MOST_LATENCIES:
        return record
    ranks = (np.arange(MOST_LATENCIES) + 0.5) * (len(latency) / MOST_LATENCIES)
    rows = np.sort(np.argsort(latency, kind="stable")[ranks.astype(np.int64)])
    kept = [latency[row] for row in rows.tolist()]
    return record.model_copy(update={"samples": record.samples.model_copy(update={"latency": kept})})


def _environments(everything: Sequence[Results]) -> bytes:
    """The different provenances, in the order of their first cells, and how many cells have each."""
    texts = [json.dumps(record.provenance) for results in everything for record in results.records]
    counts = {text: texts.count(text) for text in dict.fromkeys(texts)}
    return json.dumps([{"cells": n, "provenance": json.loads(text)} for text, n in counts.items()], indent=1).encode()


def point_key(point: dict[str, Any]) -> tuple[tuple[str, bool, float, str], ...]:
    """Orders points: numbers by value and before text, independent of the order of the axes in the file."""
    return tuple((name, *value_key(point[name])) for name in sorted(point))


def value_key(value: Any) -> tuple[bool, float, str]:
    """Orders one coordinate: numbers by value, then everything else by its text."""
    if isinstance(value, int | float):
        return (False, float(value), "")
    return (True, 0.0, str(value))


def in_words(point: Mapping[str, Any]) -> str:
    """A point for messages: `events 1000, query short`."""
    return ", ".join(f"{axis} {brief(value)}" for axis, value in point.items())


def cell_name(algorithm: str, point: Mapping[str, Any]) -> str:
    """A cell for messages: `greta at events 1000`."""
    return f"{algorithm} at {in_words(point)}" if point else algorithm


def brief(value: Any) -> str:
    """The value of an axis in one short line; a long text, such as a query, is cut."""
    text = " ".join(str(value).split())
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def figure_order(results: Results) -> tuple[list[tuple[bool, float, str]], str, str]:
    """Sorts figures as the papers do, 13.4 before 13.10: the parts of the id as numbers."""
    parts = [value_key(int(part) if part.isdigit() else part) for part in results.figure.id.split(".")]
    return parts, results.figure.experiment, results.figure.profile


def has_results(root: Path) -> bool:
    """Whether `load_results` would look for figures there: in a pack, or in a folder with figures. Reads none."""
    return root.is_file() or bool(_folders(root))


def _folders(root: Path) -> list[Path]:
    return sorted(
        path.parent
        for pattern in (FIGURE_FILE, f"*/{FIGURE_FILE}", f"*/*/{FIGURE_FILE}")
        for path in root.glob(pattern)
        if SUPERSEDED not in path.relative_to(root).parts
    )


def _packed(pack: Path) -> Iterator[Results]:
    """All figures of a pack."""
    try:
        members = read_members(pack)
    except PackError as error:
        raise ResultsError(str(error)) from None
    for name, content in members.items():
        place = PurePosixPath(name)
        if place.name == FIGURE_FILE and place.is_relative_to(PACKED):
            folder = pack / place.parent.relative_to(PACKED)
            lines = members.get(f"{place.parent}/{RECORDS_FILE}", b"").splitlines()
            cells = (
                (folder / f"{RECORDS_FILE}:{number}", partial(Record.model_validate_json, line))
                for number, line in enumerate(lines, 1)
            )
            figure = _figure(folder / FIGURE_FILE, partial(bytes, content))
            parts = place.parent.relative_to(PACKED).parts
            if ".." in parts or parts != figure.key:
                raise ResultsError(f"{folder / FIGURE_FILE}: a figure of {figure.experiment} ({figure.profile})")
            file = members.get(f"{EXPERIMENTS}/{figure.experiment}.yaml", b"").decode()
            yield replace(_results(folder, figure, cells), file=file)


def _results(folder: Path, figure: Figure, cells: Iterable[tuple[Path, Callable[[], Record]]]) -> Results:
    """A figure and its cells in order, each with its place and a function that reads it."""
    order = {specification: rank for rank, specification in enumerate(figure.algorithms)}
    records = [_record(path, parse, figure) for path, parse in cells]
    records.sort(
        key=lambda r: (
            order.get(r.algorithm, len(order)),
            r.algorithm,
            point_key(r.point),
            r.round,
            r.cell,
        )
    )
    return Results(folder, figure, tuple(records))


def _figure(path: Path, content: Callable[[], bytes]) -> Figure:
    class Format(BaseModel):
        experiment: str = "the experiment"
        format: int = 1

    header = _parsed(path, lambda: Format.model_validate_json(content()))
    if header.format != FIGURE_FORMAT:
        raise ResultsError(
            f"{path}: figure format {header.format}, expected {FIGURE_FORMAT}; "
            + _remedy(path, f"run {header.experiment} again, which keeps its finished cells")
        )
    return _parsed(path, lambda: Figure.model_validate_json(content()))


def _record(path: Path, parse: Callable[[], Record], figure: Figure) -> Record:
    record = _parsed(path, parse)
    if (record.experiment, record.profile) != figure.key:
        raise ResultsError(
            f"{path}: a cell of {record.experiment} ({record.profile}), expected {figure.experiment} ({figure.profile})"
        )
    return record


def _remedy(path: Path, of_folder: str) -> str:
    """The remedy for another format: a pack cannot be run again."""
    return of_folder if path.exists() else "use the version of cepbench that packed it"


def _parsed(path: Path, parse: Callable[[], Model]) -> Model:
    try:
        return parse()
    except OSError as error:
        raise ResultsError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        parts = (path, ".".join(str(part) for part in first["loc"]), first["msg"].removeprefix("Value error, "))
        raise ResultsError(": ".join(str(part) for part in parts if part)) from None
    except SamplesError as error:
        raise ResultsError(str(error)) from None
