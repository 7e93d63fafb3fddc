"""The project's own packages as one zip file, which is sent with a job to the workers of a cluster.

A worker unpacks it once into a folder named after its content, so that jobs with the same content share compiled
kernels. In a zip file, every job would compile them again.
"""

import hashlib
import os
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path

ARCHIVE = "cepbench.zip"
ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = (".py", ".lark", ".sase", ".yaml")
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_packages(folder: Path) -> Path:
    """Writes `cepbench.zip` with all sources and the data files that code loads; equal sources give equal bytes."""
    path = folder / ARCHIVE
    packages = sorted(file.parent for file in ROOT.glob("*/__init__.py"))
    files = [ROOT / "__init__.py", *(file for package in packages for file in sorted(package.rglob("*")))]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            if file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                info = zipfile.ZipInfo(f"cepbench/{file.relative_to(ROOT)}", EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, file.read_bytes())
    return path


def cache_folder() -> Path:
    """The folder of this user for unpacked packages and compiled kernels, on the machine that asks."""
    return Path(tempfile.gettempdir()) / f"cepbench-cache-{os.getuid()}"


def private_folder() -> Path | None:
    """`cache_folder`, if it belongs to this user, and no other can write to it and so run code here."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return folder if private else None


def unpacked() -> Path:
    """The folder of the unpacked packages, in a worker that imports from the zip file.

    Without a folder of its own to unpack into, the worker uses the zip file, and only compiles more often.
    """
    archive, cache = ROOT.parent, private_folder()
    if cache is None:
        return ROOT
    target = cache / hashlib.blake2b(archive.read_bytes(), digest_size=16).hexdigest()
    try:
        if not target.is_dir():
            _unpack(archive, target)
    except OSError:
        return ROOT
    return target / ROOT.name


def _unpack(archive: Path, target: Path) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=".unpack-", dir=target.parent))
    try:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(temporary)
        temporary.rename(target)
    except OSError:
        if not target.is_dir():  # otherwise another worker was faster
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
