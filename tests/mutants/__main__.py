"""`./run_tests.sh --mutants`: makes one change at a time and runs the tests, one of which should fail."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import click

from tests.mutants import catalogue
from tests.mutants.drawing import AREAS, area_of, drawn, generated
from tests.mutants.judging import ALL, ERROR, KILLED, NEAREST, NOT_JUDGED, STAGES, SURVIVED, Judge, Verdict
from tests.mutants.mutant import BrokenMutant, Mutant, named
from tests.mutants.scratch import scratch

SEED = "32"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--sample", type=click.IntRange(min=1), help="Draw so many of those that the operators make.")
@click.option("--seed", default=SEED, show_default=True, help="Any text; the draw depends on it and on the code.")
@click.option("--from", "first", type=click.Choice(STAGES), default=NEAREST, show_default=True)
@click.option("--to", "last", type=click.Choice(STAGES), default=ALL, show_default=True, help="The last tests to run.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Judge for so long, then stop.")
@click.option("--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True)
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Add verdicts here; skip those in it.")
@click.option("--list", "only_list", is_flag=True, help="Names only.")
def main(
    names: tuple[str, ...], sample: int | None, seed: str, first: str, last: str,
    seconds: float | None, workers: int, record: Path | None, only_list: bool,
) -> None:  # fmt: skip
    """Apply each mutant in turn and run tests: the nearest ones, then the default tier, then all.

    Without --sample these are the curated mutants, with it as many generated ones. NAME is a mutant, a file or a
    folder. Exits with status 1 if a curated mutant survives; a generated one may be equivalent to the code as it is.
    """
    begin = time.monotonic()
    try:
        if sample is None:
            mutants = named([entry.mutant() for entry in catalogue.load()], names)
        else:
            made = generated()
            chosen = set(named([mutant for area in AREAS for mutant in made[area]], names))
            mutants = tuple(drawn({area: [m for m in made[area] if m in chosen] for area in AREAS}, sample, seed))
    except BrokenMutant as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    if only_list:
        click.echo("\n".join(mutant.name if sample else f"{mutant.name}: {mutant.changes}" for mutant in mutants))
        return
    deadline = math.inf if seconds is None else begin + seconds
    known = _recorded(record)
    verdicts = judged(
        [mutant for mutant in mutants if mutant.name not in known], workers, first, last, deadline, record
    )
    click.echo(_summary(verdicts))
    curated = sample is None
    sys.exit(any(one.outcome == ERROR or (curated and one.outcome == SURVIVED) for one in verdicts))


def judged(
    mutants: Sequence[Mutant], workers: int, first: str, last: str, deadline: float, record: Path | None
) -> list[Verdict]:
    """Returns the verdicts on all mutants; prints and records each as soon as it is known."""
    done: list[Verdict] = []
    pending = iter(mutants)

    def work() -> None:
        with scratch() as copy:
            judge = Judge(copy, first, last, deadline)
            for mutant in pending:
                done.append(judge.verdict(mutant))
                click.echo(str(done[-1]))
                _append(record, done[-1])

    with ThreadPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(work) for _ in range(min(workers, len(mutants)))]):
            future.result()
    return done


def _append(record: Path | None, verdict: Verdict) -> None:
    if record is not None and verdict.outcome != NOT_JUDGED:
        one = {"name": verdict.mutant.name, "outcome": verdict.outcome, "stage": verdict.stage, "test": verdict.test}
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**one, "seconds": round(verdict.seconds, 1)}) + "\n")


def _recorded(record: Path | None) -> set[str]:
    if record is None or not record.exists():
        return set()
    return {json.loads(line)["name"] for line in record.read_text(encoding="utf-8").splitlines()}


def _summary(verdicts: Sequence[Verdict]) -> str:
    """A table: for each area, how many mutants each stage killed, how many survived, and how many were not judged."""
    columns = [f"killed by {stage}" for stage in STAGES] + [SURVIVED, NOT_JUDGED, ERROR]
    rows = [("area", "mutants", *(column.lower() for column in columns))]
    areas = [area for area in (*AREAS, "other") if any(_area(one) == area for one in verdicts)]
    for area in (*areas, "all"):
        own = [one for one in verdicts if area in ("all", _area(one))]
        counts = Counter(f"killed by {one.stage}" if one.outcome == KILLED else one.outcome for one in own)
        rows.append((area, str(len(own)), *(str(counts[column]) for column in columns)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n" + "\n".join("  ".join(_cells(row, widths)) for row in rows)


def _cells(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    yield row[0].ljust(widths[0])
    for cell, width in zip(row[1:], widths[1:], strict=True):
        yield cell.rjust(width)


def _area(verdict: Verdict) -> str:
    return area_of(verdict.mutant.file) or "other"


if __name__ == "__main__":
    main(prog_name="./run_tests.sh --mutants")
