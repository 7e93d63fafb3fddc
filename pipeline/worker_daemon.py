"""Spark's Python daemon (`spark.python.daemon.module`), which loads packages before it forks workers.

A worker is isolated as usual: its own process, with its own limit, killed alone. But it starts with packages and
kernels loaded, which took most of the time of a short cell. This file is sent to the executors of a cluster beside the
archive of our packages.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from zipimport import zipimporter

from pyspark.daemon import manager

MODULE = "cepbench.pipeline.worker_daemon"
MODULE_ON_EXECUTORS = "worker_daemon"
"""An executor runs Python where Spark puts the files of a job."""
ARCHIVE = "cepbench.zip"


def preload() -> None:
    """Loads packages, Spark's part of a worker, and the common kernels if all are on disk; it never compiles."""
    import encodings.idna  # which a worker's first connection needs

    import pyspark.worker

    from cepbench.algorithms.engine.kernels.compilation import common_marker
    from cepbench.algorithms.registry import ALGORITHMS, make
    from cepbench.pipeline import measured_task, warmup

    assert encodings.idna
    assert measured_task
    assert pyspark.worker
    if common_marker().exists():
        for kind in (kind for kind in ALGORITHMS if not kind.starts):
            warmup.warm_up_common(make(kind.name))
    forget_archives()
    gc.collect()
    gc.freeze()  # otherwise the first collection of every worker would copy the pages of all objects


def forget_archives() -> None:
    """Drops the importers of zip files: in each worker, all of them would read their file again, for 0.1 s.

    Those that are still needed are created again, from the cached directory of the file.
    """
    for place, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimporter):
            del sys.path_importer_cache[place]


def main() -> None:
    """Speaks Spark's protocol on standard input and output, which is reserved for it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process of several threads should not fork
    archive = Path(__file__).resolve().parent / ARCHIVE
    if archive.exists():
        sys.path.insert(0, str(archive))
    spoken, sys.stdout = sys.stdout, sys.stderr
    preload()
    sys.stdout = spoken
    manager()


if __name__ == "__main__":
    main()
