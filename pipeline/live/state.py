"""The checkpoint of a live stream: the description of the stream, and the state after each batch.

    stream.json        the stream that the folder belongs to
    spark/             Spark's own log: the files or offsets of each batch
    state/00000012/    after batch 12: a file of the intake, and one per job and bucket
    state/end/         the end of the stream: `begun` before its rows are written, `intake` after them

A file of state is a line with the format, the fingerprint of the stream and a checksum, and then a pickle. Unpickling
can run code, so others must not be able to write to the folder.
"""

import fcntl
import hashlib
import json
import os
import pickle
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cepbench.events.errors import CepbenchError
from cepbench.metrics.files import write

FORMAT = 1
DESCRIPTION, SPARK, STATE, LOCK = "stream.json", "spark", "state", "lock"
MOST_SHOWN = 120
"""Maximum characters of two values that an error shows."""
END = "end"
BEGUN = "begun"
"""A file of `END`: the stream is ending, and no further batch runs."""


class UnusableCheckpoint(CepbenchError):
    """A checkpoint that is damaged, of another stream, or in use."""


def batch_name(batch: int) -> str:
    """The name of a batch, such that names are in the order of batches."""
    return f"{batch:08d}"


class Checkpoint:
    """The state of a stream by batch. Files do not change; a repeated batch writes its files again.

    `description`: the properties that must be equal at every start, by name, as JSON values.
    """

    def __init__(self, path: Path, description: Mapping[str, Any]) -> None:
        self.path, self.description = path, description
        self.spark = path / SPARK  # the folder of Spark's log
        self.fingerprint = _digest(_json(description))

    def begin(self) -> None:
        """Writes the description of a new stream, or compares it, and checks Spark's log.

        Raises `UnusableCheckpoint`.
        """
        kept, wanted = read_description(self.path), json.loads(_json(self.description))
        if kept is None:
            content = {"fingerprint": self.fingerprint, "stream": self.description}
            write(self.path / DESCRIPTION, (json.dumps(content, indent=1) + "\n").encode())
        elif kept != wanted:
            name = next(name for name in {**kept, **wanted} if kept.get(name) != wanted.get(name))
            there, here = repr(kept.get(name)), repr(wanted.get(name))
            difference = f"is {there}, not {here}" if len(there + here) < MOST_SHOWN else "differs"
            raise UnusableCheckpoint(
                f"{self.path}: the checkpoint is of another stream: {name} {difference}; choose another folder"
            )
        _check_log(self.spark)

    @property
    def ended(self) -> bool:
        """Whether the stream has ended."""
        return self._file(END, "intake").exists()

    @property
    def ending(self) -> bool:
        """Whether the end of the stream has begun: later input is ignored."""
        return self._file(END, BEGUN).exists()

    def begin_end(self) -> None:
        """Marks the stream as `ending`; called before the rows of the end are written."""
        write(self._file(END, BEGUN), b"")

    def latest(self) -> int | None:
        """The last batch that finished; None if there is none."""
        done = [int(name) for name in self._batches() if self._file(name, "intake").exists()]
        return max(done, default=None)

    def save(self, batch: str, name: str, value: Any) -> None:
        """Writes a part of the state after a batch."""
        content = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        write(self._file(batch, name), f"{self._header(content)}\n".encode() + content)

    def load(self, batch: str, name: str) -> Any:
        """A part of the state after a batch. Raises `UnusableCheckpoint` if it is missing or has changed."""
        file = self._file(batch, name)
        try:
            header, _, content = file.read_bytes().partition(b"\n")
        except OSError as error:
            raise UnusableCheckpoint(
                f"{file}: {(error.strerror or str(error)).lower()}; the checkpoint is damaged"
            ) from None
        if header.decode(errors="replace") != self._header(content):
            raise UnusableCheckpoint(f"{file}: the checkpoint is damaged, or the file is of another stream")
        return pickle.loads(content)

    def size(self, batch: str) -> int:
        """Bytes of the state after a batch."""
        return sum(file.stat().st_size for file in (self.path / STATE / batch).iterdir())

    def forget(self, batch: int) -> None:
        """Keeps the state after `batch` and after the one before it: Spark may repeat `batch`. Removes older ones."""
        for name in self._batches():
            if int(name) < batch - 1:
                shutil.rmtree(self.path / STATE / name, ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the checkpoint. Raises `UnusableCheckpoint` if another process has locked it."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UnusableCheckpoint(f"{self.path}: another process uses the checkpoint") from None
            yield

    def _file(self, batch: str, name: str) -> Path:
        return self.path / STATE / batch / name

    def _batches(self) -> list[str]:
        try:
            return [name for name in os.listdir(self.path / STATE) if name.isdigit()]
        except FileNotFoundError:
            return []

    def _header(self, content: bytes) -> str:
        return f"cepbench live {FORMAT} {self.fingerprint} {_digest(content)}"


def read_description(path: Path) -> dict[str, Any] | None:
    """The description in a checkpoint; None if there is no checkpoint. Raises `UnusableCheckpoint`."""
    file = path / DESCRIPTION
    try:
        read = json.loads(file.read_bytes())
        description: dict[str, Any] = read["stream"]
        whole = read["fingerprint"] == _digest(_json(description))
    except FileNotFoundError:
        if (path / STATE).exists() or (path / SPARK).exists():
            raise UnusableCheckpoint(f"{file}: is missing; the checkpoint is damaged") from None
        return None
    except (ValueError, KeyError, TypeError, OSError):
        whole = False
    if not whole:
        raise UnusableCheckpoint(f"{file}: the checkpoint is damaged")
    return description


def _check_log(folder: Path) -> None:
    """Compares the files of Spark's log with their checksums, which Spark itself writes but does not read.

    Next to `name` is `.name.crc`: "crc" and a zero byte, a length (4 bytes), and the CRC-32 of each piece of that
    length. Spark creates it after its file and removes it before, so none is without its file, even after a kill.
    """
    for sums in folder.rglob(".*.crc"):
        file = sums.with_name(sums.name[1:].removesuffix(".crc"))
        if file.name.endswith(".tmp"):
            continue
        if not file.exists():
            raise UnusableCheckpoint(f"{file}: is missing; the checkpoint is damaged")
        content, checksum = file.read_bytes(), sums.read_bytes()
        size = int.from_bytes(checksum[4:8], "big")
        pieces = [content[start : start + size] for start in range(0, len(content), size)] if size else []
        if checksum != b"crc\0" + checksum[4:8] + b"".join(zlib.crc32(piece).to_bytes(4, "big") for piece in pieces):
            raise UnusableCheckpoint(f"{file}: the checkpoint is damaged")


def _json(description: Mapping[str, Any]) -> bytes:
    return json.dumps(description, sort_keys=True).encode()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
