"""The Spark session: quiet, on loopback unless the master is elsewhere, with the project's packages on its workers."""

import atexit
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from cepbench.events.errors import CepbenchError
from cepbench.pipeline.java import check_java
from cepbench.pipeline.packages import cache_folder, write_packages

DEFAULT_MASTER = "local[*]"
LOOPBACK = "127.0.0.1"
OPTIONS = "spark.cepbench.options"

# Failures reach the user as one line of ours; Spark's own words go to a file that is shown only when it cannot start.
LOGGING = """\
rootLogger.level = off
"""


def session(
    master: str | None = None,
    *,
    reuse_workers: bool = True,
    python_memory: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """The session with these options; one with other options that this function made before is stopped.

    - `master`: a Spark master URL; None is `local[*]`.
    - `reuse_workers`: False gives every task a fresh Python process.
    - `python_memory`: cap of the Python workers of one executor together, e.g. "4g" (`spark.executor.pyspark.memory`).
    - `settings`: further Spark settings, which win.

    Raises `CepbenchError` if Java is missing or too old, the master does not answer, or Spark does not start.
    """
    master = master or DEFAULT_MASTER
    options = {
        **_settings(master),
        "spark.python.worker.reuse": str(reuse_workers).lower(),
        **({} if python_memory is None else {"spark.executor.pyspark.memory": python_memory}),
        **(settings or {}),
    }
    identity = repr(sorted(options.items()))
    active = SparkContext._active_spark_context
    if active is not None:
        known = active.getConf().get(OPTIONS)
        if known == identity:
            return SparkSession(active)
        if known is None:
            raise CepbenchError("another Spark session runs in this process; stop it first")
        stop()
    check_java()
    _check_reachable(master)
    return _start(master, {**options, OPTIONS: identity})


def stop() -> None:
    """Stops the session, if there is one."""
    if SparkContext._active_spark_context is not None:
        SparkSession(SparkContext._active_spark_context).stop()


def is_local(master: str) -> bool:
    """Whether the master runs everything in one JVM on this machine."""
    return master == "local" or master.startswith("local[")


def _settings(master: str) -> dict[str, str]:
    scratch = _scratch()
    settings = {
        "spark.app.name": "cepbench",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        # A raw value that does not fit its column becomes null, which we refuse with its row; Spark would not name it.
        "spark.sql.ansi.enabled": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={(scratch / 'log4j2.properties').as_uri()}",
        "spark.driver.maxResultSize": "0",
    }
    if is_local(master):
        settings["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
    else:
        # A worker's user may not have a cache folder; Numba looks at the second for functions in a zip file.
        settings["spark.executorEnv.NUMBA_CACHE_DIR"] = str(cache_folder() / "numba")
        settings["spark.executorEnv.XDG_CACHE_HOME"] = str(cache_folder())
    if _on_loopback(master):
        settings["spark.driver.host"] = LOOPBACK
        settings["spark.driver.bindAddress"] = LOOPBACK
        settings["spark.executorEnv.SPARK_LOCAL_IP"] = LOOPBACK
    return settings


def _start(master: str, options: Mapping[str, str]) -> SparkSession:
    # Workers run the driver's Python on this machine; on another one, what its administrator chose.
    if _on_loopback(master):
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = SparkConf(loadDefaults=False).setMaster(master).setAll(list(options.items()))
    errors = _scratch() / "java.log"
    before = list(sys.path)
    try:
        if SparkContext._gateway is None:
            with errors.open("wb") as log:
                gateway = launch_gateway(conf, {"stderr": log})  # type: ignore[no-untyped-call]
                SparkContext._ensure_initialized(gateway=gateway, conf=conf)
        context = SparkContext(conf=conf)
        if not is_local(master):
            context.addPyFile(str(write_packages(_scratch())))
        return SparkSession(context)
    except Exception as error:  # Py4J and pyspark raise many kinds; all mean that Spark did not start
        raise CepbenchError(f"Spark does not start on master {master}: {_reason(error, errors)}") from None
    finally:
        sys.path[:] = before  # addPyFile would let the driver import from the zip file


def _reason(error: Exception, errors: Path) -> str:
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage()) if java is not None else str(error)
    if java is None and errors.exists():
        lines = [
            line for line in errors.read_text(errors="replace").splitlines() if "rror" in line or "xception" in line
        ]
        text = lines[0] if lines else text
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def _on_loopback(master: str) -> bool:
    host = urlsplit(master).hostname if "://" in master else None
    return master.startswith("local") or host in ("localhost", "::1") or (host or "").startswith("127.")


def _check_reachable(master: str) -> None:
    """Spark itself would try for a minute."""
    if not master.startswith("spark://"):
        if not master.startswith(("local", "yarn", "k8s://")):
            raise CepbenchError(
                f"unknown Spark master {master!r}; expected local[N], spark://host:port, yarn or k8s://..."
            )
        return
    places = master.removeprefix("spark://").split(",")
    for place in places:
        host, _, port = place.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=10):
                return
        except (OSError, ValueError):
            continue
    raise CepbenchError(f"Spark master {master} does not answer; start it, or leave out --master to use this machine")


_folders: list[Path] = []


def _scratch() -> Path:
    """A folder of this process for Spark's configuration, removed at its end."""
    if not _folders:
        folder = Path(tempfile.mkdtemp(prefix="cepbench-spark-"))
        (folder / "log4j2.properties").write_text(LOGGING)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _folders.append(folder)
    return _folders[0]
