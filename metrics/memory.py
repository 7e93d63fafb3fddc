"""Memory of a process: proportional set size (PSS), now and at its peak, including the processes that it started.

Counted are pages that no file backs. Those of libraries and memory-mapped input are split among all processes that map
them, so the PSS of a worker would jump by tens of megabytes whenever another one ends.
"""

import inspect
import os
import subprocess
import sys
from types import TracebackType

INTERVAL = 0.01
"""Seconds between two samples."""


def pss(pid: int | None = None) -> int:
    """Proportional set size of a process (of this one by default) in bytes.

    If the system does not separate pages, that of all pages; otherwise the unique or the resident set size. Raises
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
    import psutil  # only here: loading it takes three times as long as starting the sampler

    try:
        info = psutil.Process(pid).memory_full_info()
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(str(error)) from None
    return int(getattr(info, "pss", 0) or getattr(info, "uss", 0) or info.rss)


def whole_pss(pid: int, without: int = 0) -> int:
    """The PSS of a process and of the processes that it started, such as a Java machine, except `without`."""
    total = pss(pid)
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                children = [int(child) for child in file.read().split()]
        except OSError:
            continue  # it has ended in the meantime
        for child in children:
            try:
                total += pss(child) if child != without else 0
            except OSError:
                continue
    return total


# The sampler is another process, started from scratch: a thread would wait while a kernel holds the interpreter, and
# a forked child would share the pages to be counted (PSS splits shared pages among their owners). It starts
# without the installed packages, whose import takes most of the time, and loads them only where a size needs them. For
# the same reason it imports very little.
_SAMPLER = f"""
import os, select, sys
{inspect.getsource(pss)}
{inspect.getsource(_size_as_known)}
{inspect.getsource(whole_pss)}
pid, interval, peak = int(sys.argv[1]), float(sys.argv[2]), 0
sys.path += sys.argv[3:]
try:
    while True:
        if select.select([sys.stdin], [], [], interval)[0]:
            if not os.read(0, 1):
                break
            print(peak, flush=True)
            peak = 0
        peak = max(peak, whole_pss(pid, os.getpid()))
except OSError:
    pass  # the process, or the one that asks, has ended
"""


class PeakMemory:
    """Samples the PSS of this process, with its children, inside the context.

    Another process samples it every `INTERVAL` seconds, and when a peak is read.
    """

    def __init__(self) -> None:
        self._sampler: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "PeakMemory":
        if sys.platform == "linux":
            self._sampler = subprocess.Popen(
                [sys.executable, "-S", "-E", "-c", _SAMPLER, str(os.getpid()), str(INTERVAL), *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
            self.taken()  # waits until the sampler runs
        return self

    def taken(self) -> int:
        """The peak since the start of the context or the last read, in bytes. The next one begins with the present
        size.
        """
        held = whole_pss(os.getpid(), 0 if self._sampler is None else self._sampler.pid)
        if self._sampler is None:
            return held
        assert self._sampler.stdin is not None
        assert self._sampler.stdout is not None
        self._sampler.stdin.write(b"\n")
        return max(held, int(self._sampler.stdout.readline() or 0))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sampler is not None:
            self._sampler.communicate()
            self._sampler = None
