"""Files that are either whole or not there."""

import os
import uuid
from contextlib import suppress
from pathlib import Path

from cepbench.events.errors import CepbenchError

TEMPORARY = ".tmp"
"""Suffix of a file that is still being written; a process that is killed leaves it behind."""


class Unwritable(CepbenchError):
    """A file that cannot be written: the message names it."""


def write(path: Path, content: bytes) -> Path:
    """Writes next to `path` and moves the file into place. Raises `Unwritable`."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}{TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path
