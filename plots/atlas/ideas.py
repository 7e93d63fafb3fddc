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
SAME = 1.05
"""Gains that differ by less count as equal, as times do."""
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

    def pairs(self, idea: Idea) -> list[tuple[str, str]]:
        """The pairs of algorithms that differ in an idea only."""
        factor = idea.factor
        other = {level[1 - factor]: name for name, level in self.levels.items() if level[factor] == idea.having}
        return [
            (name, other[level[1 - factor]])
            for name, level in self.levels.items()
            if level[factor] == idea.without and level[1 - factor] in other
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
        Idea("sums", 0, "visits", "sums"),
        Idea("sharing of bursts", 1, "nothing", "bursts"),
        Idea("sharing by plan", 1, "nothing", "plan"),
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
        Idea("prefix counters", 0, "matches", "counters"),
        Idea("sharing of sub-sequences", 1, "nothing", "sub-sequences"),
        Idea("sharing by an optimal plan", 1, "nothing", "plan"),
    ),
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
)
DESIGNS = (TRENDS, SEQUENCES, DETECTION)


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    found = [(design, shown) for design in DESIGNS for shown in _of(everything, design)]
    if not found:
        return None
    drawn = [_drawn(design, [shown for other, shown in found if other is design]) for design in DESIGNS]
    drawn.append(_interactions(found))
    rows = [row for design, shown in found for row in _rows(design, shown)]
    return Answer(
        "ideas",
        "Which idea gains how much?",
        " ".join(_sentence(design, [shown for other, shown in found if other is design]) for design in DESIGNS).strip()
        + _predicting(found),
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


def gains(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """The gain of an idea in each draw: the mean over pairs of systems without and with it."""
    present = [(without, having) for without, having in pairs if without in numbers and having in numbers]
    shared = [set(numbers[name]) for pair in present for name in pair]
    draws = sorted(set.intersection(*shared)) if shared else []
    return {draw: mean_of_ratios([(numbers[a][draw], numbers[b][draw]) for a, b in present]) for draw in draws}


def gain(numbers: Draws, pairs: Sequence[tuple[str, str]]) -> Estimate | None:
    """The gain of an idea over all draws; None without any."""
    return estimate([*of_draws.values()]) if (of_draws := gains(numbers, pairs)) else None


def interacts(alone: Estimate, together: Estimate) -> bool:
    """Whether the gain of an idea alone and that with the other one differ beyond their intervals."""
    if None in (alone.low, alone.high, together.low, together.high):
        return False
    less, more = sorted((alone, together), key=lambda number: number.median)
    return (more.low or 0.0) > SAME * (less.high or 0.0)


def predicted(design: Design, numbers: Draws) -> tuple[Estimate, Estimate] | None:
    """The gain of the first two ideas together: by the product of their effects, and as measured; None without both."""
    one, other = design.effects[:2]
    last = {level: name for name, level in design.levels.items()}.get((one.having, other.having))
    of_one, of_other = (gains(numbers, design.pairs(idea)) for idea in (one, other))
    joint = {} if last is None else gains(numbers, [(next(iter(design.levels)), last)])
    draws = sorted(of_one.keys() & of_other.keys() & joint.keys())
    if not draws:
        return None
    return estimate([of_one[draw] * of_other[draw] for draw in draws]), estimate([joint[draw] for draw in draws])


def _predicting(found: Sequence[tuple[Design, Results]]) -> str:
    """How often the effects of two ideas predict what both gain."""
    pairs = [pair for design, shown in found if (pair := predicted(design, by_draw(shown, TIME))) is not None]
    if not pairs:
        return ""
    within = sum(not interacts(product, measured) for product, measured in pairs)
    return (
        " The product of the effects of the first two ideas lies within the interval of their joint gain on "
        f"{within} of {len(pairs)} workloads."
    )


def _interactions(found: Sequence[tuple[Design, Results]]) -> Drawn | None:
    """The ideas whose gain alone and with the other one differ; None if there are none."""
    lines = []
    for design, shown in found:
        numbers = by_draw(shown, TIME)
        for idea in design.effects:
            known = [number for pair in design.pairs(idea) if (number := gain(numbers, [pair])) is not None]
            if len(known) > 1 and interacts(known[0], known[-1]):
                lines.append((f"{design.name}, {_workload(shown)}: {idea.name}", known[0], known[-1]))
    if not lines:
        return None
    lines.sort(key=lambda line: line[1].median / line[2].median)
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.8 + 0.17 * len(lines)), layout="constrained")
        axes = drawing.subplots()
        axes.set(xscale="log", xlabel="Gain in time (times)", ylim=(len(lines) - 0.5, -0.5))
        axes.axvline(1, color="#888888", linewidth=0.6, linestyle=":")
        for row, (_, alone, together) in enumerate(lines):
            axes.plot([alone.median, together.median], [row, row], color="#cccccc", linewidth=2, zorder=0)
            axes.plot([alone.median], [row], "o", color="#444444", markerfacecolor="white", markersize=4)
            axes.plot([together.median], [row], "o", color="#444444", markersize=4)
        axes.set_yticks(range(len(lines)), [name for name, _, _ in lines], fontsize=6)
        axes.plot([], [], "o", color="#444444", markerfacecolor="white", markersize=4, label="alone")
        axes.plot([], [], "o", color="#444444", markersize=4, label="with the other idea")
        axes.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False)
        axes.xaxis.set_minor_formatter(NullFormatter())
    less = sum(alone.median > together.median for _, alone, together in lines)
    sentence = (
        f"Where ideas interact: {less} of {len(lines)} gain less with the other idea than alone, the others more."
    )
    return Drawn("ideas-interactions", drawing, sentence, "The gain of ideas alone and with the other idea.")


def _of(everything: Sequence[Results], design: Design) -> list[Results]:
    return [results for prefix in design.prefixes for results in of_question(everything, prefix)]


def _workload(results: Results) -> str:
    return results.figure.id.partition(" on ")[2] or results.figure.experiment


def _rows(design: Design, results: Results) -> Iterable[tuple[str, ...]]:
    seconds, states = by_draw(results, TIME), by_draw(results, "state_peak")
    for idea in design.effects:
        pairs = design.pairs(idea)
        effect, state = gain(seconds, pairs), gain(states, pairs)
        if effect is None:
            continue
        single = [gain(seconds, [pair]) for pair in pairs]
        known = [number for number in single if number is not None]
        alone, together = known[0], known[-1]
        mark = ", interact" if len(known) > 1 and interacts(alone, together) else ""
        yield (
            f"{design.name}, {_workload(results)}",
            idea.name,
            times(effect),
            "–" if state is None else times(state),
            times(alone),
            f"{times(together)}{mark}" if len(known) > 1 else "–",
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
