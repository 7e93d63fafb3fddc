"""Compares the results of others with ours: claims with other verdicts, and cells with other statuses or answers.

Only figures that both have at the same profile are compared, since verdicts of two profiles are about different sizes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cepbench.metrics.figure import ClaimResult, Figure
from cepbench.metrics.results import Results, ResultsError, load_results
from cepbench.metrics.status import Status
from cepbench.plots.compare import cells_of, side_by_side

ABSENT = "absent"
WIDTH = 88  # of the text of a claim


@dataclass(frozen=True)
class ClaimDifference:
    """A claim with different verdicts, or one that is missing on one side (`ABSENT`)."""

    text: str
    ours: str
    theirs: str
    ours_measured: float | None
    theirs_measured: float | None


@dataclass(frozen=True)
class CellDifference:
    """A cell that differs, and the difference."""

    algorithm: str
    point: str  # JSON
    round: int
    what: str  # "another answer", "ok -> timeout", "absent -> ok", "another configuration: ..."


@dataclass(frozen=True)
class FigureReview:
    """A figure that both have."""

    experiment: str
    profile: str
    claims: int  # in both
    cells: int  # in both
    answers: int  # cells with equal configurations and an answer on both sides
    ours: dict[str, int]  # cells by status
    theirs: dict[str, int]
    claim_differences: tuple[ClaimDifference, ...]
    cell_differences: tuple[CellDifference, ...]

    @property
    def differs(self) -> bool:
        """Whether a claim or a cell differs."""
        return bool(self.claim_differences or self.cell_differences)


@dataclass(frozen=True)
class Review:
    """All figures that both have, and the names of those of one side only."""

    figures: tuple[FigureReview, ...]
    only_ours: tuple[str, ...]
    only_theirs: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether a common figure differs. Other figures do not count, since a review may run a part of the figures."""
        return any(figure.differs for figure in self.figures)

    def document(self) -> dict[str, Any]:
        """The review as JSON values."""
        return {"differs": self.differs, **asdict(self)}


def review(ours: str | Path, theirs: str | Path) -> Review:
    """Compares results with ours; folders or packs. Raises `ResultsError` if they have no figure in common."""
    left, right = ({results.figure.key: results for results in load_results(root)} for root in (ours, theirs))
    common = [key for key in left if key in right]
    if not common:
        raise ResultsError(f"{theirs}: no figure at a profile that {ours} has too; there are {_names(right)}")
    return Review(
        tuple(_figure(left[key], right[key]) for key in common),
        tuple(" ".join(key) for key in left if key not in right),
        tuple(" ".join(key) for key in right if key not in left),
    )


def describe(result: Review) -> str:
    """The review as text: a line per figure with its differences below, then the figures that were not judged."""
    heads = ("figure", "profile", "claims", "differ", "cells", "differ", "answers", "ours", "theirs")
    rows = [
        (
            figure.experiment,
            figure.profile,
            str(figure.claims),
            str(len(figure.claim_differences)),
            str(figure.cells),
            str(len(figure.cell_differences)),
            str(figure.answers),
            _counts(figure.ours),
            _counts(figure.theirs),
        )
        for figure in result.figures
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in (heads, *rows)]
    for figure in result.figures:
        lines += _differences(figure)
    for whose, names in (("ours", result.only_ours), ("theirs", result.only_theirs)):
        if names:
            lines.append(f"only in {whose}, not judged: {', '.join(names)}")
    lines.append("something differs" if result.differs else "nothing differs")
    return "\n".join(line.rstrip() for line in lines)


def _names(figures: Mapping[tuple[str, str], Results]) -> str:
    return ", ".join(" ".join(key) for key in figures) or "none"


def _figure(ours: Results, theirs: Results) -> FigureReview:
    cells = side_by_side(cells_of(ours.records), cells_of(theirs.records))
    common = cells["status_a"].notna() & cells["status_b"].notna()
    claims = _claims(ours.figure), _claims(theirs.figure)
    return FigureReview(
        *ours.figure.key,
        claims=len(claims[0].keys() & claims[1].keys()),
        cells=int(common.sum()),
        answers=int((cells["digest_changed"].notna() & cells["differs"].isna()).sum()),
        ours=_statuses(ours),
        theirs=_statuses(theirs),
        claim_differences=tuple(_claim_differences(*claims)),
        cell_differences=tuple(_cell_differences(cells)),
    )


def _claims(figure: Figure) -> dict[tuple[str, int], ClaimResult]:
    """Claims by their text and, for equal texts, their order."""
    texts = [claim.text for claim in figure.claims]
    return {(claim.text, texts[:place].count(claim.text)): claim for place, claim in enumerate(figure.claims)}


def _claim_differences(
    ours: Mapping[tuple[str, int], ClaimResult], theirs: Mapping[tuple[str, int], ClaimResult]
) -> Iterator[ClaimDifference]:
    for key in dict.fromkeys((*ours, *theirs)):
        a, b = ours.get(key), theirs.get(key)
        verdicts = [ABSENT if claim is None else str(claim.verdict) for claim in (a, b)]
        if verdicts[0] != verdicts[1]:
            measured = [None if claim is None else claim.measured for claim in (a, b)]
            yield ClaimDifference(key[0], verdicts[0], verdicts[1], measured[0], measured[1])


def _cell_differences(cells: pd.DataFrame) -> Iterator[CellDifference]:
    for row in cells.to_dict("records"):
        what = _what(row)
        if what is not None:
            yield CellDifference(row["algorithm"], row["point"], int(row["round"]), what)


def _what(row: Mapping[Any, Any]) -> str | None:
    if row["status_changed"]:
        return f"{row['status_a'] or ABSENT} -> {row['status_b'] or ABSENT}"
    if row["differs"] is not None:
        return f"another configuration: {row['differs']}"
    changed = row["digest_changed"]
    return "another answer" if not pd.isna(changed) and changed else None


def _statuses(results: Results) -> dict[str, int]:
    counts = {str(status): sum(record.cell_status is status for record in results.records) for status in Status}
    return {status: count for status, count in counts.items() if count}


def _counts(statuses: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in statuses.items()) or "no cells"


def _differences(figure: FigureReview) -> Iterator[str]:
    if figure.differs:
        yield f"{figure.experiment} {figure.profile}"
    for claim in figure.claim_differences:
        text = claim.text if len(claim.text) <= WIDTH else f"{claim.text[: WIDTH - 1]}…"
        a, b = _number(claim.ours_measured), _number(claim.theirs_measured)
        yield f"  claim {claim.ours}{a} -> {claim.theirs}{b}: {text}"
    for cell in figure.cell_differences:
        yield f"  {cell.what}: {cell.algorithm} {cell.point} round {cell.round}"


def _number(measured: float | None) -> str:
    return "" if measured is None else f" ({measured:.3g})"
