"""How does it scale? Measured on the slots of the machine, and simulated beyond them from the times of workers.

The simulation gives each worker, the longest first, to the slot that is free first. Slots that share a processor slow
one another: their workers take `contention` times as long as those on a single slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from statistics import geometric_mean, median

from matplotlib.figure import Figure as Drawing

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.plots.atlas.answers import Answer, Drawn, of_question, span, valid
from cepbench.plots.style import TEXT_WIDTH, label, paper, styles
from cepbench.plots.units import human, plain

PREFIX = "atlas-scaling-"
SIMULATED = (1, 2, 4, 8, 16)
"""Slots of the simulation."""
WANTED = 0.15
"""Simulation and measurement should differ by at most this share."""


MEASURED = (
    "A slot runs one worker at a time. Skew is the exponent of Zipf's law for the frequencies of keys, 0 if they are "
    "equal. Times are those of planning, of the slot whose workers take longest to start and to work, and of merging "
    "windows that cross slices. Beyond the slots of the machine the numbers are a simulation: "
    "each worker, the longest first, on the slot that is free first, and busy slots slow one another as those of this "
    "machine do, for any number of them. The difference of a case is simulated with the contention of the other cases."
)


@dataclass(frozen=True, eq=False)
class Case:
    """A system on one stream, in seconds: the times of its workers on one slot, and the measured time by slots."""

    system: str
    work: str
    events: int
    workers: tuple[float, ...]  # start and service
    elapsed: Mapping[int, float]
    slowed: float  # the times of workers on all slots over those on one
    starting: float  # the share of starts in the times of workers
    planning: float  # neither is shortened by a slot
    merging: float

    def simulated(self, slots: int, contention: float) -> float:
        """The time on so many slots; `contention` applies to several."""
        factor = 1.0 if slots == 1 else contention
        return self.planning + longest_first([factor * seconds for seconds in self.workers], slots) + self.merging


def longest_first(seconds: Sequence[float], slots: int) -> float:
    """The makespan if each worker, the longest first, goes to the slot that is free first."""
    free = [0.0] * slots
    heapify(free)
    for worker in sorted(seconds, reverse=True):
        heapreplace(free, free[0] + worker)
    return max(free)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    cases = [case for results in of_question(everything, PREFIX) for case in cases_of(results)]
    strong = [case for case in cases if {1, 2} <= case.elapsed.keys() and case.workers]
    if not strong:
        return None
    most = min(max(case.elapsed) for case in strong)
    speedups = [case.elapsed[1] / case.elapsed[most] for case in strong]
    contention = contention_of(strong)
    differences = [difference(case, most, contention_of(strong, case)) for case in strong]
    grown = weak(cases)
    growth = f" {most} times the events on {most} slots take {span(grown, _short)} times as long." if grown else ""
    within = sum(abs(share) <= WANTED for share in differences)
    return Answer(
        "scaling",
        "How does it scale?",
        f"On {most} slots the work is done {span(speedups, _short)} times as fast as on one; workers take "
        f"{plain(contention, 3)} times as long if all slots are busy.{growth} Simulated and measured times differ by "
        f"at most {plain(100 * max(map(abs, differences)), 2)} %, in {within} of {len(strong)} cases by no more than "
        f"{100 * WANTED:.0f} %.",
        (_drawn(strong, contention),),
        (
            "System",
            "Stream",
            "Planning",
            "Starts",
            "Merging",
            "One slot",
            f"{most} slots",
            "Simulated",
            "Difference",
            "8 slots, simulated",
            "16 slots, simulated",
        ),
        tuple(_row(case, most, contention_of(strong, case)) for case in strong),
        MEASURED,
    )


def cases_of(results: Results) -> list[Case]:
    """The systems and streams of an experiment; of several rounds, medians."""
    by_work: dict[tuple[str, str, int], dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in valid(results):
        axes = {name: at for name, at in record.point.items() if name != "slots"}
        work = ", ".join(f"{name} {human(at) if isinstance(at, int) else at}" for name, at in axes.items())
        by_work[record.algorithm, work, int(record.point["events"])][int(record.point["slots"])].append(record)
    cases = []
    for (system, work, events), by_slots in by_work.items():
        elapsed = {slots: median(r.summary.elapsed or 0.0 for r in rounds) for slots, rounds in by_slots.items()}
        fewest = by_slots[min(by_slots)]
        alone, beside = (_workers(by_slots.get(slots, ())) for slots in (1, max(by_slots)))
        starts = median(sum(record.samples.starts) for record in fewest)
        cases.append(
            Case(
                system,
                work,
                events,
                tuple(alone),
                elapsed,
                sum(beside) / sum(alone) if alone and beside else 1.0,
                starts / sum(alone) if alone else 0.0,
                median(r.summary.plan_seconds or 0.0 for r in fewest),
                median(r.summary.details.get("join_seconds", 0.0) for r in fewest),
            )
        )
    return cases


def _workers(rounds: Sequence[Record]) -> list[float]:
    """The time of each worker, start and service; of several rounds, medians. Empty without several workers."""
    rows = [
        [start + seconds for start, seconds in zip(r.samples.starts, r.samples.workers, strict=True)] for r in rounds
    ]
    return [median(times) for times in zip(*rows, strict=True)]


def weak(cases: Sequence[Case]) -> list[float]:
    """The time for n times the events on n slots over that of the events on one slot; 1 would be perfect."""
    return [
        more.elapsed[slots] / case.elapsed[1]
        for case in cases
        for more in cases
        for slots in more.elapsed
        if slots > 1 and 1 in case.elapsed and more.system == case.system and more.events == slots * case.events
        if more.work.replace(human(more.events), human(case.events)) == case.work
    ]


def contention_of(cases: Sequence[Case], without: Case | None = None) -> float:
    """How much longer workers take if all slots are busy: the geometric mean over the cases, perhaps without one."""
    others = [case.slowed for case in cases if case is not without]
    return geometric_mean(others or [case.slowed for case in cases])


def difference(case: Case, slots: int, contention: float) -> float:
    """The simulated time over the measured one, minus 1."""
    return case.simulated(slots, contention) / case.elapsed[slots] - 1


def _row(case: Case, most: int, contention: float) -> tuple[str, ...]:
    return (
        label(case.system),
        case.work,
        human(case.planning, "s"),
        f"{plain(100 * case.starting, 2)} %",
        human(case.merging, "s"),
        human(case.elapsed[1], "s"),
        human(case.elapsed[most], "s"),
        human(case.simulated(most, contention), "s"),
        f"{plain(100 * difference(case, most, contention), 2)} %",
        *(human(case.simulated(n, contention), "s") if n <= len(case.workers) else "–" for n in (8, 16)),
    )


def _drawn(cases: Sequence[Case], contention: float) -> Drawn:
    works = list(dict.fromkeys(case.work for case in cases))
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 2.1), layout="constrained")
        for axes, work in zip(drawing.subplots(1, len(works), sharey=True, squeeze=False)[0], works, strict=True):
            for case in (case for case in cases if case.work == work):
                look = styles([case.system])[case.system]
                slots = [slots for slots in SIMULATED if slots <= len(case.workers)]
                simulated = [case.simulated(1, 1.0) / case.simulated(n, contention) for n in slots]
                axes.plot(slots, simulated, color=look.color, linestyle=":", linewidth=1)
                measured = [case.elapsed[1] / seconds for seconds in case.elapsed.values()]
                axes.plot(list(case.elapsed), measured, look.marker, color=look.color, label=label(case.system))
            axes.plot(SIMULATED, SIMULATED, color="#aaaaaa", linewidth=0.6)
            axes.set(xscale="log", yscale="log", xlabel="Slots")
            axes.set_title(work, fontsize=6)
            axes.set_xticks(SIMULATED, map(str, SIMULATED))
            axes.set_yticks(SIMULATED, map(str, SIMULATED))
            axes.minorticks_off()
        drawing.axes[0].set_ylabel("Times as fast")
        handles = {
            text: handle
            for axes in drawing.axes
            for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        drawing.axes[0].legend(handles.values(), handles.keys(), frameon=False, fontsize=6)
    gains = {case: case.simulated(1, 1.0) / case.simulated(16, contention) for case in cases if len(case.workers) >= 16}
    sentence = "Marks are measured, dotted lines simulated."
    if gains:
        worst = min(gains, key=lambda case: gains[case])
        worth = span([*gains.values()], _short)
        sentence += (
            f" 16 slots would be worth {worth} by simulation, the least with {label(worst.system)} at {worst.work}."
        )
    return Drawn("scaling", drawing, sentence, "Speed over slots, measured and simulated, by stream.")


def _short(number: float) -> str:
    return plain(number, 3)
