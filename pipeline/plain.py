"""A few events without compiled kernels: plain Python has the answer long before kernels are compiled."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from cepbench.algorithms.registry import CLASSES
from cepbench.events.csv_files import LOOK_BYTES
from cepbench.events.errors import CepbenchError
from cepbench.events.sources import find
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkLost, ForkTooLong
from cepbench.pipeline.store import is_store, read_stream

MOST_EVENTS = 500
SECONDS = 10.0
"""Compiling takes about as long; an answer that is not there by then has many matches."""

_Answer = TypeVar("_Answer")


class PlainKernels(CepbenchError):
    """Kernels that run as plain Python were to be compiled or measured."""


def is_faster(algorithm: str, arithmetic: str, events: Path) -> bool:
    """Whether plain Python has the answer first: of an algorithm (its specification) of which no kernel is compiled,
    on a few events. `NUMBA_DISABLE_JIT` decides otherwise.
    """
    name = algorithm.partition("[")[0].strip()
    if "NUMBA_DISABLE_JIT" in os.environ or "numba" in sys.modules:  # perhaps with kernels
        return False
    if CLASSES.get(name, "external.").startswith("external.") or not _are_few(events):
        return False
    from cepbench.algorithms.engine.kernels.compilation import compiled_marker

    marker = compiled_marker(name, arithmetic)
    return os.access(marker.parent, os.W_OK) and not marker.exists()


def in_plain_python(work: Callable[[], _Answer]) -> _Answer | None:
    """The result of `work` in a fork whose kernels are plain Python; None after `SECONDS`, or if it fails: then it
    fails with compiled kernels, too, and the error is reported there.
    """

    def attempt(clock: Clock) -> Any:
        from cepbench.algorithms.engine.kernels.compilation import run_plain

        run_plain()
        try:
            with clock:
                return work()
        except BaseException:  # also an interrupt, to which the parent reacts
            return None

    with Fork(attempt) as fork:
        try:
            answer: _Answer | None = fork.result(SECONDS)
            return answer
        except (ForkTooLong, ForkDied, ForkLost):
            return None


def check_compiled() -> None:
    """Raises `PlainKernels`: a measurement of kernels that are not compiled would mean nothing."""
    from cepbench.algorithms.engine.kernels.compilation import is_plain

    if is_plain():
        raise PlainKernels("with NUMBA_DISABLE_JIT=1 kernels run as plain Python, and are not measured; unset it")


def _are_few(events: Path) -> bool:
    """Whether a store, or files that can be read twice, have at most `MOST_EVENTS` events, as far as a look shows."""
    try:
        if is_store(events):
            return read_stream(events).events <= MOST_EVENTS
        source = find(events)
        if not all(file.is_file() for file in source.files):
            return False
        return sum(map(_rows if source.is_csv else _parquet_rows, source.files)) <= MOST_EVENTS
    except (CepbenchError, pa.ArrowException, OSError):
        return False  # the command reports it


def _rows(file: Path) -> int:
    """Lines of a CSV file behind the first; more than `MOST_EVENTS` for a compressed or long one."""
    with file.open("rb") as opened:
        begin = opened.read(LOOK_BYTES)
    whole = len(begin) < LOOK_BYTES and file.suffix not in (".gz", ".bz2", ".zst")
    return begin.rstrip().count(b"\n") if whole else MOST_EVENTS + 1


def _parquet_rows(file: Path) -> int:
    return int(pq.read_metadata(file).num_rows)
