"""A standalone Spark cluster on loopback; tests may stop and kill its workers, and hide folders from them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import pyspark

START_SECONDS = 90
HOST = "127.0.0.1"
LISTENING = re.compile(r"Starting Spark master at (spark://\S+)")


class Standalone:
    """A context manager with a master and workers, each a process that logs into its own folder."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._folder, self._settings = folder, settings or {}
        self.url = ""
        self.workers: list[subprocess.Popen[bytes]] = []
        self._count = 0
        self._master: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Standalone:
        # The master chooses its port: a port that is free now may be in use when the master starts.
        self._master = self._start("master.Master", "--host", HOST, "--port", "0")
        deadline = time.monotonic() + START_SECONDS
        while (listening := LISTENING.search((self._folder / "master.Master-1" / "log").read_text())) is None:
            assert time.monotonic() < deadline, "the master does not listen"
            time.sleep(0.2)
        self.url = listening[1]
        return self

    def __exit__(self, *_: object) -> None:
        for worker in list(self.workers):
            self.kill(worker)
        assert self._master is not None
        self._master.kill()
        self._master.wait()

    def add_worker(self, cores: int = 1, hidden: Path | None = None) -> subprocess.Popen[bytes]:
        """Starts a worker that sees an empty folder in place of `hidden`, as on a machine with another disk."""
        arguments = ("--host", HOST, "--port", "0", "--cores", str(cores), "--memory", "1g")
        worker = self._start("worker.Worker", *arguments, "--work-dir", "work", self.url, hidden=hidden)
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kills a worker with its executors and their Python processes, as if its machine lost power."""
        for process in tree(worker.pid):
            with contextlib.suppress(psutil.Error):
                process.kill()
        worker.kill()
        worker.wait()
        with contextlib.suppress(ValueError):
            self.workers.remove(worker)

    def stop(self, worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
        """Suspends a worker and its child processes, as if its machine could not be reached; `go_on` resumes them."""
        stopped = tree(worker.pid)
        for process in stopped:
            with contextlib.suppress(psutil.Error):
                process.send_signal(signal.SIGSTOP)
        return stopped

    def _start(self, name: str, *arguments: str, hidden: Path | None = None) -> subprocess.Popen[bytes]:
        self._count += 1
        folder = self._folder / f"{name}-{self._count}"
        folder.mkdir(parents=True)
        home = Path(pyspark.__file__).parent
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
            "JDK_JAVA_OPTIONS": os.environ["SPARK_SUBMIT_OPTS"],  # for executors, too
        }
        command = [
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{name}",
            "--webui-port",
            "0",
        ]
        if self._settings:
            (folder / "settings").write_text("".join(f"{key} {text}\n" for key, text in self._settings.items()))
            command += ["--properties-file", "settings"]
        command += arguments
        if hidden is not None:
            command = [*UNSHARE, "sh", "-c", f"mount -t tmpfs none '{hidden}' && exec \"$@\"", "sh", *command]
        with (folder / "log").open("wb") as log:
            return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


UNSHARE = ("unshare", "--mount")


def can_hide() -> bool:
    """Whether a process may have its own mounts on this system."""
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def tree(process: int) -> list[psutil.Process]:
    """A process and its descendants, parents first."""
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(process)
        return [top, *top.children(recursive=True)]
    return []


def go_on(processes: Sequence[psutil.Process]) -> None:
    """Resumes suspended processes."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)
