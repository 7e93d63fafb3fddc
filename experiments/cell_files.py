"""The files of a sweep: one record per finished cell, written atomically; one sweep at a time in a results folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cepbench.events.paths import local_path
from cepbench.experiments.errors import SweepError
from cepbench.metrics.figure import CELLS_FOLDER, FIGURE_FILE, SUPERSEDED, Declared, Figure
from cepbench.metrics.files import TEMPORARY, write
from cepbench.metrics.record import Record
from cepbench.metrics.record_files import NEXT_SUFFIX, SAMPLES_SUFFIX, SamplesError, read_record, write_record
from cepbench.metrics.status import Status

LOCK_FILE = ".lock"
DECLARED_FILE = "declared.json"
SAMPLES = (NEXT_SUFFIX, SAMPLES_SUFFIX)
_CLAIMS = TypeAdapter(tuple[Declared, ...])


@contextmanager
def locked(results: Path) -> Iterator[None]:
    """Locks the results folder for this sweep; the operating system releases the lock when the process exits."""
    results = local_path(results)
    try:
        results.mkdir(parents=True, exist_ok=True)
        handle = os.open(results / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SweepError(f"{results}: the results folder is not writable: {_reason(error)}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(handle, 20).decode(errors="replace").strip()
            raise SweepError(f"{results}: another sweep (process {owner or 'unknown'}) runs in this folder") from None
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        os.close(handle)


class CellFiles:
    """The folder of one experiment and profile."""

    def __init__(self, results: Path, experiment: str, profile: str) -> None:
        self.folder = results / experiment / profile
        self._cells = self.folder / CELLS_FOLDER
        self.superseded = self.folder / SUPERSEDED

    def others(self, wanted: Collection[str]) -> list[str]:
        """Cells with a record that are not `wanted`: those of another configuration, which `open` moves."""
        return [path.stem for path in sorted(self._cells.glob("*.json")) if path.stem not in wanted]

    def superseding(self, others: Collection[str]) -> str:
        """A message for the user: where `open` moves these cells."""
        kept = (
            "1 cell of another configuration is"
            if len(others) == 1
            else f"{len(others)} cells of another configuration are"
        )
        return (
            f"{kept} kept in {self.superseded}, which you may delete; "
            f"to compare them: cepbench compare {self.superseded} {self.folder}"
        )

    def open(self, wanted: Collection[str]) -> dict[str, Record]:
        """Records of the `wanted` cells that are finished.

        Other records are moved to `superseded`, together with their figure, and move back when they are wanted again.
        No record is deleted.
        """
        kept = self.superseded / CELLS_FOLDER
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
            for half_written in self.folder.rglob(f".*{TEMPORARY}"):  # by a sweep that was killed
                half_written.unlink()
            others = self.others(wanted)
            if others:
                kept.mkdir(parents=True, exist_ok=True)
                if (self.folder / FIGURE_FILE).exists():
                    write(self.superseded / FIGURE_FILE, (self.folder / FIGURE_FILE).read_bytes())
            for cell in others:
                _move(cell, self._cells, kept, (".json", *SAMPLES))
            for cell in wanted:
                if (kept / f"{cell}.json").exists():
                    _move(cell, kept, self._cells, (*SAMPLES, ".json"))
        except OSError as error:
            raise SweepError(f"{self.folder}: the results folder is not writable: {_reason(error)}") from None
        return self.read(wanted)

    def read(self, wanted: Collection[str]) -> dict[str, Record]:
        """Records of the `wanted` cells that are finished.

        A file that is unreadable or of another format counts as unfinished, and so does an error: its cause may be
        fixed by now.
        """
        records = {}
        for path in sorted(self._cells.glob("*.json")):
            if path.stem not in wanted:
                continue
            try:
                record = read_record(path)
            except (OSError, ValidationError, SamplesError):
                continue
            if record.cell_status is not Status.ERROR:
                records[record.cell] = record
        return records

    def write(self, record: Record) -> None:
        """Stores one record."""
        write_record(self._cells, record)

    @property
    def used(self) -> bool:
        """Whether the folder has cells or a figure already."""
        return (self.folder / FIGURE_FILE).exists() or any(self._cells.glob("*.json"))

    def fill(self, figure: Figure, records: Sequence[Record]) -> None:
        """Stores a figure and its records in a folder that is not `used`."""
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SweepError(f"{self.folder}: the results folder is not writable: {_reason(error)}") from None
        self.declare(figure.declared)
        for record in records:
            self.write(record)
        self.write_figure(figure)

    def declare(self, claims: tuple[Declared, ...]) -> None:
        """Stores the claims; to be called before the first record is written."""
        write(self.folder / DECLARED_FILE, _CLAIMS.dump_json(claims, indent=1))

    def declared(self) -> tuple[Declared, ...]:
        """The claims that were stored before the first record."""
        place = self.folder / DECLARED_FILE
        try:
            return _CLAIMS.validate_json(place.read_bytes())
        except (OSError, ValidationError):
            raise SweepError(f"{place}: missing or unreadable claims; delete the folder to measure again") from None

    def write_figure(self, figure: Figure) -> None:
        """Stores the description, also beside superseded cells that lack one because a sweep was killed."""
        content = figure.model_dump_json(indent=1).encode()
        write(self.folder / FIGURE_FILE, content)
        if self.superseded.exists() and not (self.superseded / FIGURE_FILE).exists():
            write(self.superseded / FIGURE_FILE, content)


def _move(cell: str, source: Path, target: Path, suffixes: Sequence[str]) -> None:
    """Moves the files of a cell in this order, so that a record in the folder of cells always has its samples."""
    for suffix in suffixes:
        if (source / f"{cell}{suffix}").exists():
            os.replace(source / f"{cell}{suffix}", target / f"{cell}{suffix}")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
