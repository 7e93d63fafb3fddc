"""Which idea gains how much? The ideas of the systems as a factorial design, on the workloads of the papers.

Two factors: what an event reads (or how matches are found), and what queries share. The effect of an idea is the
geometric mean of its gain over the levels of the other factor. If two ideas do not interact, both together gain the
product of what each gains alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, prod

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogLocator, NullFormatter

from cepbench.metrics.results import Results
from cepbench.metrics.statistics import Estimate, estimate
from cepbench.plots.atlas.answers import SAME, TIME, Answer, Drawn, ends, mean_of_ratios, of_question
from cepbench.plots.style import TEXT_WIDTH, paper
from cepbench.plots.units import human, plain

STATE = ("state_peak",)
"""The metrics whose sum is the state of a record."""
MEASURED = (
    "A draw is a workload and a stream from one seed. Gains are medians over draws, with their intervals. They are "
    "bounds where the limit of time stopped one of the two systems. The gain of an idea is its mean over the levels "
    "of the other factor. Work is counted: visits of earlier events, and snapshots; updates of counters; or "
    "comparisons. Its gain is that without the other idea, and all of it if none is left. A gain below 1 is a loss. "
    "Without graphlets and sums, an event visits all events before it that it may follow; graphlets, runs of events "
    "of one type, have a sum that is read instead of theirs; with sums no event is visited. Orders find matches event "
    "by event, trees by joining parts of a pattern, and compact sets represent matches without constructing them."
)
STEP = 0.22
"""The height of a step; that of a workload is 1."""
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
Draws = Mapping[str, Mapping[str, tuple[float, float]]]
"""A number by algorithm and draw: both ends of an interval, which is from the limit on where a time was cut off."""


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
    work: tuple[str, ...]  # the details that count work

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
    ("details.edges", "details.snapshots"),
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
        Step("the best plan of the model", "sharon[optimizer=greedy]", "sharon[optimizer=integer]"),
    ),
    (
        Idea("prefix counters", 0, "matches", "counters"),
        Idea("sharing of sub-sequences", 1, "nothing", "sub-sequences"),
        Idea("sharing by the best plan of the model", 1, "nothing", "plan"),
    ),
    ("details.updates", "details.combinations"),
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
    ("details.comparisons",),
)
DESIGNS = (TRENDS, SEQUENCES, DETECTION)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    factorials = [(design, shown) for design in DESIGNS for shown in _of(everything, design)]
    if not factorials:
        return None
    drawn = [_steps(everything), _interactions(factorials)]
    rows = [row for design, shown in factorials for row in _rows(design, shown)]
    sentences = [_sentence(design, _of(everything, design)) for design in DESIGNS]
    return Answer(
        "ideas",
        "Which idea gains how much?",
        "\n\n".join(filter(None, [*sentences, _predicting(factorials)])),
        tuple(shown for shown in drawn if shown is not None),
        ("Workload", "Idea", "Gain in time", "In work, alone", "In state", "Alone", "With the other idea", "Draws"),
        tuple(rows),
        MEASURED,
    )


@dataclass(frozen=True)
class Gain:
    """The gain of an idea over draws: of the lower and of the upper ends, which differ where a system was stopped."""

    lower: Estimate
    upper: Estimate

    @property
    def exact(self) -> bool:
        """Whether the median draw is measured."""
        return self.lower.median == self.upper.median

    @property
    def known(self) -> bool:
        """Whether the median draw is measured or bounded."""
        return self.lower.median > 0 or self.upper.median < inf

    @property
    def median(self) -> float:
        """The median over draws, or its bound."""
        return self.upper.median if self.lower.median == 0 else self.lower.median

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the median; None with too few draws, or if the median is a bound."""
        low, high = self.lower.low, self.upper.high
        return None if low is None or high is None or not self.exact else (low, high)

    @property
    def text(self) -> str:
        """`12 times (11 to 14)`, `≥ 12 times`, or `all` if nothing is left."""
        if self.exact and self.median == inf:
            return "all"
        interval = "" if self.ends is None else f" ({' to '.join(plain(end, 3) for end in self.ends)})"
        return f"{self.short} times{interval}"

    @property
    def short(self) -> str:
        """`12` or `≥ 12`."""
        sign = "" if self.exact else "≤ " if self.lower.median == 0 else "≥ "
        return f"{sign}{plain(self.median, 3)}"


def by_draw(results: Results, metrics: Sequence[str]) -> Draws:
    """A sum of metrics by algorithm and draw; a time that was cut off is at least its limit."""
    numbers: dict[str, dict[str, tuple[float, float]]] = {}
    for record in results.records:
        if (both := ends(record, metrics)) is not None:
            numbers.setdefault(record.algorithm, {})[repr(record.point)] = both
    return numbers


def gains(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    """The ends of the gain of an idea in each draw, its mean over pairs of systems without and with it."""
    ratios = []
    for draw in _common(numbers, [name for pair in pairs for name in pair]):
        of_pairs = [(numbers[without][draw], numbers[having][draw]) for without, having in pairs]
        ratios.append(
            (
                mean_of_ratios([(less, more) for (less, _), (_, more) in of_pairs]),
                mean_of_ratios([(more, less) for (_, more), (less, _) in of_pairs]),
            )
        )
    return [both for both in ratios if not any(map(isnan, both))]


def gain(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> Gain | None:
    """The gain of an idea over all draws; None without any, or if both systems were stopped in most."""
    ratios = gains(numbers, pairs)
    if not ratios:
        return None
    shown = Gain(estimate([low for low, _ in ratios]), estimate([high for _, high in ratios]))
    return shown if shown.known else None


def measured(design: Design, idea: Idea, numbers: Draws) -> list[tuple[str, str]]:
    """The pairs of systems that differ in an idea only, and have numbers."""
    return [pair for pair in design.pairs(idea) if all(name in numbers for name in pair)]


def _common(numbers: Draws, systems: Iterable[str]) -> list[str]:
    """The draws in which all of these systems have a number."""
    draws = [set(numbers.get(name, ())) for name in systems]
    return sorted(set.intersection(*draws)) if draws else []


def alone_and_together(design: Design, idea: Idea, numbers: Draws) -> tuple[Gain | None, Gain | None]:
    """The gain of an idea without the other one, and with it; None where systems are missing."""
    other = design.other(idea)
    pairs = design.pair(idea, other.without), design.pair(idea, other.having)
    alone, together = (None if pair is None else gain(numbers, [pair]) for pair in pairs)
    return alone, together


def interacts(alone: Gain | None, together: Gain | None) -> bool:
    """Whether the gain of an idea alone and that with the other one differ beyond their intervals."""
    if alone is None or together is None:
        return False
    less, more = sorted((alone, together), key=lambda shown: shown.median)
    return less.ends is not None and more.ends is not None and more.ends[0] > SAME * less.ends[1]


def predicted(design: Design, numbers: Draws) -> bool | None:
    """Whether the gains of the first two ideas alone predict that of both.

    Their product must lie within the interval of the measured gain of both, or less than 5 % beyond. The product of
    their means over both orders would be the joint gain in any case. None without systems or an interval.
    """
    ideas = design.effects[:2]
    last = {level: name for name, level in design.levels.items()}.get((ideas[0].having, ideas[1].having))
    first = next(iter(design.levels))
    joint = None if last is None else gain(numbers, [(first, last)])
    alone = [alone_and_together(design, idea, numbers)[0] for idea in ideas]
    exact = [shown.median for shown in alone if shown is not None and shown.exact]
    if joint is None or joint.ends is None or len(exact) < len(ideas):
        return None
    low, high = joint.ends
    return low / SAME <= prod(exact) <= SAME * high


def _predicting(factorials: Sequence[tuple[Design, Results]]) -> str:
    """How often the gains of two ideas alone predict what both gain."""
    predictions = [
        shown for design, results in factorials if (shown := predicted(design, by_draw(results, TIME))) is not None
    ]
    if not predictions:
        return ""
    where = "" if all(predictions) else "; the ideas of the others are drawn below"
    return (
        "The product of what the first two ideas of a family gain alone lies within the interval of what both gain, "
        f"give or take 5 %, on {sum(predictions)} of {len(predictions)} workloads{where}."
    )


def _interactions(factorials: Sequence[tuple[Design, Results]]) -> Drawn | None:
    """The ideas whose gain alone and with the other one differ, or do not predict what both gain; None if none are."""
    lines = []
    for design, shown in factorials:
        numbers = by_draw(shown, TIME)
        missed = design.effects[:2] if predicted(design, numbers) is False else ()
        for idea in design.effects:
            alone, together = alone_and_together(design, idea, numbers)
            if alone is not None and together is not None and (idea in missed or interacts(alone, together)):
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
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda number, _: human(number))
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
    seconds, states, work = (by_draw(results, metrics) for metrics in (TIME, STATE, design.work))
    for idea in design.effects:
        pairs = measured(design, idea, seconds)
        effect = gain(seconds, pairs)
        if effect is None:
            continue
        alone, together = alone_and_together(design, idea, seconds)
        in_work, in_state = gain(work, pairs[:1]), gain(states, pairs)
        mark = ", interact" if interacts(alone, together) else ""
        yield (
            f"{design.name}, {_workload(results)}",
            idea.name,
            effect.text,
            *("–" if shown is None else shown.text for shown in (in_work, in_state)),
            "–" if alone is None else alone.text,
            "–" if together is None else f"{together.text}{mark}",
            str(len(gains(seconds, pairs))),
        )


def _sentence(design: Design, shown: Sequence[Results]) -> str:
    """The gains of the ideas of a family, from the workload with the least to that with the most."""
    parts = []
    for idea in design.effects:
        effects = {}
        for results in shown:
            numbers = by_draw(results, TIME)
            if (effect := gain(numbers, measured(design, idea, numbers))) is not None:
                effects[_workload(results)] = effect
        if effects:
            exact = sorted((name for name in effects if effects[name].exact), key=lambda name: effects[name].median)
            ends = [f"{effects[name].short} ({name})" for name in dict.fromkeys((*exact[:1], *exact[-1:]))]
            bounds = [f"{effect.short} ({name})" for name, effect in effects.items() if not effect.exact]
            parts.append(f"{idea.name} {' and '.join(filter(None, [' to '.join(ends), *bounds]))}")
    return f"In {design.name}, times as fast: {', '.join(parts)}." if parts else ""


def _span(shown: Sequence[Gain]) -> str:
    """`1.2 to ≥ 12`, from the least to the greatest gain."""
    ordered = sorted(shown, key=lambda each: each.median)
    return " to ".join(dict.fromkeys(each.short for each in (ordered[0], ordered[-1])))


@dataclass(frozen=True)
class Path:
    """The gains of the steps of a design on one workload, and of all steps, on the draws that all systems have."""

    workload: str
    steps: tuple[Gain, ...]
    whole: Gain


def path_of(design: Design, results: Results) -> Path | None:
    """The path of a workload; None if a system has no number."""
    numbers = by_draw(results, TIME)
    systems = [design.steps[0].before, *(step.after for step in design.steps)]
    draws = _common(numbers, systems)
    shared = {name: {draw: numbers[name][draw] for draw in draws} for name in systems}
    steps = [gain(shared, [(step.before, step.after)]) for step in design.steps]
    whole = gain(shared, [(systems[0], systems[-1])])
    gained = tuple(step for step in steps if step is not None)
    return Path(_workload(results), gained, whole) if whole is not None and len(gained) == len(steps) else None


def _steps(everything: Sequence[Results]) -> Drawn | None:
    """The steps from the first to the last system of each design, one line per workload."""
    paths = {
        design.name: (design, [path for shown in _of(everything, design) if (path := path_of(design, shown))])
        for design in DESIGNS
    }
    drawn = [(design, lines) for design, lines in paths.values() if lines]
    if not drawn:
        return None
    heights = [0.45 + 0.3 * len(lines) for _, lines in drawn]
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.4 + sum(heights)), layout="constrained")
        panels = drawing.subplots(len(drawn), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (design, lines) in zip(panels, drawn, strict=True):
            _path(axes, design, lines)
        panels[-1].set_xlabel("Times as fast")
    ends = [
        f"{design.name} from {_name(design.steps[0].before)} to {_name(design.steps[-1].after)} "
        f"{_span([line.whole for line in lines])} times"
        for design, lines in drawn
    ]
    return Drawn("ideas", drawing, f"What each idea multiplies, step by step: {'; '.join(ends)}.", "Steps by workload.")


def _path(axes: Axes, design: Design, lines: Sequence[Path]) -> None:
    axes.set(xscale="log", ylim=(len(lines) - 0.5, -0.5))
    axes.axvline(1, color="#888888", linewidth=0.6, linestyle=":")
    for row, line in enumerate(lines):
        begin = 1.0
        for place, (color, gained) in enumerate(zip(COLORS, line.steps, strict=False)):
            end, height = begin * gained.median, row + STEP * (place - (len(line.steps) - 1) / 2)
            axes.plot([begin, end], [height, height], color=color, linewidth=3, solid_capstyle="butt")
            axes.plot([end, end], [height, height + STEP], color="#888888", linewidth=0.6)
            right = (max(begin, end), height)
            axes.annotate(f"×{gained.short}", right, (3, 0), textcoords="offset points", va="center", fontsize=5)
            begin = end
        axes.plot([begin], [height + STEP], "k^", markersize=3)
    for color, step in zip(COLORS, design.steps, strict=False):
        axes.plot([], [], color=color, linewidth=5, label=step.idea)
    axes.set_yticks(range(len(lines)), [line.workload for line in lines])
    least, most = axes.get_xlim()
    axes.set_xlim(least, max(most, 2.1))  # two numbers on the axis, at least
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda number, _: f"{human(number)}×")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(ncols=len(design.steps), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=6)


def _name(specification: str) -> str:
    return {"greta": "GRETA", "hamlet": "Hamlet at the coarsest granularity", "sase": "SASE"}.get(
        specification,
        "Sharon" if specification.startswith("sharon") else "the best order" if specification == ORDERS else "MCEP",
    )
