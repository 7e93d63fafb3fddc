"""The Spark cluster that runs tasks. Does not import Spark, so that commands start fast."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cepbench.events.errors import CepbenchError

DEFAULT_MASTER = "local[*]"


class TooFewExecutors(CepbenchError):
    """Spark has fewer executors, or cores, than requested."""


LOST_SECONDS = "spark.cepbench.lostSeconds"
EXECUTOR_CORES, EXECUTORS, MOST_CORES = "spark.executor.cores", "spark.executor.instances", "spark.cores.max"
_COUNT = int, lambda value: value >= 1, "a whole number of at least 1"
NUMBERS: Mapping[str, tuple[type[float], Callable[[float], bool], str]] = {
    LOST_SECONDS: (float, lambda value: 0 < value < float("inf"), "a number of more than 0"),
    EXECUTOR_CORES: _COUNT,
    EXECUTORS: _COUNT,
    MOST_CORES: _COUNT,
}
"""Settings that cepbench itself reads: their types, and the allowed values as a condition and in words."""


def number(name: str, text: str | None, default: float) -> float:
    """The value of one of the `NUMBERS`. Raises `CepbenchError`, which names the allowed values."""
    if not text:
        return default
    kind, allows, expected = NUMBERS[name]
    with suppress(ValueError):
        value = kind(text)
        if allows(value):
            return value
    raise CepbenchError(f"setting {name}={text}: expected {expected}")


@dataclass(frozen=True)
class SparkCluster:
    """A master URL (None is all cores of this machine), and settings of the user, which override all others.

    Raises `CepbenchError` for a setting that must be a number and is not.
    """

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in NUMBERS.keys() & self.settings.keys():
            number(name, str(self.settings[name]) or "nothing", 0)

    @property
    def url(self) -> str:
        """The master, by default this machine."""
        return self.master or DEFAULT_MASTER

    def with_slots(self, slots: int | None) -> SparkCluster:
        """With `slots` concurrent tasks, by default as many as fit. Raises `TooFewExecutors` on too small a machine."""
        if slots is None:
            return self
        if is_local(self.url):
            cores = os.cpu_count() or 1
            if slots > cores:
                raise TooFewExecutors(f"this machine has {cores} cores, and {slots} workers were to run side by side")
            return SparkCluster(f"local[{slots}]", self.settings)
        cores = int(number(EXECUTOR_CORES, self.settings.get(EXECUTOR_CORES), 1))
        if self.url.startswith("spark://"):
            return SparkCluster(self.master, {**self.settings, MOST_CORES: str(slots)})
        return SparkCluster(self.master, {**self.settings, EXECUTORS: str(-(-slots // cores))})


def is_local(master: str) -> bool:
    """Whether the master runs everything in one JVM on this machine."""
    return master == "local" or master.startswith("local[")


def read_settings(path: Path) -> dict[str, str]:
    """A file as Spark's own `spark-defaults.conf`: a name and its value in a line, comments after #.

    Raises `CepbenchError` with the line that is not of that form.
    """
    settings = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        setting = re.fullmatch(r"([^\s=]+)(?:\s*=\s*|\s+)(.+)", text)
        if setting is None:
            raise CepbenchError(f"{path}, line {number}: {text!r} is not of the form: name value")
        settings[setting[1]] = setting[2]
    return settings
