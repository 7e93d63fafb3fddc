"""Wheels of engines for tests: a module, a few files, and no code."""

import sys
import zipfile
from dataclasses import replace
from pathlib import Path

from cepbench.algorithms.external.flink.installation import NEEDED
from cepbench.algorithms.external.packages import FLINK, Package, site_packages

JARS = tuple(f"pyflink/lib/{pattern.replace('*', '2.3.0')}" for pattern in NEEDED)


def version_of(package: Package) -> str:
    return package.requirement.partition("==")[2]


def wheel(folder: Path, package: Package = FLINK, code: str = "") -> Path:
    """Writes the wheel of a package: its module and, for Flink, jars."""
    name = package.distribution.replace("-", "_")
    info = f"{name}-{version_of(package)}.dist-info"
    contents = {f"{package.module}/__init__.py": code}
    contents |= dict.fromkeys(JARS if package.module == FLINK.module else (), "jar")
    contents |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package.distribution}\nVersion: {version_of(package)}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{file},,{len(text)}" for file, text in contents.items()] + [f"{info}/RECORD,,"]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{version_of(package)}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in {**contents, f"{info}/RECORD": "\n".join(record) + "\n"}.items():
            archive.writestr(path, text)
    return file


def unpacked(engines: Path, package: Package = FLINK, version: tuple[int, ...] | None = None) -> Path:
    """Puts a package where it is installed; returns the folder of its modules."""
    packed = wheel(engines / ".wheels", replace(package, version=version or package.version))
    site = site_packages(engines / package.name, package.python or sys.version_info)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(site)
    python = engines / package.name / "bin" / "python"
    python.parent.mkdir(exist_ok=True)
    python.symlink_to(sys.executable)
    return site
