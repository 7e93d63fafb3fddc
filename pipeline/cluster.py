"""Which Spark runs tasks. Knows nothing of Spark itself, so that commands start fast."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cepbench.events.errors import CepbenchError

DEFAULT_MASTER = "local[*]"


class TooFewExecutors(CepbenchError):
    """Spark has fewer executors, or cores, than were asked for."""


@dataclass(frozen=True)
class SparkCluster:
    """A master URL (None is all cores of this machine), and settings of the user, which win over all others."""

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The master, by default this machine."""
        return self.master or DEFAULT_MASTER

    def with_slots(self, slots: int | None) -> SparkCluster:
        """With so many tasks side by side, by default all that fit. Raises `TooFewExecutors` on too small a machine."""
        if slots is None:
            return self
        if is_local(self.url):
            cores = os.cpu_count() or 1
            if slots > cores:
                raise TooFewExecutors(f"this machine has {cores} cores, and {slots} workers were to run side by side")
            return SparkCluster(f"local[{slots}]", self.settings)
        cores = int(self.settings.get("spark.executor.cores", "1"))
        if self.url.startswith("spark://"):
            return SparkCluster(self.master, {**self.settings, "spark.cores.max": str(slots)})
        return SparkCluster(self.master, {**self.settings, "spark.executor.instances": str(-(-slots // cores))})


def is_local(master: str) -> bool:
    """Whether the master runs everything in one JVM on this machine."""
    return master == "local" or master.startswith("local[")


def read_settings(path: Path) -> dict[str, str]:
    """A file as Spark's own `spark-defaults.conf`: a name and its value in a line, after # a comment.

    Raises `CepbenchError` with the line that is not of that form.
    """
    settings = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        found = re.fullmatch(r"([^\s=]+)(?:\s*=\s*|\s+)(.+)", text)
        if found is None:
            raise CepbenchError(f"{path}, line {number}: {text!r} is not of the form: name value")
        settings[found[1]] = found[2]
    return settings
