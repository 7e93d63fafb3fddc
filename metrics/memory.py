"""Memory of a process: its private bytes, including those of the processes that it started.

Counted are pages that it wrote and shares with no other process, and its part of shared memory: so the beginning or end
of a process from which it was forked, or which maps the same files, does not count.
"""

import os

import psutil


def private(pid: int) -> int:
    """The private bytes of a process.

    If the system does not separate pages, the unique or the resident set size. Raises `OSError` if there is no such
    process.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            sizes = {line.split(":")[0]: line.split()[1] for line in file if line.startswith(("Private_", "Pss_"))}
        return 1024 * (int(sizes["Private_Dirty"]) + int(sizes["Pss_Shmem"]))
    except (OSError, KeyError):
        return _resident_size(pid)


def _resident_size(pid: int) -> int:
    try:
        info = psutil.Process(pid).memory_full_info()
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(str(error)) from None
    return int(getattr(info, "uss", 0) or info.rss)


def whole(pid: int) -> int:
    """The private bytes of a process and of the processes that it started, such as a Java machine."""
    total = private(pid)
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                children = [int(child) for child in file.read().split()]
        except OSError:
            continue  # it has ended in the meantime
        for child in children:
            try:
                total += private(child)
            except OSError:
                continue
    return total
