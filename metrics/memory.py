"""Memory of a process: proportional set size (PSS), now and at its peak, with that of the processes it started.

Counted are pages that no file backs. Those of libraries and memory-mapped input are split among all processes that map
them, so the PSS of a worker would jump by tens of megabytes whenever another one ends.
"""

import inspect
import os
import subprocess
import sys
from contextlib import suppress
from types import TracebackType

INTERVAL = 0.01
"""Seconds between two looks of the sampler."""


def pss(pid: int | None = None) -> int:
    """Proportional set size of a process (of this one by default) in bytes.

    Where the system does not tell pages apart, of all pages; failing that, the unique or the resident set size. Raises
    `OSError` if there is no such process.
    """
    pid = os.getpid() if pid is None else pid
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            sizes = {line.split(":")[0]: line.split()[1] for line in file if line.startswith("Pss_")}
        return 1024 * (int(sizes["Pss_Anon"]) + int(sizes["Pss_Shmem"]))
    except (OSError, KeyError):
        return _size_as_known(pid)


def _size_as_known(pid: int) -> int:
    import psutil  # which takes three times as long to load as the sampler to start

    try:
        info = psutil.Process(pid).memory_full_info()
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(str(error)) from None
    return int(getattr(info, "pss", 0) or getattr(info, "uss", 0) or info.rss)


def whole_pss(pid: int, without: int = 0) -> int:
    """That of a process and of the ones that it started, such as a Java machine, but for one `without`."""
    total = pss(pid)
    for task in os.listdir(f"/proc/{pid}/task"):
        with suppress(OSError), open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            for child in map(int, file.read().split()):
                with suppress(OSError):  # it has ended meanwhile
                    total += pss(child) if child != without else 0
    return total


# The sampler is another process, started afresh: a thread would stand still while a kernel holds the interpreter, and
# a forked child would share the pages that it is to count (PSS splits shared pages among their owners).
_SAMPLER = f"""
import os, select, sys
from contextlib import suppress
{inspect.getsource(pss)}
{inspect.getsource(_size_as_known)}
{inspect.getsource(whole_pss)}
pid, interval, peak = int(sys.argv[1]), float(sys.argv[2]), 0
print("ready", flush=True)
with suppress(OSError):
    while not select.select([sys.stdin], [], [], interval)[0]:
        peak = max(peak, whole_pss(pid, os.getpid()))
print(peak, flush=True)
"""


class PeakMemory:
    """The peak PSS of this process, with its children, between entering and leaving, in `peak` (bytes).

    Sampled from outside every `INTERVAL` seconds; `look` adds a sample of its own.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._sampler: subprocess.Popen[str] | None = None

    def __enter__(self) -> "PeakMemory":
        if sys.platform == "linux":
            self._sampler = subprocess.Popen(
                [sys.executable, "-E", "-c", _SAMPLER, str(os.getpid()), str(INTERVAL)],
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
        sampler = 0 if self._sampler is None else self._sampler.pid
        self.peak = max(self.peak, whole_pss(os.getpid(), sampler))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not issubclass(kind, MemoryError):
            self.look()
        if self._sampler is not None:
            answer, _ = self._sampler.communicate("\n")
            self.peak = max(self.peak, int(answer.strip() or 0))
            self._sampler = None
