"""The project's own packages as one zip file, which travels with a job to the workers of a cluster."""

import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "algorithms", "cli", "datasets", "events", "experiments", "generators", "metrics", "pipeline", "plots", "queries",
)  # fmt: skip
SUFFIXES = (".py", ".lark", ".sase", ".yaml")
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_packages(folder: Path) -> Path:
    """Writes `cepbench.zip` with all sources and the data files that code loads; equal sources give equal bytes."""
    path = folder / "cepbench.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for file in sorted((ROOT / package).rglob("*")):
                if file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                    info = zipfile.ZipInfo(str(file.relative_to(ROOT)), EPOCH)
                    info.compress_type = zipfile.ZIP_DEFLATED
                    info.external_attr = 0o644 << 16
                    archive.writestr(info, file.read_bytes())
    return path
