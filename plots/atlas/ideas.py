"""Which idea gains how much? The ideas of the systems as a factorial design, on the workloads of the papers.

Two factors: what an event reads (or how matches are found), and what queries share. The effect of an idea is the
geometric mean of its gain over the levels of the other factor, which is its average over the orders in which both are
added. The gain of two ideas together differs from the product of their effects by their interaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import NullFormatter

from cepbench.metrics.results import Results
from cepbench.metrics.statistics import Estimate, estimate
from cepbench.metrics.values import value
from cepbench.plots.atlas.answers import Answer, Drawn, mean_of_ratios, of_question, span, times, valid
from cepbench.plots.style import TEXT_WIDTH, paper
from cepbench.plots.units import human

TIME = "service_total"
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
class Design:
    """The systems of a family by the levels of two factors, and the steps of a path from the first to the last."""

    name: str
    prefixes: tuple[str, ...]
    levels: Mapping[str, tuple[str, str]]
    steps: tuple[Step, ...]
    effects: tuple[tuple[str, int, str, str], ...]  # an idea: its factor, and the level without and with it

    def pairs(self, factor: int, without: str, having: str) -> list[tuple[str, str]]:
        """The pairs of algorithms that differ in these levels of a factor only."""
        other = {level[1 - factor]: name for name, level in self.levels.items() if level[factor] == having}
        return [
            (name, other[level[1 - factor]])
            for name, level in self.levels.items()
            if level[factor] == without and level[1 - factor] in other
        ]


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
        ("sums", 0, "visits", "sums"),
        ("sharing of bursts", 1, "nothing", "bursts"),
        ("sharing by plan", 1, "nothing", "plan"),
    ),
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
        ("prefix counters", 0, "matches", "counters"),
        ("sharing of sub-sequences", 1, "nothing", "sub-sequences"),
        ("sharing by an optimal plan", 1, "nothing", "plan"),
    ),
)
ORDERS, SHARED_ORDERS = "mcep[plan=re, sharing=prefix]", "mcep[plan=annealing, sharing=prefix]"
TREES, SHARED_TREES = "mcep[plan=annealing, stop=1]", "mcep[plan=annealing, stop=10000]"
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
        ("trees", 0, "orders", "trees"),
        ("sharing", 1, "nothing", "shared"),
        ("compact sets", 0, "orders", "compact sets"),
    ),
)
DESIGNS = (TRENDS, SEQUENCES, DETECTION)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    found = [(design, shown) for design in DESIGNS for shown in _of(everything, design)]
    if not found:
        return None
    drawn = [_drawn(design, [shown for other, shown in found if other is design]) for design in DESIGNS]
    rows = [row for design, shown in found for row in _rows(design, shown)]
    return Answer(
        "ideas",
        "Which idea gains how much?",
        " ".join(_sentence(design, [shown for other, shown in found if other is design]) for design in DESIGNS).strip(),
        tuple(shown for shown in drawn if shown is not None),
        ("Workload", "Idea", "Gain in time", "Gain in state", "Alone", "With the other idea"),
        tuple(rows),
        "Gains are medians over the draws of workload and stream, with their intervals. The gain of an idea is its "
        "average over the orders in which it and the other one are added; where it alone and with the other one differ "
        "beyond their intervals, the ideas interact, which is marked.",
    )


def by_draw(results: Results, metric: str) -> Draws:
    """A metric by algorithm and draw, of the draws in which it is positive."""
    numbers: dict[str, dict[str, float]] = {}
    for record in valid(results):
        number = value(record, metric)
        if number:
            numbers.setdefault(record.algorithm, {})[repr(record.point)] = number
    return numbers


def gain(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> Estimate | None:
    """The gain of an idea, the mean over pairs of systems without and with it in each draw; None without any."""
    present = [(without, having) for without, having in pairs if without in numbers and having in numbers]
    shared = [set(numbers[name]) for pair in present for name in pair]
    draws = sorted(set.intersection(*shared)) if shared else []
    if not draws:
        return None
    return estimate([mean_of_ratios([(numbers[a][draw], numbers[b][draw]) for a, b in present]) for draw in draws])


def interacts(alone: Estimate, together: Estimate) -> bool:
    """Whether the gain of an idea alone and that with the other one differ beyond their intervals."""
    if None in (alone.low, alone.high, together.low, together.high):
        return False
    return (alone.low or 0.0) > (together.high or 0.0) or (together.low or 0.0) > (alone.high or 0.0)


def _of(everything: Sequence[Results], design: Design) -> list[Results]:
    return [results for prefix in design.prefixes for results in of_question(everything, prefix)]


def _workload(results: Results) -> str:
    return results.figure.id.partition(" on ")[2] or results.figure.experiment


def _rows(design: Design, results: Results) -> Iterable[tuple[str, ...]]:
    seconds, states = by_draw(results, TIME), by_draw(results, "state_peak")
    for idea, factor, without, having in design.effects:
        pairs = design.pairs(factor, without, having)
        effect, state = gain(seconds, pairs), gain(states, pairs)
        if effect is None:
            continue
        single = [gain(seconds, [pair]) for pair in pairs]
        known = [number for number in single if number is not None]
        alone, together = known[0], known[-1]
        mark = ", interact" if len(known) > 1 and interacts(alone, together) else ""
        yield (
            f"{design.name}, {_workload(results)}",
            idea,
            times(effect),
            "–" if state is None else times(state),
            times(alone),
            f"{times(together)}{mark}" if len(known) > 1 else "–",
        )


def _sentence(design: Design, shown: Sequence[Results]) -> str:
    """The gains of the ideas of a family, from the workload with the least to that with the most."""
    parts = []
    for idea, factor, without, having in design.effects:
        pairs = design.pairs(factor, without, having)
        effects = [effect.median for results in shown if (effect := gain(by_draw(results, TIME), pairs)) is not None]
        if effects:
            parts.append(f"{idea} {span(effects)} times")
    return f"In {design.name}: {', '.join(parts)}." if parts else ""


def _drawn(design: Design, shown: Sequence[Results]) -> Drawn | None:
    """The steps from the first to the last system, one line per workload."""
    lines: list[tuple[str, list[float], float]] = []
    for results in shown:
        numbers = by_draw(results, TIME)
        gains = [gain(numbers, [(step.before, step.after)]) for step in design.steps]
        whole = gain(numbers, [(design.steps[0].before, design.steps[-1].after)])
        known = [number.median for number in gains if number is not None]
        if whole is not None and len(known) == len(gains):
            lines.append((_workload(results), known, whole.median))
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
