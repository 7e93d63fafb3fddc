"""Draws a sample of the generated mutants, which depends on a seed and on the code alone.

The draw is stratified: each area of the project has the same share, whatever the size of its code. Within an area
every place (an expression or statement, and an operator) is as likely as any other, and then every change there. The
first n of a larger draw are those of a smaller one, as long as the code is the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path, PurePath

from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.operators import mutants_of

AREAS = ("kernels", "semantics", "optimizers", "algorithms", "verdicts", "pipeline", "events")
PLANNING = {"optimiser", "optimizer", "planning", "partitioning"}
LEFT_OUT = {"compilation.py", "__init__.py"}
"""Compiler options and re-exported names."""
EXTRAS = {"flink"}
"""Folders whose tests are skipped if an optional extra is not installed."""


def area_of(file: str) -> str | None:
    """The area of a file of the project, or None if its mutants are not drawn. Depends on the names of folders only."""
    folders = PurePath(file).parts[:-1]
    if not file.endswith(".py") or PurePath(file).name in LEFT_OUT or not folders or EXTRAS & set(folders):
        return None
    match folders[0]:
        case "algorithms" if "kernels" in folders:
            return "kernels"
        case "algorithms" if PLANNING & set(folders):
            return "optimizers"
        case "algorithms" if "oracle" in folders:
            return "semantics"
        case "queries":
            return "semantics"
        case "experiments" if "verdicts" in folders:
            return "verdicts"
        case "events" | "metrics":
            return "events"
        case "algorithms" | "pipeline":
            return folders[0]
    return None


def generated(root: Path = ROOT) -> dict[str, list[Mutant]]:
    """All mutants of each area."""
    found: dict[str, list[Mutant]] = {area: [] for area in AREAS}
    for path in sorted(root.rglob("*.py")):
        file = str(path.relative_to(root))
        if (area := area_of(file)) is not None:
            found[area] += mutants_of(file, path.read_text(encoding="utf-8"))
    return found


def drawn(mutants: dict[str, list[Mutant]], size: int, seed: str) -> list[Mutant]:
    """A sample of `size` mutants, one from each area in turn."""
    orders = [_shuffled(mutants[area], random.Random(f"{seed}/{area}")) for area in mutants]
    turns = chain.from_iterable(zip_longest(*orders))
    return list(islice((mutant for mutant in turns if mutant is not None), size))


def _shuffled(mutants: list[Mutant], draw: random.Random) -> Iterator[Mutant]:
    """One mutant per place, in random order."""
    places = [list(group) for _, group in groupby(mutants, key=lambda one: (one.file, one.start, one.changes))]
    draw.shuffle(places)
    return (draw.choice(place) for place in places)
