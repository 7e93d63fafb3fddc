"""A fork that ends with its parent. It imports little, since a fork of the command line begins with it."""

from __future__ import annotations

import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1  # sys/prctl.h


def die_with(parent: int) -> None:
    """Lets the system kill this process when its parent ends, if supported."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
