"""The tables under a figure of the report: claims, agreement, cells, provenance."""

from collections.abc import Sequence

from cepbench.metrics.details import DETAILS
from cepbench.metrics.figure import ClaimResult, Departure, Figure, Verdict
from cepbench.metrics.record import Record, Status
from cepbench.metrics.values import unit, value
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
VERDICT_KIND = {
    Verdict.REPRODUCED: "good",
    Verdict.STRONGER: "good",
    Verdict.WEAKER: "mid",
    Verdict.CONTRADICTED: "bad",
    Verdict.NOT_COMPARABLE: "",
}
AGREEMENT_KIND = {Agreement.AGREE: "good", Agreement.DISAGREE: "bad", Agreement.ALONE: "", Agreement.NONE: ""}

# (metric, head, unit); a column without any number is left out
_MEASURED = (
    ("latency_p50", "p50", "s"),
    ("latency_p95", "p95", "s"),
    ("latency_p99", "p99", "s"),
    ("latency_p99_at_80", "p99 at 80% load", "s"),
    ("latency_max", "max", "s"),
    ("latency_mean", "mean", "s"),
    ("service_total", "service", "s"),
    ("service_low", "service from", "s"),
    ("service_high", "service to", "s"),
    ("runs", "runs", ""),
    ("idle_total", "empty executor", "s"),
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


def verdict_badge(verdict: Verdict) -> Html:
    """The verdict on a claim."""
    return badge(verdict, VERDICT_KIND[verdict])


def claims(results: Sequence[ClaimResult]) -> Html:
    """Claims of the paper with what was measured and the verdict, in the order of the verdicts."""
    rank = {verdict: place for place, verdict in enumerate(Verdict)}
    rows = [
        (
            Cell(join([claim.text, " ", tag("span", f"({claim.source})", class_="meta")]), kind="text"),
            Cell(verdict_badge(claim.verdict), float(rank[claim.verdict])),
            Cell(claim.expected, kind="text"),
            Cell(_measured(claim), claim.measured, "number"),
            Cell(join(_why(claim)), kind="text"),
        )
        for claim in sorted(results, key=lambda claim: rank[claim.verdict])
    ]
    return table(
        "Claims of the paper against these measurements",
        ("Claim", "Verdict", "Expected", "Measured", "Reason and computation"),
        rows,
        sortable=True,
    )


def verdicts(results: Sequence[ClaimResult]) -> Html:
    """How many claims have each verdict."""
    counts = [(verdict, sum(claim.verdict is verdict for claim in results)) for verdict in Verdict]
    return counted([(verdict_badge(verdict), count) for verdict, count in counts])


def counted(entries: Sequence[tuple[Html, int]]) -> Html:
    """Badges with their counts, those that occur; a dash if none does."""
    shown = [[tag("span", text, f" {count}", class_="count"), " "] for text, count in entries if count]
    return join(shown or ["–"])


def departures(found: Sequence[Departure]) -> Html:
    """Where the workload is not the paper's, with the reasons."""
    entries = [tag("li", f"{entry.what}: ", tag("span", entry.reason, class_="meta")) for entry in found]
    return tag("ul", entries, class_="departures")


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


def _measured(claim: ClaimResult) -> Html:
    """The number with its interval below; a sign where only one end of it is known."""
    if claim.measured is None:
        return join(["–"])
    shown = _with_unit(claim.measured, claim.unit)
    if claim.low == claim.measured and claim.high is None:
        return join([f"≥ {shown}"])
    if claim.high == claim.measured and claim.low is None:
        return join([f"≤ {shown}"])
    if claim.low == claim.high:
        return join([shown])
    low = "0" if claim.low is None else _with_unit(claim.low, claim.unit)
    high = "∞" if claim.high is None else _with_unit(claim.high, claim.unit)
    return join([shown, tag("div", f"{low} – {high}", class_="meta")])


def _with_unit(number: float, unit: str) -> str:
    return human(number, unit) if unit in ("s", "B", "events/s") else f"{plain(number, 3)} {unit}".strip()


def _why(claim: ClaimResult) -> list[Html]:
    """The cause first, as far as it is known; then what the verdict rests on."""
    parts = []
    if claim.cause:
        parts.append(tag("div", tag("strong", "Cause: "), claim.cause, " ", tag("em", f"Evidence: {claim.evidence}")))
    if claim.reason:
        parts.append(tag("div", claim.reason))
    if claim.computation:
        parts.append(tag("div", claim.computation, class_="meta"))
    return parts


def _number(record: Record, metric: str) -> float | None:
    """The metric unless the answer was wrong: then only what describes the input may be shown."""
    return None if record.status is Status.WRONG and not metric.startswith("realised.") else value(record, metric)


def _coordinate(coordinate: Content) -> Cell:
    if coordinate is None:
        return Cell("–")
    if isinstance(coordinate, int | float) and not isinstance(coordinate, bool):
        return Cell(category(coordinate), float(coordinate), "number")
    return Cell(category(coordinate), category(coordinate))
