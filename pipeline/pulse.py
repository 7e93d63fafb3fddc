"""A small process beside a worker that reports to the driver every second that the worker is alive, and its size.

A worker inside a kernel cannot report: the kernel holds the interpreter. The helper imports nothing of the project and
little else, since imports would take most of its time. Its standard output is the connection. The helper ends when its
standard input ends, that is, with the worker.
"""

from __future__ import annotations

import os
import select
import sys

SECONDS = 1.0


def beat(process: int) -> None:
    """Reports on `process` until standard input ends. A stopped process is not alive."""
    while True:
        resident, state = _look(process)
        if state != "T":
            os.write(1, b'{"resident": %d}\n' % resident)
        if select.select([sys.stdin], [], [], SECONDS)[0]:
            return


def machine_bytes() -> int:
    """The memory of this machine, or of the container that this process is in."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path, encoding="ascii") as file:
                total = min(total, int(file.read()))
        except (OSError, ValueError):  # no container, or a container without a limit ("max")
            continue
    return total


def _look(process: int) -> tuple[int, str]:
    """Resident bytes and state, as far as the system reports them."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), fields[0]
    except (OSError, ValueError, IndexError):
        return 0, ""


if __name__ == "__main__":
    try:
        beat(int(sys.argv[1]))
    finally:  # also if the driver has ended or closed the connection
        os._exit(0)  # immediately: the worker waits
