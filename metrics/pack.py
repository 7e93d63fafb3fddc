"""A pack: results in one file, a tar archive compressed by xz.

Its first member, `manifest.json`, has the format, and the size and checksum of each other member. Readers take members
from memory only and extract none, so that names in an archive cannot write files.
"""

import io
import json
import lzma
import tarfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cepbench.events.errors import CepbenchError
from cepbench.metrics.files import write

SUFFIX = ".tar.xz"
MANIFEST = "manifest.json"
PACK_FORMAT = 1
MOST_BYTES = 1 << 30  # of an unpacked pack


class PackError(CepbenchError):
    """A file that is not a pack, is damaged, or has another format: the message names it."""


def write_members(path: Path, members: Mapping[str, bytes], about: Mapping[str, Any]) -> Path:
    """Writes a pack, whole or not at all. Equal members give equal bytes. Raises `Unwritable`.

    Parameters
    ----------
    path
        The file.
    members
        Contents by name.
    about
        Other fields of the manifest, for readers.
    """
    checks = {name: {"bytes": len(content), "blake2b": _checksum(content)} for name, content in members.items()}
    manifest = json.dumps({"format": PACK_FORMAT, **about, "members": checks}, indent=1).encode()
    with io.BytesIO() as out:
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, content in {MANIFEST: manifest, **members}.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return write(path, lzma.compress(out.getvalue()))


def read_members(path: Path) -> dict[str, bytes]:
    """The members of a pack by name, without the manifest, all verified by their checksums. Raises `PackError`."""
    members = _archive(path)
    listed = _listed(path, members.pop(MANIFEST, b""))
    if members.keys() != listed.keys():
        odd = min(members.keys() ^ listed.keys())
        raise PackError(f"{path}: damaged pack: {odd} is {'not listed' if odd in members else 'missing'}")
    for name, content in members.items():
        if _checksum(content) != listed[name]:
            raise PackError(f"{path}: damaged pack: {name} is not as it was written")
    return members


def _archive(path: Path) -> dict[str, bytes]:
    try:
        unpacking = lzma.LZMADecompressor()
        content = unpacking.decompress(path.read_bytes(), MOST_BYTES)
        if len(content) == MOST_BYTES:
            raise PackError(f"{path}: a pack of {MOST_BYTES >> 20} MiB or more, once it is unpacked")
        if not unpacking.eof:
            raise lzma.LZMAError
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            files = [(member.name, archive.extractfile(member)) for member in archive if member.isreg()]
            return {name: file.read() for name, file in files if file is not None}
    except OSError as error:
        raise PackError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except (lzma.LZMAError, tarfile.TarError):
        raise PackError(f"{path}: not a pack, or a damaged one; `cepbench pack` writes packs") from None


def _listed(path: Path, manifest: bytes) -> dict[str, str]:
    """The checksums that the manifest lists."""
    try:
        document = json.loads(manifest)
        form = document["format"]
        if form == PACK_FORMAT:
            return {name: entry["blake2b"] for name, entry in document["members"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PackError(f"{path}: not a pack: it has no {MANIFEST}") from None
    raise PackError(f"{path}: pack format {form}, expected {PACK_FORMAT}; use the version of cepbench that wrote it")


def _checksum(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
