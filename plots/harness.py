"""Notices of the report: the share of the harness in measured times, noise, and empty answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cepbench.metrics.notices import Notice, counted, noise, noisiest
from cepbench.metrics.record import Record
from cepbench.metrics.results import in_words
from cepbench.metrics.status import Status
from cepbench.plots.html import Html, join, tag

LARGE = 0.1
"""The share of the harness in a time from which on the report mentions it."""
LISTED = 5

LINE = "The thin dotted line is an operator that does nothing, on the same events: the harness, which is in every time."


def share(record: Record) -> float:
    """The service time of an operator that does nothing as a share of that of the cell; 0 if unknown."""
    idle, total = record.summary.idle_total, record.summary.service_total
    return idle / total if record.status is Status.OK and idle is not None and total else 0.0


def notices(records: Sequence[Record]) -> Html | None:
    """Warnings about overhead, noise and empty answers; None without any."""
    lines = []
    large = sorted((record for record in records if share(record) > LARGE), key=share, reverse=True)
    if large:
        named = [f"{_named(record)} ({share(record):.0%})" for record in large[:LISTED]]
        more = f" and {len(large) - LISTED} more" if len(large) > LISTED else ""
        lines.append(
            f"More than {LARGE:.0%} of the time is the harness, not the algorithm, in {len(large)} cells: "
            f"{', '.join(named)}{more}."
        )
    counts, most = counted(records), noisiest(records)
    if most is not None:
        lines.append(
            f"{counts[Notice.NOISY]} of {len(records)} cells are noisy because other work ran on the machine; "
            f"{_named(most)} most: {noise(most.load)}."
        )
    if Notice.EMPTY in counts:
        lines.append(f"{counts[Notice.EMPTY]} of {len(records)} cells have an empty answer: no window has a match.")
    lost = [record for record in records if record.lost]
    if lost:
        lines.append(
            f"In {len(lost)} of {len(records)} cells a worker was lost, and the cell was measured again; "
            f"{_named(lost[0])}: {lost[0].lost[-1]}."
        )
    slots = Counter(_slots(record) for record in records)
    del slots[None]
    if len(slots) > 1:
        counts_of = [f"{count} in {cells} cells" for count, cells in sorted(slots.items(), reverse=True)]
        lines.append(f"The number of slots (workers side by side) changed during the run: {', '.join(counts_of)}.")
    return tag("div", join([tag("p", line) for line in lines]), class_="warning") if lines else None


def _slots(record: Record) -> int | None:
    """The slots that Spark had for a cell; None if unknown, or if the experiment varies them."""
    found = record.provenance.get("spark", {}).get("defaultParallelism")
    return None if found is None or "slots" in record.configuration else int(found)


def _named(record: Record) -> str:
    return f"{record.algorithm} at {in_words(record.point)}" if record.point else record.algorithm
