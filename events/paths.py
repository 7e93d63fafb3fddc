"""Paths that users give for streams and results."""

import re
from pathlib import Path

from cepbench.events.errors import InputError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def local_path(path: str | Path) -> Path:
    """The path, unless it is an address such as `s3://bucket/stream`, which would become a folder named `s3:`.

    Raises `InputError`.
    """
    if _ADDRESS.match(str(path)):
        raise InputError(
            f"{path}: an address of a storage service; cepbench uses files and folders: mount it on every machine, "
            "and give the folder"
        )
    return Path(path)
