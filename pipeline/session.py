"""The Spark session: quiet, on loopback unless the master is elsewhere, with the project's packages on its workers.

Settings of an administrator (`spark-defaults.conf`) hold unless set here; those of a user override both.
"""

import atexit
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from cepbench.algorithms.plugins import VARIABLE
from cepbench.events.errors import CepbenchError
from cepbench.pipeline.cluster import (
    EXECUTOR_CORES,
    EXECUTORS,
    MOST_CORES,
    SparkCluster,
    TooFewExecutors,
    is_local,
    number,
)
from cepbench.pipeline.packages import write_packages

OLDEST_JAVA = 17
ADVICE = f"Spark needs Java {OLDEST_JAVA} or newer; set JAVA_HOME; query and generate need none without --master"
LOOPBACK = "127.0.0.1"
OPTIONS = "spark.cepbench.options"
WAIT_SECONDS = 60.0
"""Seconds to wait for the requested executors."""
STEADY_SECONDS = 2.0
"""Without a requested number, seconds without a new executor after which all are there."""
TRIES = 4
"""Attempts at a task, as on a cluster."""
SHORT_JOBS = "-XX:TieredStopAtLevel=1"
"""Java without its second compiler, which took 0.3 s of processor time per cell beside timed workers."""

# Users see failures as one line; Spark's own output goes to a file that is shown only if Spark cannot start.
LOGGING = """\
rootLogger.level = off
"""


_sessions: dict[SparkContext, SparkSession] = {}
"""The latest session, by its context."""


def session(cluster: SparkCluster | str | None = None, *, worker_memory: int | None = None) -> SparkSession:
    """The session with these options and its executors. Replaces our session if it has other options or has stopped.

    - `cluster`: or a master URL.
    - `worker_memory`: bytes of a Python worker that measures cells: YARN and Kubernetes make their containers large
      enough, and a new Java has the options for short jobs.

    Raises `CepbenchError` if Java is missing or too old, the master does not answer, Spark does not start, or too few
    executors register.
    """
    cluster = cluster if isinstance(cluster, SparkCluster) else SparkCluster(cluster)
    master = cluster.url
    options = {
        **_settings(master),
        **_container(master, worker_memory, cluster.settings),
        **cluster.settings,
    }
    identity = repr((master, sorted(options.items())))
    active = SparkContext._active_spark_context
    if active is not None:
        active_identity = conf_of(active).get(OPTIONS)
        stopped = is_stopped(active)
        if active_identity == identity and not stopped:
            return _sessions.get(active) or SparkSession(active)
        if active_identity is None and not stopped:
            raise CepbenchError("another Spark session runs in this process; stop it first")
        stop()
    check_java()
    _check_reachable(master)
    spark = _start(master, {**options, OPTIONS: identity}, worker_memory is not None)
    if not is_local(master):
        _wait_for_executors(spark, master)
    _sessions.clear()
    _sessions[spark.sparkContext] = spark
    return spark


@lru_cache(maxsize=1)
def conf_of(context: SparkContext) -> SparkConf:
    """The configuration of a context, cached since Spark copies it on every call."""
    return context.getConf()


def stop() -> None:
    """Stops the session, if there is one."""
    active = SparkContext._active_spark_context
    if active is None:
        return
    if is_stopped(active):  # which has no session
        active.stop()
    else:
        SparkSession(active).stop()


def is_stopped(context: SparkContext) -> bool:
    """Whether Spark stopped the session, for instance because its master is gone."""
    try:
        return bool(context._jsc.sc().isStopped())
    except (Py4JError, AttributeError):
        return True


def executor_count(spark: SparkSession) -> int:
    """Running executors; the driver counts if it runs the tasks."""
    count = len(list(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()))
    return count if is_local(str(spark.sparkContext.master)) else count - 1


def slot_count(spark: SparkSession) -> int:
    """Tasks that run concurrently, at least 1; Spark's own parallelism is never below 2 on a cluster."""
    try:
        context = spark.sparkContext._jsc.sc()
        count = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
    except (Py4JError, AttributeError):
        count = spark.sparkContext.defaultParallelism
    return max(1, int(count))


def wait_for_slots(spark: SparkSession, wanted: int) -> int:
    """Waits for slots that were lost; the number that there is then."""
    begun = time.monotonic()
    while (count := slot_count(spark)) < wanted and time.monotonic() - begun < WAIT_SECONDS:
        time.sleep(0.2)
    return count


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
        "spark.driver.maxResultSize": "0",
        "spark.dynamicAllocation.enabled": "false",  # slots would go away between cells
        "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "1",  # by default, Spark waits for ten minutes
        "spark.speculation": "false",  # a second copy of a task would disturb the measurement
    }
    if is_local(master):
        settings["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
    else:
        if plugins := os.environ.get(VARIABLE):
            settings[f"spark.executorEnv.{VARIABLE}"] = plugins  # files that all machines share
        settings["spark.network.timeout"] = "60s"  # a machine without a report for this long is lost
    if _on_loopback(master):
        settings["spark.driver.host"] = LOOPBACK
        settings["spark.driver.bindAddress"] = LOOPBACK
        settings["spark.executorEnv.SPARK_LOCAL_IP"] = LOOPBACK
    return settings


def _container(master: str, worker_memory: int | None, settings: Mapping[str, str]) -> dict[str, str]:
    """The memory of all Python workers of an executor; Spark gives each an equal part of it."""
    if worker_memory is None or not master.startswith(("yarn", "k8s://")):
        return {}
    cores = int(number(EXECUTOR_CORES, settings.get(EXECUTOR_CORES), 1))
    return {"spark.executor.pyspark.memory": f"{worker_memory * cores // 2**20}m"}


def _wait_for_executors(spark: SparkSession, master: str) -> None:
    """Waits for the requested executors and cores, or until no more register. Raises `CepbenchError`."""
    conf = conf_of(spark.sparkContext)
    executors = int(number(EXECUTORS, conf.get(EXECUTORS), 0))
    cores = int(number(MOST_CORES, conf.get(MOST_CORES), 0))
    begun = steady = time.monotonic()
    before = (0, 0)
    while True:
        registered = (executor_count(spark), int(spark.sparkContext._jsc.sc().defaultParallelism()))
        now = time.monotonic()
        if registered != before:
            before, steady = registered, now
        enough = registered[0] >= max(1, executors) and registered[1] >= cores
        if enough and (executors or cores or now - steady >= STEADY_SECONDS):
            return
        if now - begun > WAIT_SECONDS:
            wanted = [f"{executors} executors"] * bool(executors) + [f"{cores} cores"] * bool(cores)
            stop()
            raise TooFewExecutors(
                f"Spark master {master}: {registered[0]} executors registered within {WAIT_SECONDS:g} s, "
                f"not {' with '.join(wanted) or 'one'}; ask for fewer, or free some"
            )
        time.sleep(0.2)


@contextmanager
def in_environment(name: str, value: str) -> Iterator[None]:
    """In this context, processes start with this variable in their environment."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _java_options(short_jobs: bool) -> str:
    """Options of Java: quiet, for `short_jobs` if true, and those of an administrator or a user."""
    logging = f"-Dlog4j2.configurationFile={(_scratch() / 'log4j2.properties').as_uri()}"
    chosen = os.environ.get("SPARK_SUBMIT_OPTS")
    return " ".join([SHORT_JOBS] * short_jobs + ([] if chosen is None else [chosen]) + [logging])  # the last wins


def _start(master: str, options: Mapping[str, str], short_jobs: bool) -> SparkSession:
    # Workers run the driver's Python on this machine; on others, the administrator's choice.
    if _on_loopback(master):
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = SparkConf(loadDefaults=False).setMaster(_repeating(master)).setAll(list(options.items()))
    errors = _scratch() / "java.log"
    before = list(sys.path)
    try:
        if SparkContext._gateway is None:
            java = _java_options(short_jobs)
            with errors.open("wb") as log, in_environment("SPARK_SUBMIT_OPTS", java):
                # In a session of its own: a signal to the group of this process, as `timeout` sends it, would end the
                # JVM before this process can stop it, and a thread of PySpark would print a traceback.
                apart = {"stderr": log, "start_new_session": True}
                gateway = launch_gateway(conf, apart)  # type: ignore[no-untyped-call]
                SparkContext._ensure_initialized(gateway=gateway, conf=conf)
        context = SparkContext(conf=conf)
        if not is_local(master):
            context.addPyFile(str(write_packages(_scratch())))
        return SparkSession(context)
    except Exception as error:  # Py4J and pyspark raise many kinds of errors; all mean that Spark did not start
        raise CepbenchError(f"Spark does not start on master {master}: {_reason(error, errors)}") from None
    finally:
        sys.path[:] = before  # addPyFile would let the driver import from the zip file


def _repeating(master: str) -> str:
    """A local master that repeats the task of a lost worker, as a cluster does; at `local[N]`, it would end the job."""
    local = re.fullmatch(r"local(?:\[(\*|\d+)\])?", master)
    return master if local is None else f"local[{local[1] or 1},{TRIES}]"


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


def check_java() -> int:
    """The major version of the Java that Spark will start (`JAVA_HOME`, or `PATH`). Raises `CepbenchError`."""
    java = _java()
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CepbenchError(f"Java at {java} does not start ({error}); {ADVICE}") from None
    version = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if version is None:
        raise CepbenchError(f"Java at {java} does not report its version; {ADVICE}")
    if int(version[1]) < OLDEST_JAVA:
        raise CepbenchError(f"Java at {java} is version {version[1]}; {ADVICE}")
    return int(version[1])


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise CepbenchError(f"Java is missing: JAVA_HOME is {home}, which has no bin/java; {ADVICE}")
        return str(java)
    on_path = shutil.which("java")
    if on_path is None:
        raise CepbenchError(f"Java is missing: no java on PATH; {ADVICE}")
    return on_path


def _check_reachable(master: str) -> None:
    """Raises `CepbenchError` if the master accepts no connection; Spark itself would try for a minute."""
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
