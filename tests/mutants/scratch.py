"""A copy of the project to which mutants are applied. It is kept between runs, with its compiled kernels."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from numba.core.caching import _CacheLocator

from tests.mutants import outcomes
from tests.mutants.mutant import ROOT, Mutant

PASSED, NO_TESTS = 0, 5
"""Exit codes of pytest; one below 0 is the signal that ended it."""
HUNG, LATE = "hung", "late"
_CONFTEST = re.compile(r"while loading conftest '.*?(tests/.*)'")


@dataclass(frozen=True)
class TestRun:
    """The result of a run of tests that stops at the first failure.

    `failed` is the test (or file, if it could not be imported) that failed, or in which the run ended; `hung` says that
    it took longer than a test may, and `late` that the time for the whole run was up.
    """

    __test__ = False

    code: int
    failed: str | None
    seconds: float
    output: str
    hung: bool = False
    late: bool = False


class Scratch:
    """A copy of the project's files in a folder that no other process uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def update(self) -> None:
        """Makes the copy equal to the project. Unchanged files keep their times, and so their compiled kernels."""
        wanted = {name: ROOT / name for name in _project_files()}
        for old in _files_below(self.folder):
            if old not in wanted and Path(old).suffix in (".py", ".yaml", ".sase", ".lark", ".java"):
                (self.folder / old).unlink()
        for name, source in wanted.items():
            target = self.folder / name
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
                target.chmod(source.stat().st_mode & 0o777)
        self._take_kernels()

    def _take_kernels(self) -> None:
        """Copies compiled kernels. Numba names their folders after the path of the source, and checks its content."""
        for compiled in _kernels_below(ROOT):
            sources = self.folder / compiled.relative_to(ROOT).parent.parent.parent
            target = self.folder / compiled.relative_to(ROOT).parent
            target /= _CacheLocator.get_suitable_cache_subpath(str(sources / "kernel.py"))
            if not target.exists():
                shutil.copytree(compiled, target)

    @contextmanager
    def changed_by(self, mutant: Mutant) -> Iterator[None]:
        """Applies the mutant; afterwards removes it and the kernels that were compiled from it."""
        file = self.folder / mutant.file
        before, times = file.read_text(encoding="utf-8"), file.stat()
        compiled = set(_kernels_below(self.folder))
        file.write_text(mutant.applied_to(before), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            if "kernels" in file.parts or "queries" in file.parts:
                for folder in set(_kernels_below(self.folder)) - compiled:
                    shutil.rmtree(folder.parent, ignore_errors=True)

    def run(self, arguments: Sequence[str], test_seconds: float, seconds: float) -> TestRun:
        """Runs tests in the copy, and only with its code, until one fails.

        Gives up when a test, or what comes before the first one, takes more than `test_seconds` of processor time (or
        ten times as long, for it may wait), or all of them more than `seconds`. A kernel that never ends cannot be
        interrupted from within, so the processes are killed.
        """
        with tempfile.TemporaryDirectory() as folder:
            told, printed = Path(folder, "outcomes"), Path(folder, "output")
            told.touch()
            environment = {**os.environ, outcomes.FILE: str(told), "PYTHONPATH": str(self.folder.parent)}
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "tests.mutants.outcomes"]
            command += ["-p", "no:cacheprovider", "--no-header", "--tb=line", *arguments]
            begin = time.monotonic()
            with printed.open("w", encoding="utf-8") as output:
                process = subprocess.Popen(
                    command, cwd=self.folder, env=environment, start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                )  # fmt: skip
                why = _watched(process, told, test_seconds, begin + seconds)
            lines = [line.partition(" ") for line in told.read_text(encoding="utf-8").splitlines()]
            failed = [test for what, _, test in lines if what == outcomes.FAILED]
            text = printed.read_text(encoding="utf-8", errors="replace")
            if process.returncode < 0:
                failed += [test for _, _, test in lines[-1:]]
            if found := _CONFTEST.search(text):
                failed.append(found[1])
            taken = time.monotonic() - begin
            return TestRun(process.returncode, failed[0] if failed else None, taken, text, why == HUNG, why == LATE)


def _watched(process: subprocess.Popen[bytes], told: Path, test_seconds: float, deadline: float) -> str:
    """Waits for a run of tests to end. Kills it if it hangs or the deadline is over, and returns the reason."""
    news, since, spent = -1.0, 0.0, 0.0
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
            return ""
        if told.stat().st_mtime != news:
            news, since, spent = told.stat().st_mtime, time.monotonic(), _processor_seconds(process.pid)
        hung = max(_processor_seconds(process.pid) - spent, (time.monotonic() - since) / 10) > test_seconds
        if hung or time.monotonic() > deadline:
            os.killpg(process.pid, 9)
            process.wait()
            return HUNG if hung else LATE


def _processor_seconds(pid: int) -> float:
    """CPU seconds of a process and its children."""
    total = 0.0
    with suppress(psutil.Error):
        for one in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with suppress(psutil.Error):
                total += sum(one.cpu_times()[:2])
    return total


@contextmanager
def scratch(folder: Path = ROOT / ".mutants") -> Iterator[Scratch]:
    """Yields the first copy that no other process uses, up to date."""
    folder.mkdir(exist_ok=True)
    for number in range(64):
        with (folder / f"{number}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            copy = Scratch(folder / str(number) / "cepbench")  # the folder is the package, so it needs this name
            copy.folder.mkdir(parents=True, exist_ok=True)
            copy.update()
            yield copy
            return
    raise RuntimeError(f"all copies in {folder} are in use")


def _project_files() -> list[str]:
    """Paths of all files that git tracks or does not ignore, relative to the project."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def _files_below(folder: Path) -> list[str]:
    return [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]


def _kernels_below(folder: Path) -> list[Path]:
    """Folders of compiled kernels, `__pycache__/<contents>/<place>`."""
    return [path for path in (folder / "algorithms").rglob("__pycache__/*/*") if path.is_dir()]
