"""`./run_tests.sh --mutants`: applies one mutant at a time and runs the tests that must notice it."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import click

from tests.mutants.catalogue import BrokenMutant, Mutant, chosen, load
from tests.mutants.scratch import Scratch, scratch

KILLED, SURVIVED, EQUIVALENT, SKIPPED, ERROR = "killed", "SURVIVED", "equivalent", "skipped", "ERROR"


@dataclass(frozen=True)
class Verdict:
    """What came of one mutant; `reason` says why it is no kill."""

    mutant: Mutant
    outcome: str
    seconds: float
    reason: str = ""

    def __str__(self) -> str:
        """A row of the table."""
        why = f": {self.reason}" if self.reason else ""
        return f"{self.outcome:10}  {self.seconds:6.1f} s  {self.mutant.name}{why}"


def judge(copy: Scratch, mutant: Mutant) -> Verdict:
    """Applies a mutant and runs its tests: each of them must fail, or pass for an equivalent one."""
    begin = time.monotonic()

    def verdict(outcome: str, reason: str = "") -> Verdict:
        return Verdict(mutant, outcome, time.monotonic() - begin, reason)

    try:
        with copy.changed_by(mutant):
            run = copy.run(mutant.tests)
    except (BrokenMutant, FileNotFoundError) as error:
        return verdict(ERROR, str(error))
    if not run.ran:
        return verdict(ERROR, f"its tests cannot be run\n{run.output}")
    unnoticed = [test for test in mutant.tests if not run.noticed(test)]
    if mutant.equivalent is not None:
        return verdict(ERROR, "a test notices it") if run.failed else verdict(EQUIVALENT, mutant.equivalent)
    return verdict(SURVIVED, f"not noticed by {', '.join(unnoticed)}") if unnoticed else verdict(KILLED)


def judge_all(mutants: Sequence[Mutant]) -> Iterator[Verdict]:
    """One after the other in one copy, after its tests have passed on the unchanged code. Raises `BrokenMutant`."""
    with scratch() as copy:
        for mutant in mutants:
            mutant.applied_to((copy.folder / mutant.file).read_text(encoding="utf-8"))
        unchanged = copy.run(sorted({test for mutant in mutants for test in mutant.tests}), seconds=3600)
        if unchanged.code != 0:
            raise BrokenMutant(f"tests fail on the unchanged code\n{unchanged.output}")
        for mutant in mutants:
            yield judge(copy, mutant)


def shares(mutants: Sequence[Mutant], workers: int) -> list[list[Mutant]]:
    """The mutants of each worker; those of one file stay together, for their tests and kernels are the same."""
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    parts: list[list[Mutant]] = [[] for _ in range(workers)]
    for group in sorted(by_file.values(), key=len, reverse=True):
        min(parts, key=len).extend(group)
    return [part for part in parts if part]


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--sample", type=click.IntRange(min=1), help="Only so many, drawn at random.")
@click.option("--seed", default="0", show_default=True, help="Any text; what is drawn depends on it alone.")
@click.option("--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True)
@click.option("--list", "only_list", is_flag=True, help="Names only.")
def main(names: tuple[str, ...], sample: int | None, seed: str, workers: int, only_list: bool) -> None:
    """Apply curated mutants, each in turn, and run the tests that must notice them.

    NAME is a mutant or a part of the project; without one, all are judged. Exits with status 1 if one survives.
    """
    try:
        mutants = chosen(load(), names)
        if sample is not None:
            mutants = tuple(random.Random(seed).sample(mutants, min(sample, len(mutants))))
        if only_list:
            click.echo("\n".join(f"{mutant.name}: {mutant.changes}" for mutant in mutants))
            return
        verdicts = run(mutants, workers)
    except BrokenMutant as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    click.echo(_summary(verdicts))
    sys.exit(any(verdict.outcome in (SURVIVED, ERROR) for verdict in verdicts))


def run(mutants: Sequence[Mutant], workers: int) -> list[Verdict]:
    """Judges mutants, but for those whose tests cannot run here."""
    done = [Verdict(mutant, SKIPPED, 0.0, reason) for mutant in mutants if (reason := mutant.missing()) is not None]
    for verdict in done:
        click.echo(str(verdict))
    possible = [mutant for mutant in mutants if mutant.missing() is None]

    def work(share: list[Mutant]) -> None:
        for verdict in judge_all(share):
            done.append(verdict)
            click.echo(str(verdict))

    with ThreadPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(work, share) for share in shares(possible, workers)]):
            future.result()
    return done


def _summary(verdicts: Sequence[Verdict]) -> str:
    parts = sorted({verdict.mutant.name.partition("/")[0] for verdict in verdicts})
    outcomes = (KILLED, SURVIVED, EQUIVALENT, SKIPPED, ERROR)
    rows = [("part", "mutants", *(outcome.lower() for outcome in outcomes))]
    for part in (*parts, "all"):
        own = [verdict for verdict in verdicts if part in ("all", verdict.mutant.name.partition("/")[0])]
        counts = Counter(verdict.outcome for verdict in own)
        rows.append((part, str(len(own)), *(str(counts[outcome]) for outcome in outcomes)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in
                       enumerate(zip(row, widths, strict=True))) for row in rows]  # fmt: skip
    return "\n" + "\n".join(lines)


if __name__ == "__main__":
    main(prog_name=f"{Path('run_tests.sh')} --mutants")
