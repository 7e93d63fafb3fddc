"""Memory of a process: proportional set size (PSS), now and at its peak."""

import os
import subprocess
import sys
from types import TracebackType

import psutil

INTERVAL = 0.01
"""Seconds between two looks of the sampler."""

# The sampler is another process, started afresh: a thread would stand still while a kernel holds the interpreter, and
# a forked child would share the pages that it is to count (PSS splits shared pages among their owners).
_SAMPLER = """
import select, sys
import psutil
process, interval, peak = psutil.Process(int(sys.argv[1])), float(sys.argv[2]), 0
print("ready", flush=True)
try:
    while not select.select([sys.stdin], [], [], interval)[0]:
        peak = max(peak, process.memory_full_info().pss)
except psutil.Error:
    pass
print(peak, flush=True)
"""


def pss(pid: int | None = None) -> int:
    """Proportional set size of a process (of this one by default) in bytes.

    Where the system does not know it, the unique set size, and the resident set size failing that.
    """
    info = psutil.Process(pid).memory_full_info()
    return int(getattr(info, "pss", 0) or getattr(info, "uss", 0) or info.rss)


class PeakMemory:
    """The peak PSS of this process between entering and leaving, in `peak` (bytes).

    Sampled from outside every `INTERVAL` seconds; `look` adds a sample of its own.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._sampler: subprocess.Popen[str] | None = None

    def __enter__(self) -> "PeakMemory":
        if sys.platform == "linux":
            self._sampler = subprocess.Popen(
                [sys.executable, "-c", _SAMPLER, str(os.getpid()), str(INTERVAL)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert self._sampler.stdout is not None
            self._sampler.stdout.readline()
        self.look()
        return self

    def look(self) -> None:
        """Takes a sample now."""
        self.peak = max(self.peak, pss())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not issubclass(kind, MemoryError):
            self.look()
        if self._sampler is not None:
            answer, _ = self._sampler.communicate("\n")
            self.peak = max(self.peak, int(answer.strip() or 0))
            self._sampler = None
