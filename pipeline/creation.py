"""Creating an event store: it appears whole, or not at all."""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cepbench.events.errors import CepbenchError
from cepbench.events.paths import local_path
from cepbench.pipeline.store import is_store


@contextmanager
def creating(path: str | Path, replace: bool = False) -> Iterator[Path]:
    """A sibling folder to fill, which becomes `path` at the end, or is removed on an error.

    An existing store is refused, or exchanged with `replace`; anything else at `path` is refused always.
    """
    path = local_path(path)
    if path.exists() and not (replace and is_store(path)) and not _is_empty(path):
        advice = (
            "choose another path or overwrite it" if is_store(path) else "it is not an event store; choose another path"
        )
        raise CepbenchError(f"{path} exists already; {advice}")
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex[:12]}.tmp"
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise CepbenchError(f"{path}: cannot create an event store there: {error.strerror}") from None
    try:
        yield temporary
        _exchange(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def shared_parent(path: str | Path) -> Path:
    """The folder of a store to be created: workers that have access to the store have access to this folder."""
    parent = local_path(path).absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    return parent


def _exchange(new: Path, path: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    old = new.with_suffix(".old")
    path.rename(old)
    new.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
