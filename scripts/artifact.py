"""Writes what each figure takes and what to expect of it: `python scripts/artifact.py PACK -o FILE.md`.

All numbers are those of the pack; the experiment files say which figures it lacks.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from cepbench.events.errors import CepbenchError
from cepbench.experiments.load import experiments
from cepbench.metrics.files import write
from cepbench.metrics.results import Results, load_results
from cepbench.plots.units import human

HEADS = ("figure", "profile", "minutes", "memory", "cells", "verdicts")

TEXT = """# The artifact

Written by `scripts/artifact.py` from the pack `{name}`. It says what each figure takes and which verdicts to expect.

Measured on {machines}, commit {commits}.

```sh
cepbench run {first} --profile {profile}     # or other figures of the table, or all of them
cepbench pack mine.tar.xz
cepbench review mine.tar.xz --against {name}
```

`review` says where verdicts, statuses and answers differ from the pack. Times depend on the machine: `cepbench compare`
has their ratios.

*Minutes* are the wall time of all cells. *Memory* is the most that a worker took beyond an empty one, of the limit of
each worker. *Cells* are counted by status.

{table}

In all: {minutes} minutes, {cells} cells, {verdicts}.
"""


def artifact(pack: Path) -> str:
    """The page."""
    everything = load_results(pack)
    first = everything[0].figure
    origins = [record.provenance for results in everything for record in results.records]
    machines = dict.fromkeys(
        f"{o.get('cpu')}, {o.get('cores')} cores, {_bytes(o.get('memory_bytes'))}" for o in origins
    )
    text = TEXT.format(
        name=pack.name,
        machines="; ".join(machines),
        commits=", ".join(dict.fromkeys(str(origin.get("commit"))[:7] for origin in origins)),
        first=first.experiment,
        profile=first.profile,
        table="\n".join(f"| {' | '.join(row)} |" for row in (HEADS, ["---"] * len(HEADS), *map(_row, everything))),
        minutes=_minutes(everything),
        cells=sum(len(results.records) for results in everything),
        verdicts=_counted(str(claim.verdict) for results in everything for claim in results.figure.claims),
    )
    measured = {results.figure.experiment for results in everything}
    missing = [name for name in experiments() if name not in measured]
    return text + (f"\nNot in the pack: {', '.join(missing)}.\n" if missing else "")


def _row(results: Results) -> tuple[str, ...]:
    figure, records = results.figure, results.records
    peaks = [record.summary.process_peak for record in records if record.summary.process_peak is not None]
    limits = sorted({record.limit_bytes for record in records})
    memory = _bytes(max(peaks)) if peaks else "not measured"
    return (
        f"`{figure.experiment}`",
        figure.profile,
        _minutes([results]),
        f"{memory} of {', '.join(map(_bytes, limits))}" if limits else memory,
        _counted(str(record.status) for record in records),
        _counted(str(claim.verdict) for claim in figure.claims),
    )


def _minutes(everything: Sequence[Results]) -> str:
    return f"{sum(record.seconds for results in everything for record in results.records) / 60:.1f}"


def _bytes(number: float | None) -> str:
    return "memory not recorded" if number is None else human(float(number), "B")


def _counted(words: Iterable[str]) -> str:
    """`3 ok, 1 timeout`, most frequent first."""
    counts = sorted(Counter(words).items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{count} {word}" for word, count in counts) or "none"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    try:
        print(write(given.output, artifact(given.pack).encode()))
    except CepbenchError as error:
        parser.exit(2, f"{error}\n")
