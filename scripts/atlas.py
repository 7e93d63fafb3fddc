"""Writes the pages that answer the questions of the field: `python scripts/atlas.py PACK`.

From the pack, and from `docs/atlas/advice.csv` (`scripts/advice.py`), come `docs/atlas/`, a page per question, its
drawings, and beside them the page of sizes. `--check` writes nothing, and fails if a text differs.
"""

import argparse
import csv
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path

from cepbench.events.errors import CepbenchError
from cepbench.experiments.load import ATLAS
from cepbench.metrics.files import write
from cepbench.metrics.results import Results, load_results
from cepbench.plots.atlas import breakeven, disorder, ideas, limits, models, scaling, sizing
from cepbench.plots.atlas.answers import Answer

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"
PAGES, IMAGES, SIZING = f"{DOCS}/atlas", f"{DOCS}/images/atlas", f"{DOCS}/sizing.md"
INDEX = """# The questions of the field

Papers compare their system with an earlier one, on their own workload. These pages ask what no paper could, with all
systems on one machine, their cost models included. Made by `python scripts/atlas.py docs/{name}`, from {cells} cells of
{figures} experiments (`cepbench run --profile atlas`), {hours:.1f} hours on {machines}; all numbers are computed from
them, and `cepbench report docs/{name}` draws all of it.

{answers}"""


def measured(pack: Path) -> list[Results]:
    """The results of the profile `atlas`."""
    return [results for results in load_results(pack) if results.figure.profile == ATLAS]


def answers(everything: Sequence[Results]) -> list[Answer]:
    """The answers to all questions of which there are results, with the table of `scripts/advice.py`."""
    advice = ROOT / PAGES / "advice.csv"
    rows = csv.DictReader(advice.read_text(encoding="utf-8").splitlines()) if advice.is_file() else []
    regrets = [(float(row["fastest_seconds"]), float(row["regret"])) for row in rows]
    shown = [
        ideas.answer(everything),
        models.answer(everything),
        breakeven.answer(everything, regrets),
        scaling.answer(everything),
        limits.answer(everything),
        disorder.answer(everything),
        sizing.answer(everything),
    ]
    return [answer for answer in shown if answer is not None]


def texts(pack: Path, everything: Sequence[Results], shown: Sequence[Answer]) -> dict[str, str]:
    """The pages, by their files below the project."""
    files = {answer.name: SIZING if answer.name == "sizing" else f"{PAGES}/{answer.name}.md" for answer in shown}
    lines = [f"## [{answer.question}]({relpath(files[answer.name], PAGES)})\n\n{answer.short}\n" for answer in shown]
    records = [record for results in everything for record in results.records]
    machines = dict.fromkeys(f"{r.provenance.get('cpu')}, {r.provenance.get('cores')} cores" for r in records)
    index = INDEX.format(
        name=pack.name,
        cells=len(records),
        figures=len(everything),
        hours=sum(record.seconds for record in records) / 3600,
        machines=" and ".join(machines),
        answers="\n".join(lines),
    )
    pages = {files[answer.name]: answer.page(relpath(IMAGES, PAGES)) for answer in shown}
    return {f"{PAGES}/index.md": index, **pages}


def main() -> None:
    """Writes the files, or compares the texts with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a text differs")
    arguments = parser.parse_args()
    try:
        everything = measured(arguments.pack)
        shown = answers(everything)
        documents = texts(arguments.pack, everything, shown)
        if arguments.check:
            stale = [name for name, text in documents.items() if _written(name) != text]
            parser.exit(1 if stale else 0, "".join(f"{name} is not that of {arguments.pack}\n" for name in stale))
        for name, text in documents.items():
            print(write(ROOT / name, text.encode()))
        for answer in shown:
            for name, content in answer.pictures().items():
                print(write(ROOT / IMAGES / f"{name}.svg", content))
    except CepbenchError as error:
        parser.exit(2, f"{error}\n")


def _written(name: str) -> str:
    """The text of a file of the project; empty if there is none."""
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    main()
