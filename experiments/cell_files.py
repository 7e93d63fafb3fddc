"""The files of a sweep: one record per finished cell, written whole or not at all; one sweep per results folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from cepbench.events.paths import local_path
from cepbench.experiments.errors import SweepError
from cepbench.metrics.figure import CELLS_FOLDER, FIGURE_FILE, Figure
from cepbench.metrics.files import write
from cepbench.metrics.record import FORMAT, Record, Status
from cepbench.metrics.record_files import NEXT_SUFFIX, SAMPLES_SUFFIX, SamplesError, read_record, write_record

LOCK_FILE = ".lock"
SAMPLES = (NEXT_SUFFIX, SAMPLES_SUFFIX)
SUPERSEDED = "superseded"
"""Beside the cells: records of other configurations, which come back into use when their configuration does."""


@contextmanager
def locked(results: Path) -> Iterator[None]:
    """The results folder for this sweep alone; the system frees it however the process ends."""
    results = local_path(results)
    try:
        results.mkdir(parents=True, exist_ok=True)
        handle = os.open(results / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SweepError(f"{results}: the results folder is not writable: {_told(error)}") from None
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
        self._superseded = self.folder / SUPERSEDED

    def open(self, wanted: Collection[str]) -> dict[str, Record]:
        """Records of the `wanted` cells that are finished. Other records are put aside, none is deleted."""
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
            for path in sorted(self._cells.glob("*.json")):
                if path.stem not in wanted:
                    self._superseded.mkdir(exist_ok=True)
                    _move(path.stem, self._cells, self._superseded, (".json", *SAMPLES))
            for cell in wanted:
                if (self._superseded / f"{cell}.json").exists():
                    _move(cell, self._superseded, self._cells, (*SAMPLES, ".json"))
        except OSError as error:
            raise SweepError(f"{self.folder}: the results folder is not writable: {_told(error)}") from None
        return self.read(wanted)

    def read(self, wanted: Collection[str]) -> dict[str, Record]:
        """Records of the `wanted` cells that are finished.

        A file that is no record counts as unfinished, and so does an error: what failed may be mended by now.
        """
        found = {}
        for path in sorted(self._cells.glob("*.json")):
            if path.stem not in wanted:
                continue
            try:
                record = read_record(path)
            except (OSError, ValidationError, SamplesError):
                continue
            if record.format == FORMAT and record.status is not Status.ERROR:
                found[record.cell] = record
        return found

    def write(self, record: Record) -> None:
        """Stores one record."""
        write_record(self._cells, record)

    def write_figure(self, figure: Figure) -> None:
        """Stores the figure's description."""
        write(self.folder / FIGURE_FILE, figure.model_dump_json(indent=1).encode())


def _move(cell: str, source: Path, target: Path, suffixes: Sequence[str]) -> None:
    """The files of a cell in this order: a record is never where it is looked for without its samples."""
    for suffix in suffixes:
        if (source / f"{cell}{suffix}").exists():
            os.replace(source / f"{cell}{suffix}", target / f"{cell}{suffix}")


def _told(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
