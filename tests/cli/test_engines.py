"""`cepbench engines`: installing from a folder of wheels, and all that can go wrong. No test needs a network."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cepbench.algorithms.external import installing, packages
from tests.algorithms.external.wheels import JARS, unpacked, wheel

MODULE = (sys.executable, "-m", "cepbench.cli.main")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder of engines, beside an environment without any, and an index that is a folder of wheels."""
    monkeypatch.setenv(packages.VARIABLE, str(tmp_path / "engines"))
    everywhere = packages._places
    monkeypatch.setattr(packages, "_places", lambda package: (place for place in everywhere(package) if place[0]))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    for cache in (packages.look_up, packages.interpreter):
        cache.cache_clear()
    yield tmp_path / "engines"
    for cache in (packages.look_up, packages.interpreter):
        cache.cache_clear()


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"} if folder.exists() else set()


def test_the_list(cepbench, engines):
    unpacked(engines, packages.DUCKDB)
    rows = {row["name"]: row for row in json.loads(cepbench("engines", "--json").out)}
    assert list(rows) == ["flink", "duckdb", "core-engine"]
    assert rows["flink"]["installed"] == "no"
    assert rows["flink"]["missing"] == "it is not installed (cepbench engines install flink)"
    duckdb = {"name": "duckdb", "installed": "yes", "version": "2.0.1", "license": "MIT", "missing": "-"}
    assert rows["duckdb"] == duckdb
    lines = cepbench("engines").out.splitlines()
    assert lines[2].split() == list(duckdb.values())
    assert max(map(len, lines)) <= 120


def test_an_engine_is_installed_once_and_repaired(cepbench, engines, tmp_path):
    wheel(tmp_path / "wheels")
    ended = cepbench("engines", "install", "flink")
    assert (ended.status, ended.err) == (0, "Installing Flink (330 MB) ...\n")
    site = packages.site_packages(engines / "flink", sys.version_info)
    assert ended.out == f"Flink 2.3.0 is now installed in {site}\n"
    assert files(engines) == {"flink"}
    ended = cepbench("engines", "install", "flink", "flink")
    assert (ended.status, ended.out, ended.err) == (0, f"Flink 2.3.0 is installed in {site}\n", "")

    (site / JARS[1]).write_text("j")  # a download that was cut off
    packages.look_up.cache_clear()
    fault = "it is damaged: flink-cep-2.3.0.jar has 1 of 3 bytes (cepbench engines install flink)"
    assert fault in cepbench("engines").out
    assert cepbench("engines", "install", "flink").status == 0
    assert (site / JARS[1]).read_text() == "jar"
    assert files(engines) == {"flink"}


def test_a_package_that_cannot_be_imported_is_not_installed(cepbench, engines, tmp_path):
    wheel(tmp_path / "wheels", packages.DUCKDB, code="raise ImportError('no libc')")
    ended = cepbench("engines", "install", "duckdb")
    assert ended.status == 2
    assert ended.err.endswith("cepbench: DuckDB could not be installed: ImportError: no libc\n")
    assert files(engines) == set()


def refused(cepbench, name: str) -> str:
    """The line of an installation that is refused."""
    ended = cepbench("engines", "install", name)
    assert (ended.status, ended.out) == (2, "")
    *_, line = ended.err.splitlines()
    assert ended.err in (f"{line}\n", f"Installing Flink (330 MB) ...\n{line}\n")
    return line


def test_an_unknown_name(cepbench):
    choices = "choose one of flink, duckdb, core-engine; did you mean duckdb?"
    assert refused(cepbench, "duckdv") == f"cepbench: unknown engine 'duckdv'; {choices}"


def test_no_network(cepbench, engines, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("PIP_RETRIES", "1")
    reason = "the Python package index cannot be reached"
    assert refused(cepbench, "flink") == f"cepbench: Flink could not be installed: {reason}"
    assert files(engines) == set()


def test_an_index_without_the_package(cepbench, engines, tmp_path):
    (tmp_path / "wheels").mkdir()
    reason = "No matching distribution found for apache-flink-libraries==2.3.0"
    assert refused(cepbench, "flink") == f"cepbench: Flink could not be installed: {reason}"
    assert files(engines) == set()


@pytest.mark.skipif(sys.version_info[:2] == packages.CORE.python, reason="this is the Python that it needs")
def test_no_python_for_the_engine(cepbench, engines, monkeypatch):
    monkeypatch.setenv("PATH", "")
    reason = "it is not installed, and there is no CPython 3.13 (python3.13 on the PATH)"
    assert refused(cepbench, "core-engine") == f"cepbench: CORE's engine is not available: {reason}"
    assert not engines.exists()


def test_a_folder_that_cannot_be_written(cepbench, engines):
    engines.write_text("a file")
    reason = f"engines cannot be kept in {engines}: file exists ({packages.VARIABLE} names another folder)"
    assert refused(cepbench, "flink") == f"cepbench: {reason}"


def test_another_process_installs_it(cepbench, engines):
    engines.mkdir()
    with (engines / ".flink.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert refused(cepbench, "flink") == "cepbench: Flink is being installed by another process"


def test_every_engine_without_a_name(cepbench, engines, tmp_path, monkeypatch):
    """What fails is named, and the others are installed."""
    monkeypatch.setattr("cepbench.algorithms.external.packages.PACKAGES", (packages.FLINK, packages.DUCKDB))
    wheel(tmp_path / "wheels", packages.DUCKDB)
    ended = cepbench("engines", "install")
    assert ended.status == 2
    assert [line for line in ended.err.splitlines() if line.startswith("cepbench")] == [
        "cepbench: Flink could not be installed: No matching distribution found for apache-flink-libraries==2.3.0"
    ]
    assert files(engines) == {"duckdb"}


def test_a_signal_that_does_not_end_a_wait_stops_an_installation(tmp_path):
    """As one does that arrives just before the wait: here, another thread receives it."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
    begun = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            installing._run(packages.FLINK, ["sleep", "30"], tmp_path)
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.full),
        pytest.param(signal.SIGKILL, -9, marks=pytest.mark.full),
    ],
)
def test_an_installation_that_is_stopped_leaves_no_half(cepbench, engines, tmp_path, number, status):
    environment = dict(os.environ)
    del environment["PIP_NO_INDEX"]
    with socket.create_server(("127.0.0.1", 0)) as index:  # which accepts a connection and never answers
        environment["PIP_INDEX_URL"] = f"http://127.0.0.1:{index.getsockname()[1]}/"
        command = (*MODULE, "engines", "install", "flink")
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = index.accept()
            assert files(engines) == {".flink"}
            process.send_signal(number)
            try:
                _, err = process.communicate(timeout=60)
            finally:
                process.kill()
                connection.close()
    assert process.returncode == status
    assert "Traceback" not in err
    assert files(engines) == ({".flink"} if number == signal.SIGKILL else set())
    deadline = time.monotonic() + 30
    wheel(tmp_path / "wheels")
    while cepbench("engines", "install", "flink").status and time.monotonic() < deadline:
        time.sleep(0.1)  # pip ends after its connection
    assert files(engines) == {"flink"}
