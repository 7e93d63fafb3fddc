"""A copy of the project in which mutants live. It is kept between runs, and with it the compiled kernels."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutants import outcomes
from tests.mutants.catalogue import ROOT, Mutant

SECONDS = 900
"""For the tests of one mutant; a kernel that never ends cannot be interrupted from within."""

ENDED = {0: "passed", 1: "failed"}
"""What pytest's exit codes say about tests that ran; all others mean that they did not."""


@dataclass(frozen=True)
class TestRun:
    """What came of a run of tests: `failed` node ids, whether it was cut off at the limit, and what was printed."""

    __test__ = False

    failed: tuple[str, ...]
    timed_out: bool
    code: int
    output: str

    @property
    def ran(self) -> bool:
        """Whether the tests could be run at all."""
        return self.timed_out or self.code in ENDED

    def noticed(self, test: str) -> bool:
        """Whether a test failed, or one case of it."""
        return self.timed_out or any(name == test or name.startswith(f"{test}[") for name in self.failed)


class Scratch:
    """A copy of the project's files in a folder of its own, which nobody else uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def update(self) -> None:
        """Makes the copy equal to the project. Files that are equal already keep their times, and so their kernels."""
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

    @contextmanager
    def changed_by(self, mutant: Mutant) -> Iterator[None]:
        """With the mutant in place, and without it afterwards."""
        file = self.folder / mutant.file
        before, times = file.read_text(encoding="utf-8"), file.stat()
        file.write_text(mutant.applied_to(before), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self, tests: Sequence[str], seconds: float = SECONDS) -> TestRun:
        """Runs tests in the copy, and only with its code."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as failed:
            environment = {**os.environ, outcomes.FILE: failed.name, "PYTHONPATH": str(self.folder.parent)}
            command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.outcomes"]
            command += ["-p", "no:cacheprovider", "--no-header", "--tb=line", *tests]
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, text=True, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                output, _ = process.communicate(timeout=seconds)
                timed_out = False
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                output, _ = process.communicate()
                timed_out = True
            return TestRun(tuple(failed.read().splitlines()), timed_out, process.returncode, output)


@contextmanager
def scratch(folder: Path = ROOT / ".mutants") -> Iterator[Scratch]:
    """The first copy that no other process uses, brought up to date."""
    folder.mkdir(exist_ok=True)
    for number in range(64):
        with (folder / f"{number}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            copy = Scratch(folder / str(number) / "cepbench")  # the folder is the package, so it has to be called so
            copy.folder.mkdir(parents=True, exist_ok=True)
            copy.update()
            yield copy
            return
    raise RuntimeError(f"all copies in {folder} are in use")


def _project_files() -> list[str]:
    """Tracked files and those that are new, relative to the project; all but what git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def _files_below(folder: Path) -> list[str]:
    return [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]
