"""Measures the compilation of the kernels of an algorithm on a machine that has none compiled yet."""

import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.measured_task import MeasuredRun, first_line, ready
from cepbench.pipeline.session import in_environment
from cepbench.pipeline.warmup import warm_up


def compiled_anew(job: MeasuredRun) -> float:
    """Processor seconds of planning and warming up a job in a new process, with an empty folder for kernels.

    Raises `CepbenchError` if that process fails.
    """
    spawned = get_context("spawn")  # a fork would have the kernels that are loaded here
    with (
        tempfile.TemporaryDirectory(prefix="cepbench-kernels-") as folder,
        in_environment("NUMBA_CACHE_DIR", folder),
        ProcessPoolExecutor(1, spawned) as pool,
    ):
        try:
            found = pool.submit(_compile, job).result()
        except BrokenProcessPool:
            found = "the process ended"
    if isinstance(found, str):
        raise CepbenchError(f"kernels were not compiled: {found}")
    return found


def _compile(job: MeasuredRun) -> float | str:
    """Processor seconds, or the failure as text: not all exceptions can be pickled."""
    started = time.process_time()
    try:
        for part in ready(job).prepared.jobs:
            warm_up(job.algorithm, part.plan)
    except Exception as error:  # a user never sees a traceback
        return f"{type(error).__name__}: {first_line(error)}"
    return time.process_time() - started
