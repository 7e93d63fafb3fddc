"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path

from metrics.results import ResultsError


def write(path: Path, content: bytes) -> Path:
    """Writes next to `path` and moves the file into place. An unwritable folder is a `ResultsError`."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            temporary = file.name
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise ResultsError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    return path
