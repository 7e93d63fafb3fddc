"""Measures the compilation of the kernels of an algorithm on a machine that has none compiled yet."""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.measured_task import MeasuredRun, first_line, ready
from cepbench.pipeline.warmup import warm_up

_FOLDER = "NUMBA_CACHE_DIR"


def compiled_anew(job: MeasuredRun) -> float:
    """Processor seconds of planning and warming up a job in a new process, with an empty folder for kernels.

    Raises `CepbenchError` if that process fails.
    """
    spawned = multiprocessing.get_context("spawn")  # a fork would have the kernels that are loaded here
    with tempfile.TemporaryDirectory(prefix="cepbench-kernels-") as folder:
        receiver, sender = spawned.Pipe(duplex=False)
        process = spawned.Process(target=_compile, args=(job, sender), daemon=True)
        with _kernels_in(folder):
            process.start()
        sender.close()
        try:
            found: float | str = receiver.recv()
        except EOFError:
            found = "the process ended"
        finally:
            process.kill()
            process.join()
            receiver.close()
    if isinstance(found, str):
        raise CepbenchError(f"kernels were not compiled: {found}")
    return found


@contextmanager
def _kernels_in(folder: str) -> Iterator[None]:
    """In this context, new processes keep their compiled kernels in `folder`."""
    before = os.environ.get(_FOLDER)
    os.environ[_FOLDER] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before


def _compile(job: MeasuredRun, sender: Connection) -> None:
    started = time.process_time()
    try:
        for part in ready(job).prepared.jobs:
            warm_up(job.algorithm, part.plan)
    except Exception as error:  # a user never sees a traceback
        sender.send(f"{type(error).__name__}: {first_line(error)}")
    else:
        sender.send(time.process_time() - started)
