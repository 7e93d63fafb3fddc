"""The files of an event store, each verified whenever it is opened.

A file's digest is that of its Parquet footer, which holds a digest of the rows; pages have checksums of their own. So a
change is detected by the first read, for any set of columns.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.events.errors import InputError

CONTENT = "cepbench.rows"
"""In a file's footer: a digest of its columns."""
BUFFER_BYTES = 1 << 20
"""Bytes read at a time of each column; mapped files would count against a worker's memory limit."""
_TAIL = 8  # bytes after the footer: its length and the mark of the format


class DamagedStore(InputError):
    """A store whose files differ from its description."""


@dataclass(frozen=True)
class StoreFile:
    """A file of a store: its name below the store's folder, its events and bytes, and its digest."""

    name: str
    events: int
    bytes: int
    digest: str


def by_folder(parts: Iterable[StoreFile]) -> dict[str, list[StoreFile]]:
    """The files by the folders of their buckets, in their order."""
    folders: dict[str, list[StoreFile]] = {}
    for part in parts:
        folders.setdefault(part.name.partition("/")[0], []).append(part)
    return folders


class PartWriter:
    """Writes one file under a temporary name, and renames it when it is complete."""

    def __init__(self, folder: Path, name: str, schema: pa.Schema, **options: Any) -> None:
        self._name, self._file = name, folder / name
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._temporary = self._file.with_name(f".{self._file.name}.{uuid.uuid4().hex[:12]}.tmp")
        self._parquet = pq.ParquetWriter(self._temporary, schema, write_page_checksum=True, **options)
        self._rows = blake2b(digest_size=16)
        self._events = 0

    def write(self, table: pa.Table, group_rows: int) -> None:
        """Appends rows; columns are of numbers, without nulls and in one chunk."""
        for column in table.columns:
            for chunk in column.chunks:
                self._rows.update(chunk.to_numpy().data)
        self._events += table.num_rows
        self._parquet.write_table(table, row_group_size=group_rows)

    def close(self) -> StoreFile:
        """Completes the file and renames it."""
        self._parquet.add_key_value_metadata({CONTENT: self._rows.hexdigest()})
        self._parquet.close()
        part = StoreFile(self._name, self._events, self._temporary.stat().st_size, _digest(self._temporary))
        os.replace(self._temporary, self._file)
        return part

    def discard(self) -> None:
        """Removes the incomplete file."""
        self._parquet.close()
        self._temporary.unlink(missing_ok=True)


def check_files(store: Path, parts: Iterable[StoreFile]) -> None:
    """`DamagedStore` for the first file that is missing, has another size, or is not among `parts`."""
    named = {part.name: part for part in parts}
    files = {f"{file.parent.name}/{file.name}": file for file in store.glob("bucket=*/[!.]*")}
    for name, part in sorted(named.items()):
        _check_size(store / name, part)
    for name in sorted(files.keys() - named.keys()):
        raise DamagedStore(
            f"{files[name]}: the store's description names no such file; remove it, or make the store again"
        )


@contextmanager
def opened(store: Path, part: StoreFile) -> Iterator[pq.ParquetFile]:
    """The file for reading. Raises `DamagedStore` if it has changed."""
    path = store / part.name
    try:
        check_part(store, part)
        with pq.ParquetFile(path, buffer_size=BUFFER_BYTES, page_checksum_verification=True) as parquet:
            yield parquet
    except (pa.ArrowException, OSError) as error:
        raise DamagedStore(f"{path}: unreadable or corrupt Parquet: {str(error).splitlines()[0]}") from None


def check_part(store: Path, part: StoreFile) -> None:
    """`DamagedStore` if size or footer of the file have changed; its pages are not read.

    Raises `OSError` if it cannot be read.
    """
    path = store / part.name
    _check_size(path, part)
    if _digest(path) != part.digest:
        raise DamagedStore(f"{path}: not the file that was written there; make the store again")


def _check_size(path: Path, part: StoreFile) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DamagedStore(
            f"{path}: a file of the store: {(error.strerror or str(error)).lower()}; make the store again"
        ) from None
    if size != part.bytes:
        raise DamagedStore(f"{path}: {size} bytes instead of {part.bytes}; make the store again")


def _digest(path: Path) -> str:
    """The digest of the footer."""
    with path.open("rb") as file:
        file.seek(-_TAIL, os.SEEK_END)
        tail = file.read(_TAIL)
        length = min(int.from_bytes(tail[:4], "little") + _TAIL, path.stat().st_size)
        file.seek(-length, os.SEEK_END)
        return blake2b(file.read(length), digest_size=16).hexdigest()
