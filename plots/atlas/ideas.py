"""Which idea gains how much? The ideas of the systems as a factorial design, on the workloads of the papers.

Two factors: what an event reads (or how matches are found), and what queries share. The effect of an idea is the
geometric mean of its gain over the levels of the other factor. If two ideas do not interact, both together gain the
product of what each gains alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullFormatter

from cepbench.metrics.results import Results
from cepbench.metrics.statistics import Estimate, estimate
from cepbench.metrics.status import Status
from cepbench.metrics.values import value
from cepbench.plots.atlas.answers import Answer, Drawn, mean_of_ratios, of_question, span, times
from cepbench.plots.style import TEXT_WIDTH, paper
from cepbench.plots.units import human, plain

TIME = "service_total"
SAME = 1.05
"""Gains that differ by less count as equal, as times do."""
MEASURED = (
    "Gains are medians over the draws of workload and stream, with their intervals; they are bounds where the limit of "
    "time stopped the system without the idea. The gain of an idea is its mean over the levels of the other factor. "
    "Work is counted: events before that are visited, updates of counters, or comparisons."
)
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
Draws = Mapping[str, Mapping[str, float]]
"""A number by algorithm and draw."""


@dataclass(frozen=True)
class Step:
    """An idea: from one algorithm to another one that has it, too."""

    idea: str
    before: str
    after: str


@dataclass(frozen=True)
class Idea:
    """An idea: a level of a factor, the first or the second one, and the level without it."""

    name: str
    factor: int
    without: str
    having: str


@dataclass(frozen=True)
class Design:
    """The systems of a family by the levels of two factors, and the steps of a path from the first to the last."""

    name: str
    prefixes: tuple[str, ...]
    levels: Mapping[str, tuple[str, str]]
    steps: tuple[Step, ...]
    effects: tuple[Idea, ...]
    work: str  # the metric of counted work

    def pairs(self, idea: Idea) -> list[tuple[str, str]]:
        """The pairs of algorithms that differ in an idea only."""
        levels = dict.fromkeys(level[1 - idea.factor] for level in self.levels.values())
        return [pair for level in levels if (pair := self.pair(idea, level)) is not None]

    def pair(self, idea: Idea, level: str) -> tuple[str, str] | None:
        """The algorithms without and with an idea at a level of the other factor; None if there is no such pair."""
        of_levels = {levels: name for name, levels in self.levels.items()}
        both = [(kind, level) if idea.factor == 0 else (level, kind) for kind in (idea.without, idea.having)]
        return (of_levels[both[0]], of_levels[both[1]]) if all(levels in of_levels for levels in both) else None

    def other(self, idea: Idea) -> Idea:
        """The first idea of the other factor."""
        return next(other for other in self.effects if other.factor != idea.factor)


GRAPHLETS = "hamlet[granularity=graphlet, sharing=never]"
TRENDS = Design(
    "trends",
    ("atlas-ideas-",),
    {
        "greta": ("visits", "nothing"),
        "hamlet[granularity=event]": ("visits", "bursts"),
        "gloria[granularity=event]": ("visits", "plan"),
        GRAPHLETS: ("graphlets", "nothing"),
        "hamlet[granularity=graphlet]": ("graphlets", "bursts"),
        "cogra": ("sums", "nothing"),
        "hamlet": ("sums", "bursts"),
        "gloria": ("sums", "plan"),
    },
    (
        Step("sums of earlier graphlets", "greta", GRAPHLETS),
        Step("bursts shared", GRAPHLETS, "hamlet[granularity=graphlet]"),
        Step("sums within graphlets", "hamlet[granularity=graphlet]", "hamlet"),
    ),
    (
        Idea("sums", 0, "visits", "sums"),
        Idea("sharing of bursts", 1, "nothing", "bursts"),
        Idea("sharing by plan", 1, "nothing", "plan"),
        Idea("graphlets", 0, "visits", "graphlets"),
    ),
    "details.edges",
)
SEQUENCES = Design(
    "sequences",
    ("atlas-sequences-",),
    {
        "sase": ("matches", "nothing"),
        "spass": ("matches", "sub-sequences"),
        "aseq": ("counters", "nothing"),
        "sharon[optimizer=greedy]": ("counters", "sub-sequences"),
        "sharon[optimizer=integer]": ("counters", "plan"),
    },
    (
        Step("prefix counters", "sase", "aseq"),
        Step("sub-sequences shared", "aseq", "sharon[optimizer=greedy]"),
        Step("an optimal plan", "sharon[optimizer=greedy]", "sharon[optimizer=integer]"),
    ),
    (
        Idea("prefix counters", 0, "matches", "counters"),
        Idea("sharing of sub-sequences", 1, "nothing", "sub-sequences"),
        Idea("sharing by an optimal plan", 1, "nothing", "plan"),
    ),
    "details.updates",
)
ORDERS, SHARED_ORDERS = "mcep[plan=alone, sharing=prefix]", "mcep[plan=annealing, sharing=prefix]"
TREES, SHARED_TREES = "mcep[plan=alone]", "mcep[plan=annealing]"
DETECTION = Design(
    "detection",
    ("atlas-detection-",),
    {
        ORDERS: ("orders", "nothing"),
        SHARED_ORDERS: ("orders", "shared"),
        TREES: ("trees", "nothing"),
        SHARED_TREES: ("trees", "shared"),
        "core": ("compact sets", "nothing"),
    },
    (
        Step("trees", ORDERS, TREES),
        Step("sub-expressions shared", TREES, SHARED_TREES),
    ),
    (
        Idea("trees", 0, "orders", "trees"),
        Idea("sharing", 1, "nothing", "shared"),
        Idea("compact sets", 0, "orders", "compact sets"),
    ),
    "details.comparisons",
)
DESIGNS = (TRENDS, SEQUENCES, DETECTION)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    factorials = [(design, shown) for design in DESIGNS for shown in _of(everything, design)]
    if not factorials:
        return None
    drawn = [_drawn(design, [shown for other, shown in factorials if other is design]) for design in DESIGNS]
    drawn.append(_interactions(factorials))
    rows = [row for design, shown in factorials for row in _rows(design, shown)]
    return Answer(
        "ideas",
        "Which idea gains how much?",
        " ".join(
            _sentence(design, [shown for other, shown in factorials if other is design]) for design in DESIGNS
        ).strip()
        + _predicting(factorials),
        tuple(shown for shown in drawn if shown is not None),
        ("Workload", "Idea", "Gain in time", "In work", "In state", "Alone", "With the other idea", "Draws"),
        tuple(rows),
        MEASURED,
    )


@dataclass(frozen=True)
class Gain:
    """The gain of an idea over draws; a `bound` if the system without it was stopped by the limit of time in some."""

    number: Estimate
    bound: bool

    @property
    def text(self) -> str:
        """`12 times (11 to 14)`, or `≥ 12 times`."""
        return f"≥ {plain(self.number.median, 3)} times" if self.bound else times(self.number)

    @property
    def median(self) -> float:
        """The median over draws."""
        return self.number.median


def by_draw(results: Results, metric: str) -> Draws:
    """A metric by algorithm and draw, where it is positive; a time that was cut off is minus its limit."""
    numbers: dict[str, dict[str, float]] = {}
    for record in results.records:
        number = value(record, metric) if record.status is Status.OK else None
        if record.status is Status.TIMEOUT and metric == TIME:
            number = -record.limit_seconds
        if number:
            numbers.setdefault(record.algorithm, {})[repr(record.point)] = number
    return numbers


def gains(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[float, bool]]:
    """The gain of an idea in each draw, the mean over pairs of systems without and with it, and whether it is a bound.

    Draws in which a system with it was stopped are left out.
    """
    present = [(without, having) for without, having in pairs if without in numbers and having in numbers]
    shared = [set(numbers[name]) for pair in present for name in pair]
    draws = sorted(set.intersection(*shared)) if shared else []
    return {
        draw: (
            mean_of_ratios([(abs(numbers[a][draw]), numbers[b][draw]) for a, b in present]),
            any(numbers[a][draw] < 0 for a, _ in present),
        )
        for draw in draws
        if all(numbers[b][draw] > 0 for _, b in present)
    }


def gain(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> Gain | None:
    """The gain of an idea over all draws; None without any."""
    ratios = gains(numbers, pairs).values()
    return Gain(estimate([number for number, _ in ratios]), any(bound for _, bound in ratios)) if ratios else None


def alone_and_together(design: Design, idea: Idea, numbers: Draws) -> tuple[Gain | None, Gain | None]:
    """The gain of an idea without the other one, and with it; None where systems are missing."""
    other = design.other(idea)
    pairs = design.pair(idea, other.without), design.pair(idea, other.having)
    alone, together = (None if pair is None else gain(numbers, [pair]) for pair in pairs)
    return alone, together


def interacts(alone: Gain | None, together: Gain | None) -> bool:
    """Whether the gain of an idea alone and that with the other one differ beyond their intervals."""
    if alone is None or together is None or alone.bound or together.bound:
        return False
    less, more = sorted((alone.number, together.number), key=lambda number: number.median)
    return less.high is not None and more.low is not None and more.low > SAME * less.high


def predicted(design: Design, numbers: Draws) -> tuple[float, Estimate] | None:
    """The joint gain of the first two ideas: the product of what each gains alone, and as measured.

    None without the systems, without an interval, and where a system was stopped.
    """
    one, other = design.effects[:2]
    last = {level: name for name, level in design.levels.items()}.get((one.having, other.having))
    joint = None if last is None else gain(numbers, [(next(iter(design.levels)), last)])
    alone = [alone_and_together(design, idea, numbers)[0] for idea in (one, other)]
    exact = [number for number in (joint, *alone) if number is not None and not number.bound]
    if joint is None or len(exact) < 3 or joint.number.low is None:
        return None
    return exact[1].median * exact[2].median, joint.number


def _predicting(factorials: Sequence[tuple[Design, Results]]) -> str:
    """How often the gains of two ideas alone predict what both gain."""
    pairs = [pair for design, shown in factorials if (pair := predicted(design, by_draw(shown, TIME))) is not None]
    if not pairs:
        return ""
    within = sum(
        (joint.low or 0.0) <= SAME * product and product <= SAME * (joint.high or 0.0) for product, joint in pairs
    )
    return (
        " The product of what the first two ideas gain alone lies within the interval of their joint gain on "
        f"{within} of {len(pairs)} workloads; on the others the ideas interact."
    )


def _interactions(factorials: Sequence[tuple[Design, Results]]) -> Drawn | None:
    """The ideas whose gain alone and with the other one differ; None if there are none."""
    lines = []
    for design, shown in factorials:
        numbers = by_draw(shown, TIME)
        for idea in design.effects:
            alone, together = alone_and_together(design, idea, numbers)
            if alone is not None and together is not None and interacts(alone, together):
                lines.append((f"{design.name}, {_workload(shown)}: {idea.name}", alone.median, together.median))
    if not lines:
        return None
    lines.sort(key=lambda line: line[1] / line[2])
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.8 + 0.17 * len(lines)), layout="constrained")
        axes = drawing.subplots()
        axes.set(xscale="log", xlabel="Gain in time (times)", ylim=(len(lines) - 0.5, -0.5))
        axes.axvline(1, color="#888888", linewidth=0.6, linestyle=":")
        for row, (_, first, last) in enumerate(lines):
            axes.plot([first, last], [row, row], color="#cccccc", linewidth=2, zorder=0)
            axes.plot([first], [row], "o", color="#444444", markerfacecolor="white", markersize=4)
            axes.plot([last], [row], "o", color="#444444", markersize=4)
        axes.set_yticks(range(len(lines)), [name for name, _, _ in lines], fontsize=6)
        axes.plot([], [], "o", color="#444444", markerfacecolor="white", markersize=4, label="alone")
        axes.plot([], [], "o", color="#444444", markersize=4, label="with the other idea")
        axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False)
        axes.xaxis.set_minor_formatter(NullFormatter())
    less = sum(first > last for _, first, last in lines)
    sentence = (
        f"Where ideas interact: {less} of {len(lines)} gain less with the other idea than alone, the others more."
    )
    return Drawn("ideas-interactions", drawing, sentence, "The gain of ideas alone and with the other idea.")


def _of(everything: Sequence[Results], design: Design) -> list[Results]:
    return [results for prefix in design.prefixes for results in of_question(everything, prefix)]


def _workload(results: Results) -> str:
    return results.figure.id.partition(" on ")[2] or results.figure.experiment


def _rows(design: Design, results: Results) -> Iterable[tuple[str, ...]]:
    seconds, states, work = (by_draw(results, metric) for metric in (TIME, "state_peak", design.work))
    for idea in design.effects:
        pairs = design.pairs(idea)
        effect = gain(seconds, pairs)
        if effect is None:
            continue
        alone, together = alone_and_together(design, idea, seconds)
        others = [gain(numbers, pairs) for numbers in (work, states)]
        mark = ", interact" if interacts(alone, together) else ""
        yield (
            f"{design.name}, {_workload(results)}",
            idea.name,
            effect.text,
            *("–" if number is None else number.text for number in others),
            "–" if alone is None else alone.text,
            "–" if together is None else f"{together.text}{mark}",
            str(len(gains(seconds, pairs))),
        )


def _sentence(design: Design, shown: Sequence[Results]) -> str:
    """The gains of the ideas of a family, from the workload with the least to that with the most."""
    parts = []
    for idea in design.effects:
        pairs = design.pairs(idea)
        effects = [effect.median for results in shown if (effect := gain(by_draw(results, TIME), pairs)) is not None]
        if effects:
            parts.append(f"{idea.name} {span(effects)} times")
    return f"In {design.name}: {', '.join(parts)}." if parts else ""


def _drawn(design: Design, shown: Sequence[Results]) -> Drawn | None:
    """The steps from the first to the last system, one line per workload."""
    lines: list[tuple[str, list[float], float]] = []
    for results in shown:
        numbers = by_draw(results, TIME)
        gains = [gain(numbers, [(step.before, step.after)]) for step in design.steps]
        whole = gain(numbers, [(design.steps[0].before, design.steps[-1].after)])
        medians = [number.median for number in gains if number is not None]
        if whole is not None and len(medians) == len(gains):
            lines.append((_workload(results), medians, whole.median))
    if not lines:
        return None
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.7 + 0.4 * len(lines)), layout="constrained")
        axes = drawing.subplots()
        axes.set(xscale="log", xlabel="Times as fast", ylim=(len(lines) - 0.5, -0.5))
        axes.axvline(1, color="#888888", linewidth=0.6, linestyle=":")
        for row, (_, factors, _) in enumerate(lines):
            begin = 1.0
            for color, factor in zip(COLORS, factors, strict=False):
                end = begin * factor
                axes.plot([begin, end], [row, row], color=color, linewidth=5, solid_capstyle="butt")
                place = ((begin * end) ** 0.5, row)
                axes.annotate(f"×{factor:.3g}", place, (0, 5), textcoords="offset points", ha="center", fontsize=6)
                begin = end
            axes.plot([begin], [row], "k|", markersize=9)
        for color, step in zip(COLORS, design.steps, strict=False):
            axes.plot([], [], color=color, linewidth=5, label=step.idea)
        axes.set_yticks(range(len(lines)), [name for name, _, _ in lines])
        axes.xaxis.set_major_formatter(lambda number, _: f"{human(number)}×")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.legend(ncols=len(design.steps), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    ends = [whole for _, _, whole in lines]
    sentence = (
        f"{design.name.capitalize()}, step by step from {_name(design.steps[0].before)} to "
        f"{_name(design.steps[-1].after)}, which is {span(ends)} times as fast."
    )
    ideas = ", ".join(step.idea for step in design.steps)
    return Drawn(f"ideas-{design.name}", drawing, sentence, f"What each idea multiplies, by workload: {ideas}.")


def _name(specification: str) -> str:
    return {"greta": "GRETA", "hamlet": "Hamlet at the coarsest granularity", "sase": "SASE"}.get(
        specification,
        "Sharon" if specification.startswith("sharon") else "the best order" if specification == ORDERS else "MCEP",
    )
