"""Are the cost models right? The cost of plans by a model against their counted work and their time.

Per workload, Kendall's tau says whether a model orders plans as their work or time does, and the regret is the time of
the plan that the model prefers over that of the fastest one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import add, sub
from statistics import median

from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogLocator, NullFormatter

from cepbench.metrics.details import DETAILS
from cepbench.metrics.record import Record
from cepbench.metrics.results import Results
from cepbench.metrics.status import Status
from cepbench.plots.atlas.answers import Answer, Drawn, of_question, quantile, span, valid
from cepbench.plots.style import TEXT_WIDTH, label, paper, styles
from cepbench.plots.units import human, plain

TIMED, COUNTED = "atlas-models-", "atlas-counts-"
COST = {"sharon": "model_cost", "hamlet": "model_cost", "gloria": "plan_weight", "mcep": "cost", "cet": "plan_cpu"}
"""The detail that has the cost of a plan by the model."""
WORK = {
    "sharon": ("updates", "combinations"),
    "hamlet": ("edges", "event_visits", "snapshots"),
    "gloria": ("edges", "event_visits", "expression_additions", "evaluations", "snapshots"),
    "mcep": ("comparisons",),
    "cet": ("updates", "traversals"),
}
"""The details that count the work of a plan."""
TRUSTED_TAU, TRUSTED_REGRET = 0.5, 1.1
"""At the median of the workloads: the tau from which on plans are ordered as by their times, and the regret up to which
the preferred plan is about the fastest."""
LEAST = 0.02
"""Seconds that the fastest plan of a workload should take."""
KINDS = {
    "right": "plans are ordered as by their times, and the preferred one is about the fastest",
    "order": "plans are ordered as by their times, but the preferred one is slower",
    "cheap": "the preferred plan is about the fastest, but others are not ordered as by their times",
    "wrong": "plans are not ordered as by their times, and the preferred one is slower",
    "alike": "undecided, since all plans cost the same",
}
MEASURED = (
    "Of each workload several plans ran in one process, in turns: those of the optimizers, and random ones. Work is "
    "counted on smaller workloads, of which there are more, a visit, a snapshot and an addition alike; a model that "
    "weighs them otherwise may follow times and not work. The work of CET is what its model counts in advance, so "
    "that its tau with work is no evidence. Of Hamlet and Gloria, the paper's model was judged where events visit one "
    "another, and ours where sums are kept, which is what each describes, on streams of their own. Tau is "
    "Kendall's, its median over workloads. The regret is the time of the plan with the least cost over that of the "
    "fastest one, without the search for plans. The scatter is the largest time per unit of cost over the least, 1 for "
    "a calibrated model. Plans are said to be ordered as by their times from a tau of "
    f"{TRUSTED_TAU:g}, and a plan to be about the fastest up to a regret of {TRUSTED_REGRET:g}."
)
NAMES = {"paper": "the paper's", "executor": "ours"}


@dataclass(frozen=True)
class Workload:
    """The plans of one workload: their cost by the model, their work, and their time in seconds."""

    costs: tuple[float, ...]
    work: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def regret(self) -> float:
        """The time of the plan with the least cost over that of the fastest one; of equal costs the median plan."""
        least = min(self.costs)
        return median(t for cost, t in zip(self.costs, self.seconds, strict=True) if cost == least) / min(self.seconds)

    def tau(self, numbers: Sequence[float]) -> float | None:
        """Kendall's tau of the costs and these numbers; None where all plans are alike."""
        from scipy.stats import kendalltau  # takes as long to import as all of our drawings

        if len(set(self.costs)) == 1 or len(set(numbers)) == 1:
            return None
        return float(kendalltau(self.costs, numbers).statistic)

    @property
    def scatter(self) -> float:
        """The largest time per unit of cost over the least: 1 if times are proportional to costs."""
        rates = [t / cost for cost, t in zip(self.costs, self.seconds, strict=True) if cost > 0]
        return max(rates) / min(rates) if rates else 1.0


@dataclass(frozen=True)
class Model:
    """The judged model of a system on all of its workloads."""

    system: str
    name: str
    workloads: tuple[Workload, ...]
    counted: tuple[Workload, ...] = ()  # more workloads, whose work is counted and whose times are too short

    @property
    def title(self) -> str:
        """`Hamlet (the paper's)`."""
        return f"{label(self.system)}{f' ({NAMES.get(self.name, self.name)})' if self.name else ''}"

    @property
    def of_work(self) -> list[float]:
        """Tau with counted work, by workload."""
        workloads = self.counted or self.workloads
        return [tau for shown in workloads if (tau := shown.tau(shown.work)) is not None]

    @property
    def of_time(self) -> list[float]:
        """Tau with time, by workload."""
        return [tau for shown in self.workloads if (tau := shown.tau(shown.seconds)) is not None]

    @property
    def regrets(self) -> list[float]:
        """The regret of each workload."""
        return [shown.regret for shown in self.workloads]

    @property
    def kind(self) -> str:
        """How far it may be trusted, one of `KINDS`."""
        if not self.of_time:
            return "alike"
        if median(self.regrets) <= TRUSTED_REGRET:
            return "right" if median(self.of_time) >= TRUSTED_TAU else "cheap"
        return "order" if median(self.of_time) >= TRUSTED_TAU else "wrong"


def answer(everything: Sequence[Results]) -> Answer | None:
    """The page; None without results."""
    counted = {(model.system, model.name): model.workloads for model in models_of(everything, COUNTED)}
    models = [
        replace(model, counted=counted.get((model.system, model.name), ())) for model in models_of(everything, TIMED)
    ]
    if not models:
        return None
    groups = [(kind, [model.title for model in models if model.kind == kind]) for kind in KINDS]
    parts = [f"{', '.join(titles)}: {KINDS[kind]}" for kind, titles in groups if titles]
    return Answer(
        "cost-models",
        "Are the cost models right?",
        f"{'; '.join(parts)}.{_of_work_only(models)}",
        (_taus(models), _regrets(models)),
        (
            "Model",
            "Workloads",
            "Tau with work",
            "Tau with time",
            "Regret, median (times)",
            "Regret, 95th percentile (times)",
            "Scatter",
        ),
        tuple(_row(model) for model in models),
        f"{MEASURED} {_missing(everything)}{_short_times(models)}",
    )


def _of_work_only(models: Sequence[Model]) -> str:
    """The models that order plans as by their work, but not as by their times; empty if none does."""
    only = [
        f"{model.title} (tau {_tau(median(model.of_work))} with work, {_tau(median(model.of_time))} with time)"
        for model in models
        if model.system != "cet" and model.of_work and model.of_time
        if median(model.of_work) >= TRUSTED_TAU > median(model.of_time)
    ]
    return (
        f" Plans are ordered as by their counted work, though not as by their times: {', '.join(only)}." if only else ""
    )


def _missing(everything: Sequence[Results]) -> str:
    """How many cells did not end; empty if all did."""
    records = [r for prefix in (TIMED, COUNTED) for shown in of_question(everything, prefix) for r in shown.records]
    failed = sum(record.status is not Status.OK for record in records)
    return f"{failed} of {len(records)} cells did not end, and are left out. " if failed else ""


def _short_times(models: Sequence[Model]) -> str:
    """How many workloads have plans whose times are too short."""
    fastest = [min(shown.seconds) for model in models for shown in model.workloads]
    long = sum(seconds >= LEAST for seconds in fastest)
    return f"The fastest plan takes {1000 * LEAST:.0f} ms or more on {long} of {len(fastest)} workloads."


def models_of(everything: Sequence[Results], prefix: str) -> list[Model]:
    """The models in the experiments of this name, each with its workloads; times are medians over rounds."""
    rounds: dict[tuple[str, str], dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for results in of_question(everything, prefix):
        system = results.figure.experiment.removeprefix(prefix)
        for record in valid(results):
            rounds[system, str(record.point.get("model", ""))][repr(record.point)].append(record)
    return [
        Model(system, name, tuple(_workload(system, records) for records in workloads.values()))
        for (system, name), workloads in rounds.items()
    ]


def _workload(system: str, rounds: Sequence[Record]) -> Workload:
    first = rounds[0].runs
    times = [[*map(sub, record.runs["service_total"], _searching(record))] for record in rounds]
    seconds = [median(of_plan) for of_plan in zip(*times, strict=True)]
    plans = len(seconds)
    work = [sum(first.get(DETAILS + name, [0.0] * plans)[plan] for name in WORK[system]) for plan in range(plans)]
    return Workload(tuple(first[DETAILS + COST[system]]), tuple(work), tuple(seconds))


def _searching(record: Record) -> list[float]:
    """Seconds in which each plan was searched for while it ran, as CET and Hamlet do."""
    none = [0.0] * len(record.runs["service_total"])
    return [*map(add, *(record.runs.get(DETAILS + name, none) for name in ("partition_seconds", "deciding_seconds")))]


def _row(model: Model) -> tuple[str, ...]:
    work, time = model.of_work, model.of_time
    return (
        model.title,
        f"{len(model.workloads)}, {len(model.counted)} counted" if model.counted else str(len(model.workloads)),
        _tau(median(work)) if work else "–",
        _tau(median(time)) if time else "–",
        plain(median(model.regrets), 3),
        plain(quantile(model.regrets, 0.95), 3),
        plain(median(shown.scatter for shown in model.workloads), 3),
    )


def _taus(models: Sequence[Model]) -> Drawn:
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.8 + 0.26 * len(models)), layout="constrained")
        axes = drawing.subplots(1, 2, sharey=True)
        for place, (axis, head) in enumerate(zip(axes, ("with counted work", "with time"), strict=True)):
            for row, model in enumerate(models):
                taus = model.of_time if place else model.of_work
                color = styles([model.system])[model.system].color
                axis.plot(taus, [row] * len(taus), "|", color=color, alpha=0.6, markersize=8)
                if taus:
                    axis.plot([median(taus)], [row], "o", color=color, markersize=6, markeredgecolor="white", zorder=3)
            axis.set(xlim=(-1.05, 1.05), ylim=(len(models) - 0.5, -0.5), xlabel=f"Kendall's tau {head}")
            axis.axvline(0, color="#888888", linewidth=0.6, linestyle=":")
        axes[0].set_yticks(range(len(models)), [model.title for model in models])
    work = [median(model.of_work) for model in models if model.of_work and model.system != "cet"]
    time = [median(model.of_time) for model in models if model.of_time]
    sentence = (
        f"The medians of tau are {span(work or [0.0], _tau)} with counted work, CET aside, and "
        f"{span(time or [0.0], _tau)} with time. A stroke is a workload, a dot the median."
    )
    return Drawn("cost-models-tau", drawing, sentence, "Kendall's tau of cost with work and with time, by model.")


def _tau(number: float) -> str:
    return plain(number, 2)


def _regrets(models: Sequence[Model]) -> Drawn:
    with paper():
        drawing = Drawing(figsize=(TEXT_WIDTH, 0.8 + 0.26 * len(models)), layout="constrained")
        axes = drawing.subplots()
        for row, model in enumerate(models):
            color = styles([model.system])[model.system].color
            axes.plot(model.regrets, [row] * len(model.regrets), "|", color=color, alpha=0.6, markersize=8)
            axes.plot([median(model.regrets)], [row], "o", color=color, markersize=5)
        axes.set(xscale="log", ylim=(len(models) - 0.5, -0.5), xlabel="Regret: time of the preferred plan (times)")
        axes.set_yticks(range(len(models)), [model.title for model in models])
        axes.axvline(1, color="#888888", linewidth=0.6, linestyle=":")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda number, _: human(number))
        axes.xaxis.set_minor_formatter(NullFormatter())
    worst = max(models, key=lambda model: quantile(model.regrets, 0.95))
    sentence = (
        f"In 95 % of the workloads the preferred plan takes at most {plain(quantile(worst.regrets, 0.95), 3)} times "
        f"the time of the fastest one, with any of the models (the most: {worst.title})."
    )
    return Drawn("cost-models-regret", drawing, sentence, "The regret of each model, a stroke per workload.")
