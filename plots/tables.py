"""The tables under a figure of the report: claims, agreement, cells, provenance."""

from collections.abc import Sequence

from cepbench.metrics.figure import ClaimResult, Figure, Verdict
from cepbench.metrics.record import Record, Status
from cepbench.metrics.values import DETAILS, unit, value
from cepbench.plots.agreement import Agreement, Group
from cepbench.plots.axes import category
from cepbench.plots.censored import LABELS
from cepbench.plots.html import Cell, Content, Html, join, table, tag
from cepbench.plots.provenance import differences
from cepbench.plots.style import label
from cepbench.plots.units import human, plain

DIGEST = 8  # characters shown of a digest

STATUS_KIND = {
    Status.OK: "good",
    Status.TIMEOUT: "mid",
    Status.OUT_OF_MEMORY: "mid",
    Status.UNSUPPORTED: "",
    Status.WRONG: "bad",
    Status.ERROR: "bad",
}
VERDICT_KIND = {Verdict.REPRODUCED: "good", Verdict.NOT_REPRODUCED: "bad", Verdict.NOT_COMPARABLE: "mid"}
AGREEMENT_KIND = {Agreement.AGREE: "good", Agreement.DISAGREE: "bad", Agreement.ALONE: "", Agreement.NONE: ""}

# (metric, head, unit); a column without any number is left out
_MEASURED = (
    ("latency_p50", "p50", "s"),
    ("latency_p95", "p95", "s"),
    ("latency_p99", "p99", "s"),
    ("latency_max", "max", "s"),
    ("latency_mean", "mean", "s"),
    ("service_total", "service", "s"),
    ("throughput", "throughput", "events/s"),
    ("sustainable_low", "sustainable from", "events/s"),
    ("sustainable_high", "sustainable to", "events/s"),
    ("state_peak", "state peak", "B"),
    ("process_peak", "process peak", "B"),
    ("plan_seconds", "plan", "s"),
    ("compile_seconds", "compile", "s"),
    ("realised.events", "events", ""),
    ("realised.windows", "windows", ""),
    ("realised.rows", "rows", ""),
    ("realised.substreams", "sub-streams", ""),
    ("realised.matches_per_window", "matches per window", ""),
    ("realised.selectivity", "selectivity", ""),
)


def badge(text: str, kind: str) -> Html:
    """A coloured word; the colour repeats what the word says."""
    return tag("span", text, class_=f"badge {kind}".strip())


def status_badge(status: Status) -> Html:
    """The status of a cell."""
    return badge(LABELS.get(status, "ok"), STATUS_KIND[status])


def claims(results: Sequence[ClaimResult]) -> Html:
    """Claims of the paper with what was measured and the verdict."""
    rows: list[list[Content]] = []
    for claim in results:
        reasons = [text for text in (claim.reason, claim.computation) if text]
        rows.append(
            [
                Cell(join([claim.text, " ", tag("span", f"({claim.source})", class_="meta")]), kind="text"),
                Cell(claim.expected, kind="text"),
                Cell(_measured(claim), kind="number"),
                badge(claim.verdict, VERDICT_KIND[claim.verdict]),
                Cell(join([tag("div", text) for text in reasons]), kind="text"),
            ]
        )
    return table(
        "Claims of the paper against these measurements",
        ("Claim", "Expected", "Measured", "Verdict", "Reason and computation"),
        rows,
    )


def agreement(figure: Figure, groups: Sequence[Group]) -> Html:
    """Digests of all algorithms per input; rows that disagree are red."""
    names = list(dict.fromkeys((*figure.algorithms, *(name for group in groups for name in group.digests))))
    axes = list(dict.fromkeys(name for group in groups for name in group.point))
    rows: list[list[Content]] = []
    for group in groups:
        row: list[Content] = [_coordinate(group.point.get(axis)) for axis in axes]
        for name in names:
            digests = group.digests.get(name, ())
            failed = [status for status in group.statuses.get(name, ()) if status is not Status.OK]
            shown = [tag("code", digest[:DIGEST], title=digest) for digest in digests]
            parts = [part for item in (*shown, *map(status_badge, failed)) for part in (item, " ")]
            differs = group.agreement is Agreement.DISAGREE and bool(digests or Status.WRONG in failed)
            row.append(Cell(join(parts) if parts else "–", kind="differs" if differs else "same"))
        overflow = [" ", badge("overflow", "mid")] if group.overflow else []
        rows.append(
            [
                *row,
                Cell(
                    join([badge(group.agreement, AGREEMENT_KIND[group.agreement]), *overflow]),
                    sort=str(group.agreement),
                ),
            ]
        )
    return table(
        "Digest of each algorithm's answer on the same input",
        (*axes, *map(label, names), "Answers"),
        rows,
        sortable=True,
    )


def cells(records: Sequence[Record]) -> Html:
    """Every cell with its status, reason and numbers; a wrong answer has no time to show."""
    axes = list(dict.fromkeys(name for record in records for name in record.point))
    told = sorted({name for record in records for name in record.summary.details})
    details = [(DETAILS + name, name.replace("_", " "), unit(DETAILS + name)) for name in told]
    shown = (*_MEASURED, *details)
    used = [column for column in shown if any(_number(record, column[0]) is not None for record in records)]
    rows: list[list[Content]] = []
    for record in records:
        row: list[Content] = [
            label(record.algorithm),
            *(_coordinate(record.point.get(axis)) for axis in axes),
            record.measurement,
            Cell(record.repetition, float(record.repetition), "number"),
            Cell(status_badge(record.status), str(record.status)),
            Cell(record.reason, kind="text"),
        ]
        for metric, _, of in used:
            number = _number(record, metric)
            row.append(Cell(human(number, of), number, "number"))
        digest = tag("code", record.digest[:DIGEST], title=record.digest) if record.digest else "–"
        rows.append(
            [
                *row,
                Cell(digest, record.digest or ""),
                "yes" if record.overflow else "no",
                Cell(human(record.seconds, "s"), float(record.seconds), "number"),
            ]
        )
    heads = (
        "Algorithm",
        *axes,
        "measurement",
        "repetition",
        "status",
        "reason",
        *(head for _, head, _ in used),
        "digest",
        "overflow",
        "wall time",
    )
    return table(f"{len(records)} cells", heads, rows, sortable=True)


def provenance(records: Sequence[Record]) -> Html | None:
    """A warning with the keys in which records differ, or None."""
    found = differences(records)
    if not found:
        return None
    rows = [
        [key, Cell(join([tag("div", tag("code", text), f" in {count} cells") for text, count in values.items()]))]
        for key, values in found.items()
    ]
    return tag(
        "div",
        tag("strong", "Not all cells come from the same environment."),
        table("Where records differ", ("Key", "Values"), rows),
        class_="warning",
    )


def pairs(entries: dict[str, str]) -> Html:
    """Keys and values as a definition list."""
    return tag("dl", [[tag("dt", key), tag("dd", text)] for key, text in entries.items()])


def _measured(claim: ClaimResult) -> str:
    if claim.measured is None:
        return "–"
    if claim.unit in ("s", "B"):
        return human(claim.measured, claim.unit)
    return f"{plain(claim.measured)} {claim.unit}".strip()


def _number(record: Record, metric: str) -> float | None:
    """The metric unless the answer was wrong: then only what describes the input may be shown."""
    return None if record.status is Status.WRONG and not metric.startswith("realised.") else value(record, metric)


def _coordinate(coordinate: Content) -> Cell:
    if coordinate is None:
        return Cell("–")
    if isinstance(coordinate, int | float) and not isinstance(coordinate, bool):
        return Cell(category(coordinate), float(coordinate), "number")
    return Cell(category(coordinate), category(coordinate))
