"""What does disorder cost? Matches that are lost, latency that waiting adds, and matches that duplicates add.

The answers of all systems are equal at each point, and exact on the events that are left; the exact answer is that of
the longest wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.atlas.answers import Answer, Drawn, of_question, span, valid
from cepbench.plots.style import TEXT_WIDTH, label, paper, styles
from cepbench.plots.units import human, plain

PREFIX = "atlas-disorder"
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
MARKERS = {"sequences": "o", "matches": "s"}
MEASURED = (
    "The watermark follows the clock at the distance of its wait, and events that arrive later are lost. It stands in "
    "front of all systems, none of which sorts by itself. By this rule the latency of each row grows by the wait, and "
    "the state in front of a system by the events of that time, of {bytes} bytes each; both are computed. The state of "
    "systems is measured."
)
EVENT_BYTES = 48
"""Bytes of an event that waits: its time, its type and four attributes."""
NEARLY = 0.99
"""The share of matches from which on an answer is called nearly complete."""


@dataclass(frozen=True)
class Wait:
    """A kind of disorder under one kind of work, by the seconds of the wait.

    - `complete`: the share of the exact matches.
    - `states`: bytes of the state of each system.
    - `rate`: events per second.
    """

    work: str
    late: float
    delay: float
    complete: Mapping[float, float]
    states: Mapping[str, Mapping[float, int]]
    rate: float

    @property
    def enough(self) -> float | None:
        """The least wait with nearly all matches."""
        return next((slack for slack, share in sorted(self.complete.items()) if share >= NEARLY), None)

    def waiting(self, slack: float) -> float:
        """Bytes of the events of a wait."""
        return EVENT_BYTES * self.rate * slack

    @property
    def multiples(self) -> list[float]:
        """The events of the least wait with nearly all matches, as a multiple of the state of each system there."""
        if not self.enough:
            return []
        return [
            self.waiting(self.enough) / state[self.enough] for state in self.states.values() if self.enough in state
        ]


@dataclass(frozen=True)
class Duplicates:
    """The matches that duplicates add, as a share of those without duplicates, by the share of duplicates."""

    work: str
    late: float
    added: Mapping[float, float]


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    records = [record for results in of_question(everything, PREFIX) for record in valid(results)]
    shown = [record for results in of_question(everything, PREFIX) for record in results.records]
    wrong = sum(record.cell_status is Status.WRONG for record in shown)
    waits, duplicates = waits_of(records), duplicates_of(records)
    if not waits:
        return None
    worst = min(waits, key=lambda wait: wait.complete[min(wait.complete)])
    least = worst.complete[min(worst.complete)]
    needed = [wait.enough for wait in waits if wait.enough is not None]
    return Answer(
        "disorder",
        "What does disorder cost?",
        f"Without a wait the answers have as little as {_percent(least)} of the matches, if {_percent(worst.late)} of "
        f"the events are late{_however(waits, worst)}; {_percent(NEARLY)} need a wait of up to "
        f"{human(max(needed, default=0.0), 's')}, by which every row is delayed.{_added(duplicates)}",
        (_drawn(waits, duplicates),),
        ("Work", "Late", "Mean delay", "Kept without a wait", f"Wait for {_percent(NEARLY)}", "Events that wait then"),
        tuple(map(_row, waits)),
        f"{MEASURED.format(bytes=EVENT_BYTES)} {_agreement(records, wrong)}",
    )


def _however(waits: Sequence[Wait], worst: Wait) -> str:
    """Whether what is lost without a wait depends on the delay; empty if it does, or with a single delay."""
    alike = [wait for wait in waits if (wait.work, wait.late) == (worst.work, worst.late)]
    kept = {_percent(wait.complete[min(wait.complete)]) for wait in alike}
    return ", however late they are" if len(alike) > 1 and len(kept) == 1 else ""


def _added(duplicates: Sequence[Duplicates]) -> str:
    """The matches that duplicates add, by their share of the events, and beside late events; empty without any."""
    most: dict[float, float] = {}
    for shown in (shown for shown in duplicates if shown.late == 0):
        for share, added in shown.added.items():
            most[share] = max(added, most.get(share, 0.0))
    parts = [f"{_percent(added)} if they are {_percent(share)} of the events" for share, added in most.items() if share]
    beside = [(added, share) for shown in duplicates if shown.late > 0 for share, added in shown.added.items()]
    if beside:
        added, share = max(beside)
        parts.append(f"{_percent(added)} if they are {_percent(share)} and others are late")
    return f" Duplicates that are not left out add matches: {', '.join(parts)}." if parts else ""


def _agreement(records: Sequence[Record], wrong: int) -> str:
    """Whether all systems gave the same answer on the events that were left."""
    digests: dict[str, list[str | None]] = defaultdict(list)
    for record in records:
        digests[record.group].append(record.digest)
    several = [answers for answers in digests.values() if len(answers) > 1]
    same = sum(len(set(answers)) == 1 for answers in several)
    return (
        f"At {same} of {len(several)} points at which several systems ended, their answers are the same; "
        f"wrong answers: {wrong or 'none'}."
    )


def waits_of(records: Sequence[Record]) -> list[Wait]:
    """The share of matches that each wait keeps, and the states of the systems."""
    kinds: dict[tuple[str, float, float], list[Record]] = defaultdict(list)
    for record in records:
        point = record.point
        if point["duplicates"] == 0 and point["late"] > 0:
            kinds[point["work"], point["late"], point["delay"]].append(record)
    longest = max((float(record.point["slack"]) for of_kind in kinds.values() for record in of_kind), default=0.0)
    waits = []
    for kind, of_kind in kinds.items():
        matches = {float(record.point["slack"]): _matches(record) for record in of_kind}
        exact = matches.get(longest, 0.0)
        states: dict[str, dict[float, int]] = defaultdict(dict)
        for record in of_kind:
            if record.summary.state_peak:
                states[record.algorithm][float(record.point["slack"])] = record.summary.state_peak
        if exact > 0:
            complete = {slack: number / exact for slack, number in sorted(matches.items())}
            waits.append(Wait(*kind, complete, states, _rate(of_kind[0])))
    return waits


def duplicates_of(records: Sequence[Record]) -> list[Duplicates]:
    """The share of matches that duplicates add, without late events and beside each kind of them."""
    matches: dict[tuple[str, float, float, float], dict[float, dict[bool, float]]]
    matches = defaultdict(lambda: defaultdict(dict))
    for record in records:
        point = record.point
        if point["late"] == 0 or point["duplicates"] > 0:
            kind = point["work"], point["late"], point["delay"], point["slack"]
            matches[kind][float(point["duplicates"])][bool(point["deduplicated"])] = _matches(record)
    return [
        Duplicates(
            work,
            late,
            {
                share: both[False] / both[True] - 1
                for share, both in sorted(shares.items())
                if both.get(True) and False in both
            },
        )
        for (work, late, *_), shares in matches.items()
    ]


def _matches(record: Record) -> float:
    realised = record.realised
    assert realised is not None
    return (realised.matches_per_window or 0.0) * max(1, realised.windows)


def _rate(record: Record) -> float:
    """Events per second of the stream."""
    return record.realised.rate or 0.0 if record.realised is not None else 0.0


def _percent(share: float) -> str:
    return f"{plain(100 * share, 3)} %"


def _row(wait: Wait) -> tuple[str, ...]:
    enough = wait.enough
    return (
        wait.work,
        _percent(wait.late),
        human(wait.delay, "s"),
        _percent(wait.complete[min(wait.complete)]),
        "–" if enough is None else human(enough, "s") if enough else "none",
        "–" if enough is None else human(wait.rate * enough),
    )


def _drawn(waits: Sequence[Wait], duplicates: Sequence[Duplicates]) -> Drawn:
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 2.2), layout="constrained")
        left, middle, right = drawing.subplots(1, 3, width_ratios=(4, 3, 2))
        kinds = list(dict.fromkeys((wait.late, wait.delay) for wait in waits))
        for wait in waits:
            slacks = [slack for slack in wait.complete if slack < max(wait.complete)]
            color = COLORS[kinds.index((wait.late, wait.delay)) % len(COLORS)]
            name = f"{_percent(wait.late)} late by {human(wait.delay, 's')}" if wait.work == waits[0].work else None
            shares = [100 * wait.complete[slack] for slack in slacks]
            left.plot(
                slacks, shares, MARKERS.get(wait.work, "o") + "-", color=color, markersize=3, linewidth=0.8, label=name
            )
        left.set(xlabel="Wait of the watermark, which delays every row (s)", ylabel="Matches kept (%)")
        _waits(left, slacks)
        left.legend(frameon=False, fontsize=6, loc="lower right")
        _states(middle, [wait for wait in waits if (wait.late, wait.delay) == kinds[-1]])
        works = dict.fromkeys(shown.work for shown in duplicates)
        beside = [shown for shown in duplicates if shown.late > 0]  # single points, of which the first has the label
        for shown in duplicates:
            shares, added = [100 * share for share in shown.added], [100 * share for share in shown.added.values()]
            color = COLORS[list(works).index(shown.work)]
            look = MARKERS.get(shown.work, "o")
            if shown in beside:
                name = "beside late events" if shown is beside[0] else None
                right.plot(shares, added, look, color=color, markerfacecolor="white", label=name)
            else:
                right.plot(shares, added, f"{look}-", color=color, label=shown.work)
        right.set(xlabel="Duplicates (%)", ylabel="Matches added (%)")
        right.legend(frameon=False, fontsize=6)
    multiples = [wait.enough / wait.delay for wait in waits if wait.enough is not None]
    needed = span(multiples or [0.0])
    sentence = f"{_percent(NEARLY)} of the matches need a wait of {needed} times the mean delay, of the waits tried"
    ratios = [multiple for wait in waits for multiple in wait.multiples]
    sentence += f"; the events that wait then are {span(ratios)} times the state of a system." if ratios else "."
    return Drawn(
        "disorder",
        drawing,
        sentence,
        "Matches kept and state over the wait, and matches added by duplicates, alone and beside late events.",
    )


def _states(axes: Axes, waits: Sequence[Wait]) -> None:
    """The state of each system, and the events that wait, over the wait; of several kinds of work the larger state."""
    slacks = [slack for slack in waits[0].complete if slack < max(waits[0].complete)]
    systems = list(dict.fromkeys(name for wait in waits for name in wait.states))
    for name in systems:
        look = styles([name])[name]
        of_works = [wait.states[name] for wait in waits if name in wait.states]
        largest = [max((state[slack] for state in of_works if slack in state), default=nan) for slack in slacks]
        axes.plot(slacks, largest, look.marker + "-", color=look.color, markersize=3, linewidth=0.8, label=label(name))
    positive = [slack for slack in slacks if slack > 0]
    axes.plot(positive, [waits[0].waiting(slack) for slack in positive], "k--", linewidth=0.8, label="events that wait")
    axes.set_title(f"{_percent(waits[0].late)} late by {human(waits[0].delay, 's')}")
    axes.set(yscale="log", xlabel="Wait (s)", ylabel="State (B)")
    axes.yaxis.set_major_formatter(lambda number, _: human(number))
    _waits(axes, slacks)
    axes.legend(frameon=False, fontsize=6, loc="center left", bbox_to_anchor=(0, 0.35))


def _waits(axes: Axes, slacks: Sequence[float]) -> None:
    """An x axis of waits, logarithmic from the least one but zero on."""
    axes.set_xscale("symlog", linthresh=min((slack for slack in slacks if slack), default=1.0))
    axes.set_xlim(left=0)
    axes.set_xticks(slacks, [f"{slack:g}" for slack in slacks])
    axes.minorticks_off()
