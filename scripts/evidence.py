"""Writes the parts of the documentation that show a measured run: `python scripts/evidence.py PACK`.

From the pack alone come `docs/evidence.md` (the verdict of each claim), `docs/artifact.md` (the costs of each figure),
two pictures, and the table of the README between two marks. `--check` writes nothing, and fails if a text differs.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill

from cepbench.events.errors import CepbenchError
from cepbench.experiments.load import belonging
from cepbench.metrics.figure import ClaimResult, Verdict
from cepbench.metrics.files import write
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results, load_results
from cepbench.plots.claims import (
    GROWTH,
    by_paper,
    by_system,
    cause_of,
    counterfactual,
    in_units,
    names_of,
    noise_and_draws,
)
from cepbench.plots.conclusions import LINES, class_of, conclusions, outcomes, rank
from cepbench.plots.draw import all_styles, draw, render, write_drawings
from cepbench.plots.effects import draw_effects
from cepbench.plots.notation import words
from cepbench.plots.rules import RULES
from cepbench.plots.units import human

ROOT = Path(__file__).resolve().parents[1]
README, EVIDENCE, ARTIFACT = "README.md", "docs/evidence.md", "docs/artifact.md"
IMAGES, GALLERY = "docs/images", "docs/pictures"
PICTURE = "greta-13.1"  # the figure that the README shows
BEGIN, END = "<!-- evidence: made by scripts/evidence.py -->", "<!-- end of evidence -->"

EVIDENCE_TEXT = """# What holds

Made by `python scripts/evidence.py {name}`; all numbers are those of the pack `{name}`: {cells} cells of {figures}
figures, measured on {machines}, commit {commits}.

Our number is that at the size where a claim is judged, with its interval in parentheses; counts and bytes are exact.
[Verdicts](measurement.md#verdicts) has the rules, and [Metrics](measurement.md#metrics) the names of the numbers. The
cause of what does not hold is the *paper* (it contradicts itself), *text silent* (it does not state what decides), the
*size* (this machine cannot measure a larger one), or *ours*; *arithmetic* is a cause that a formula demonstrates on the
realised workload. We accept a cause only by a counterfactual: a second number of the run, or a formula on it, which
reaches the paper's number, or shows that it cannot be reached so. Otherwise the claim is *unexplained*; *presumed* is a
cause that we name without such a number. A claim is *opposite* if the effect has the other direction, or if there is an
effect where the paper has none.

A cell is one system at one point of a figure. A claim on several draws is on as many random workloads or limits, and
the sign test has the probability that as many draws hold if each is as likely to hold as not. A verdict is at an edge
if the ends of the interval and the median have different verdicts, so that another run may give another one.

A claim of x times holds from half of x, but at least its square root, to twice x; one of orders of magnitude within
half an order; one of no difference from half to twice; an exponent within 0.3.
The report with all drawings: `cepbench report {path}`.

{growth}

![Claimed against measured effects](images/effects.svg)

{summary}
{tables}
{rules}"""

ARTIFACT_TEXT = """# The artifact

Made by `python scripts/evidence.py {name}`: what is needed to repeat the evidence, how long it takes, and which
verdicts to expect.

| | |
|---|---|
| license | [Apache 2.0](https://www.apache.org/licenses/LICENSE-2.0); engines that others wrote have their own and \
are [installed apart](engines.md) |
| citation | `CITATION.cff`; the papers of the algorithms: `cepbench algorithms --bibtex` |
| machine | Linux with two cores and {limit} for a worker, Python 3.11 or newer, Java 17 or 21; measured on \
{machines} |
| code | commit {commits} |
| data | streams are generated from the seeds in the experiment files, so that their bytes are the same everywhere; \
only the flights are downloaded, once, and verified by their checksum (`cepbench datasets get flights`) |
| results | `{path}`, {cells} cells of {figures} figures with all numbers, experiment files and environments |
| time | smoke test 4 minutes, tour 35 minutes, all figures of the table {hours} hours |

## Repeat it

```sh
./run_tests.sh                               # all systems return the right answers
./run_all.sh --profile smoke                 # every experiment at its smallest
cepbench run {first} --profile {profile}     # or other figures of the table, or all of them
cepbench pack mine.tar.xz
cepbench review mine.tar.xz --against {path}
python scripts/recount.py {path}   # counts numbers of claims again, with nothing of cepbench
```

`review` says where verdicts, statuses and answers differ from the pack. Times depend on the machine: `cepbench compare`
has their ratios. Answers do not, and neither do counts of work and sizes of states.

## Verdicts to expect

{papers}
[What holds](evidence.md) has them claim by claim.

## Figures

*Minutes* are the wall time of all cells. *Memory* is the most that a worker took beyond an empty one, of the limit of
each worker. *Cells* are counted by status. *Verdicts* are those to expect; of the claims in brackets the interval
has ends with different verdicts, so that another run may give another one.

{table}

In all: {minutes} minutes, {cells} cells, {verdicts}.
"""


loaded = cache(load_results)
"""Read once, which takes seconds."""


def texts(pack: Path) -> dict[str, str]:
    """The texts of the documentation that come from the pack, by their files below the project."""
    everything = by_paper(loaded(pack))
    origins = [record.provenance for results in everything for record in results.records]
    machines = dict.fromkeys(
        f"{o.get('cpu')}, {o.get('cores')} cores, {_bytes(o.get('memory_bytes'))}" for o in origins
    )
    sections = {
        "name": pack.name,
        "path": f"docs/{pack.name}",
        "machines": "; ".join(machines),
        "commits": _commits(record for results in everything for record in results.records),
        "cells": sum(len(results.records) for results in everything),
        "figures": len(everything),
    }
    summary = _summary(everything)
    readme = (ROOT / README).read_text(encoding="utf-8")
    before, _, rest = readme.partition(BEGIN)
    return {
        README: f"{before}{BEGIN}\n\n{summary}\n{END}{rest.partition(END)[2]}",
        EVIDENCE: EVIDENCE_TEXT.format(
            **sections,
            growth=fill(GROWTH, 119),
            summary=summary,
            tables="\n".join(_claims(everything)),
            rules=_rules(),
        ),
        ARTIFACT: ARTIFACT_TEXT.format(**sections, **_artifact(everything)) + _missing(everything),
    }


def pictures(pack: Path) -> dict[str, bytes]:
    """The pictures of the documentation, by their files below the project."""
    everything = loaded(pack)
    drawing = draw_effects(everything)
    images = {} if drawing is None else {f"{IMAGES}/effects.svg": render(drawing, "svg")}
    for results in everything:
        if results.figure.experiment == PICTURE:
            shown = draw(results.figure, results.records, all_styles([results]))
            images[f"{IMAGES}/{PICTURE}.svg"] = render(shown, "svg")
    return images


def finding(results: Results) -> str:
    """The finding of a figure in a line: how many of its claims hold, and the first of them with its number."""
    claims = sorted(in_units(results.figure), key=rank)
    if not claims:
        return f"{len(results.records)} cells of {len(results.figure.algorithms)} algorithms."
    held = sum(claim.verdict in (Verdict.HOLDS, Verdict.STRONGER) for claim in claims)
    number, _ = words(claims[0])
    ours = f"{number} at {claims[0].size}, " if claims[0].measured is not None else ""
    count = f"{held} of {len(claims)} claim{'s' if len(claims) > 1 else ''} hold{'s' if held == 1 else ''}."
    return f"{count} {claims[0].text} Ours: {ours}{claims[0].verdict}."


def _summary(everything: Sequence[Results]) -> str:
    """How many claims hold; and three lines per paper: what holds, what does not and why, and what is undecided."""
    published = [results for results in everything if results.figure.published and results.figure.claims]
    claims = [claim for results in published for claim in results.figure.claims]
    failed = [claim for claim in claims if claim.verdict in (Verdict.WEAKER, Verdict.OPPOSITE)]
    count = Counter(claim.verdict for claim in claims)
    total = (
        f"Of {count.total()} claims on {len(by_system(published))} systems {count[Verdict.HOLDS]} hold, "
        f"{count[Verdict.STRONGER]} are beyond the paper's number, {len(failed)} do not hold, and "
        f"{count[Verdict.OPEN]} are undecided."
    )
    if failed:
        total += f" Of the {len(failed)}, {outcomes(failed)}."
    parts = [fill(total, 119) + "\n"]
    for name, figures in by_system(everything).items():
        claims = [claim for results in figures for claim in in_units(results.figure)]
        if claims and figures[0].figure.published:
            texts = zip(LINES, conclusions(claims), strict=True)
            lines = [fill(f"- *{head}* {text}", 119, subsequent_indent="  ") for (head, _), text in texts]
            head = fill(f"**{name}** {names_of(figures)}".rstrip(), 119)
            parts.append("\n".join([f"{head}\n", *lines, ""]))
    return "\n".join(parts)


def _rules() -> str:
    """The rules that changed after numbers of a first run had been seen, with their reasons."""
    rules = [fill(f"- {rule.text} {rule.reason}", 119, subsequent_indent="  ") for rule in RULES]
    return "\n".join(["## Rules that changed after numbers of a first run had been seen\n", *rules, ""])


def _claims(everything: Sequence[Results]) -> Iterator[str]:
    """A heading and a table for each paper, by class."""
    for name, figures in by_system(everything).items():
        pairs = [(results, claim) for results in figures for claim in in_units(results.figure)]
        if pairs:
            yield f"## {name}\n"
            yield f"Measured {_origin(figures)}.\n"
            pairs.sort(key=lambda pair: rank(pair[1]))
            rows = [_claim(results, claim) for results, claim in pairs]
            yield _table(("Figure", "Claim", "Paper", "Ours", "Verdict", "Noise and draws", "Why"), rows)
            numbers = [_numbers(results, claim) for results, claim in pairs if claim.evidence]
            if numbers:
                several = "s" if len(numbers) > 1 else ""
                yield f'<details markdown="1"><summary>More numbers on {len(numbers)} claim{several}</summary>\n'
                yield _table(("Figure", "Claim", "Numbers"), numbers)
                yield "</details>\n"


def _origin(figures: Sequence[Results]) -> str:
    """`on 2026-11-29, on AMD EPYC, commit 0123456`: when, where and of which commit the cells of some figures are."""
    records = [record for results in figures for record in results.records]
    days = sorted({record.started[:10] for record in records if record.started})
    machines = dict.fromkeys(str(record.provenance.get("cpu")) for record in records)
    day = f"on {' to '.join(dict.fromkeys((days[0], days[-1])))}, " if days else ""
    return f"{day}on {', '.join(machines)}, commit {_commits(records)}"


def _commits(records: Iterable[Record]) -> str:
    return ", ".join(dict.fromkeys(str(record.provenance.get("commit"))[:7] for record in records))


def _claim(results: Results, claim: ClaimResult) -> tuple[str, ...]:
    shown, interval = words(claim)
    why = [claim.reason, ": ".join(filter(None, (cause_of(claim), claim.why.rstrip("."))))]
    if claim.counterfactual is not None:
        why.append(counterfactual(claim.counterfactual))
    return (
        _figure(results),
        f"{claim.text} ({claim.source})",
        claim.expected,
        f"{shown}{f' ({interval})' if interval else ''} at {claim.size}",
        f"**{claim.verdict}**" + (f", {class_of(claim)}" if class_of(claim) != claim.verdict else ""),
        "; ".join(noise_and_draws(claim)),
        "; ".join(filter(None, why)),
    )


def _numbers(results: Results, claim: ClaimResult) -> tuple[str, str, str]:
    """The evidence of a claim, beside its own number."""
    return _figure(results), claim.text, "; ".join(f"{shown.what}: {words(shown)[0]}" for shown in claim.evidence)


def _figure(results: Results) -> str:
    return f"{results.figure.id} ({results.figure.experiment})"


def _artifact(everything: Sequence[Results]) -> dict[str, str]:
    first = everything[0].figure
    return {
        "first": first.experiment,
        "profile": first.profile,
        "table": _table(
            ("figure", "profile", "minutes", "memory", "cells", "verdicts"), [_row(results) for results in everything]
        ).rstrip(),
        "papers": _table(("Paper", "figures", "minutes", "verdicts"), _papers(everything)),
        "minutes": _minutes(everything),
        "limit": _bytes(max((r.limit_bytes for shown in everything for r in shown.records), default=None)),
        "hours": f"{_seconds(everything) / 3600:.1f}",
        "verdicts": _verdicts(everything),
    }


def _papers(everything: Sequence[Results]) -> Iterator[tuple[str, ...]]:
    for name, figures in by_system(everything).items():
        if any(results.figure.claims for results in figures):
            yield name, str(len(figures)), _minutes(figures), _verdicts(figures)


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
        _counted(str(record.cell_status) for record in records),
        _verdicts([results]),
    )


def _missing(everything: Sequence[Results]) -> str:
    measured = {results.figure.experiment for results in everything}
    missing = [name for name in belonging("headline") if name not in measured]
    return f"\nNot in the pack: {', '.join(missing)}.\n" if missing else ""


def _verdicts(everything: Sequence[Results]) -> str:
    """`3 holds (1), 1 open`: in brackets those whose interval has ends with different verdicts."""
    claims = [claim for results in everything for claim in results.figure.claims]
    return _counted((str(c.verdict) for c in claims), Counter(str(c.verdict) for c in claims if c.edge))


def _counted(names: Iterable[str], marked: Counter[str] | None = None) -> str:
    """`3 ok, 1 timeout`, most frequent first."""
    counts = sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0]))
    marks = {name: f" ({count})" for name, count in (marked or {}).items()}
    return ", ".join(f"{count} {name}{marks.get(name, '')}" for name, count in counts) or "none"


def _minutes(everything: Sequence[Results]) -> str:
    return f"{_seconds(everything) / 60:.1f}"


def _seconds(everything: Sequence[Results]) -> float:
    return sum(record.seconds for results in everything for record in results.records)


def _bytes(number: float | None) -> str:
    return "memory not recorded" if number is None else human(float(number), "B")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Writes the files, or compares the texts with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--gallery", action="store_true", help=f"draw all figures for the site, into {GALLERY}")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a text differs")
    arguments = parser.parse_args()
    try:
        documents = texts(arguments.pack)
        if arguments.check:
            stale = [name for name, text in documents.items() if (ROOT / name).read_text(encoding="utf-8") != text]
            parser.exit(1 if stale else 0, "".join(f"{name} is not that of {arguments.pack}\n" for name in stale))
        contents = {name: text.encode() for name, text in documents.items()} | pictures(arguments.pack)
        for name, content in contents.items():
            print(write(ROOT / name, content))
        if arguments.gallery:
            everything = loaded(arguments.pack)
            look = all_styles(everything)
            for results in everything:
                print(*write_drawings(results, ROOT / GALLERY, look, formats=["svg"]).values())
            lines = {results.figure.experiment: finding(results) for results in everything}
            print(write(ROOT / GALLERY / "findings.json", json.dumps(lines, indent=1).encode()))
    except CepbenchError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
