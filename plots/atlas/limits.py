"""What breaks first? For each system the largest size at which it ends, and the first limit beyond.

Memory is predicted before it is reached, from the growth of the process over the last two sizes at which it ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullFormatter

from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.atlas.answers import Answer, Drawn, of_question, span
from cepbench.plots.style import TEXT_WIDTH, label, paper
from cepbench.plots.units import human

PREFIX = "atlas-breaks-"
AXES = {"window": "events of a window", "keys": "keys", "queries": "queries"}
TIME, MEMORY, ARITHMETIC = "time", "memory", "arithmetic"
FARTHEST = 1000
"""Sizes beyond this multiple of the last one are no prediction."""
NAMES = {"flat": "Kleene patterns", "none": "sequences"}
"""Kinds of work, by the closure of their queries."""
COLORS = {TIME: "#e69f00", MEMORY: "#cc79a7", "": "#009e73"}
LIMITS = {Status.TIMEOUT: TIME, Status.OUT_OF_MEMORY: MEMORY}


@dataclass(frozen=True)
class Course:
    """A system on one kind of work along an axis.

    - `least`, `ends`: the smallest and the largest size at which it ended; 0 if at none.
    - `limit`: what stopped it, time or memory, at the next size `at`: beyond the largest one, or, if it ended there,
      below the least one (few keys have long trends). Empty if nothing did.
    - `overflows`: the sizes at which its counts exceed 64 bits.
    - `predicted`: the size at which its process reaches the limit of memory, by its growth; None if it does not grow.
    - `wrong`, `errors`: numbers of cells.
    """

    system: str
    work: str
    axis: str
    least: float
    ends: float
    limit: str
    at: float
    overflows: tuple[float, ...]
    predicted: float | None
    wrong: int
    errors: int

    @property
    def first(self) -> str:
        """The first limit: arithmetic, where counts overflow at a size at which it still ends."""
        return ARITHMETIC if self.overflows else self.limit

    @property
    def beyond(self) -> bool:
        """Whether it was stopped at a size beyond all at which it ended."""
        return bool(self.limit) and self.at > self.ends

    @property
    def foreseen(self) -> bool:
        """Whether the predicted size lies between the last at which it ended and that at which it was stopped."""
        return self.predicted is not None and self.ends <= self.predicted <= self.at

    @property
    def whole(self) -> bool:
        """Whether it ended at all sizes."""
        return not (self.limit or self.wrong or self.errors)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    courses = [course for results in of_question(everything, PREFIX) for course in courses_of(results)]
    if not courses:
        return None
    counts = {limit: sum(course.limit == limit for course in courses) for limit in (TIME, MEMORY)}
    overflow = sum(bool(course.overflows) for course in courses)
    predictions = [c.foreseen for c in courses if c.limit == MEMORY and c.beyond and c.predicted is not None]
    wrong, errors = sum(course.wrong for course in courses), sum(course.errors for course in courses)
    return Answer(
        "limits",
        "What breaks first?",
        f"Of {len(courses)} pairs of a system and a kind of work, {counts[TIME]} are stopped by the limit of time "
        f"({_limits(everything)}), {counts[MEMORY]} by that of memory, and {sum(course.whole for course in courses)} "
        f"end at all sizes that were tried. In {overflow} of them counts exceed 64 bits at sizes at which the system "
        f"still ends, which is marked in its answer. {_foreseen(predictions)}"
        f"Wrong answers: {wrong or 'none'}; errors: {errors or 'none'}.",
        (_drawn(courses),),
        (
            "Axis",
            "Work",
            "System",
            "Ends",
            "First limit",
            "Stopped by",
            "Stopped at",
            "Counts exceed 64 bits at",
            "Memory predicted at",
        ),
        tuple(_row(course) for course in courses),
        "A pattern has three types: of 40 in the streams of windows, and of four in those of keys. Queries have four "
        "types each, of 60. The longest windows are for COGRA and A-Seq. A system is not run on longer windows, or "
        "more queries, than those at which it was stopped. Few keys have more events each in a window, so that some "
        "systems are stopped there. The limit of memory is predicted from the growth of its process over the last two "
        "sizes, before it is reached.",
    )


def _limits(everything: Sequence[Results]) -> str:
    """`10 s and 4 GB`: the limits of a cell."""
    [record, *_] = (record for results in of_question(everything, PREFIX) for record in results.records)
    return f"{human(record.limit_seconds, 's')}, with {human(float(record.limit_bytes), 'B')}"


def _foreseen(predictions: Sequence[bool]) -> str:
    """How many of the limits of memory lie where they were predicted."""
    if not predictions:
        return ""
    return (
        f"Of {len(predictions)} limits of memory, {sum(predictions)} lie where the growth of the process predicts "
        "them, between the last size at which the system ends and the first at which it does not. "
    )


def courses_of(results: Results) -> list[Course]:
    """The courses of an experiment."""
    axis = results.figure.experiment.removeprefix(PREFIX)
    series = results.figure.series.name if results.figure.series else ""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in results.records:
        if record.status is not Status.UNSUPPORTED:
            work = str(record.point.get(series, ""))
            groups[record.algorithm, NAMES.get(work, work)].append(record)
    return [_course(system, work, axis, records) for (system, work), records in groups.items()]


def _course(system: str, work: str, axis: str, records: Sequence[Record]) -> Course:
    ordered = sorted(records, key=lambda record: record.point[axis])
    ended = [record for record in ordered if record.cell_status is Status.OK]
    least, most = (float(ended[end].point[axis]) if ended else 0.0 for end in (0, -1))
    stopped = {float(r.point[axis]): LIMITS[r.cell_status] for r in ordered if r.cell_status in LIMITS}
    at = min((size for size in stopped if size > most), default=max(stopped, default=0.0))
    return Course(
        system,
        work,
        axis,
        least,
        most,
        stopped.get(at, ""),
        at,
        tuple(float(record.point[axis]) for record in ended if record.overflow),
        _predicted(axis, ended),
        sum(record.cell_status is Status.WRONG for record in records),
        sum(record.cell_status is Status.ERROR for record in records),
    )


def _predicted(axis: str, ended: Sequence[Record]) -> float | None:
    """The size at which the process reaches the limit of memory, by its growth over the last two sizes."""
    grown = [record for record in ended if record.summary.process_peak]
    sizes = [(float(r.point[axis]), float(r.summary.process_peak or 0), r.limit_bytes) for r in grown]
    if len(sizes) < 2:
        return None
    (first, less, _), (last, more, limit) = sizes[-2:]
    if more <= less or last <= first:
        return None
    size = log(last) + log(limit / more) * log(last / first) / log(more / less)
    return exp(size) if size < log(last * FARTHEST) else None


def _row(course: Course) -> tuple[str, ...]:
    return (
        AXES[course.axis],
        course.work,
        label(course.system),
        span((course.least, course.ends), human) if course.ends else "–",
        course.first or "none",
        course.limit or "–",
        human(course.at) if course.limit else "–",
        span(course.overflows, human) if course.overflows else "–",
        "–" if course.predicted is None else human(course.predicted, digits=2),
    )


def _drawn(courses: Sequence[Course]) -> Drawn:
    windows = [course for course in courses if course.axis == "window"]
    works = list(dict.fromkeys(course.work for course in courses))
    shown = sorted(windows or courses, key=lambda course: (works.index(course.work), course.ends))
    names = list(dict.fromkeys((course.work, course.system) for course in shown))
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.7 + 0.2 * len(names)), layout="constrained")
        axes = drawing.subplots()
        for row, course in enumerate(shown):
            if course.ends:
                ends = [0.9 * course.least, course.ends]
                axes.plot(ends, [row, row], color=COLORS[course.limit], linewidth=4, solid_capstyle="butt")
            if course.overflows:
                axes.plot(course.overflows[:1], [row], "|", color="black", markersize=7)
            if course.limit == MEMORY and course.predicted is not None:
                axes.plot([course.predicted], [row], "x", color="black", markersize=4)
        axes.set(xscale="log", ylim=(len(names) - 0.5, -0.5), xlabel=AXES[shown[0].axis].capitalize())
        axes.xaxis.set_major_formatter(lambda number, _: human(number))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_yticks(range(len(names)), [f"{work}: {label(system)}" for work, system in names], fontsize=6)
        for limit, color in COLORS.items():
            axes.plot([], [], color=color, linewidth=4, label=f"then {limit}" if limit else "no limit reached")
        axes.plot([], [], "k|", markersize=7, label="counts exceed 64 bits")
        axes.plot([], [], "kx", markersize=4, label="memory, predicted")
        axes.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False, fontsize=6)
    best = max(shown, key=lambda course: course.ends)
    worst = min(shown, key=lambda course: course.ends)
    sentence = (
        f"The most {AXES[shown[0].axis]} with which a system ends: from {human(worst.ends)} ({label(worst.system)}, "
        f"{worst.work}{f', then {worst.limit}' if worst.limit else ''}) to {human(best.ends)} ({label(best.system)}, "
        f"{best.work})."
    )
    return Drawn("limits", drawing, sentence, "A bar for each system and kind of work up to the largest size.")
