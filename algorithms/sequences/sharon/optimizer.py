"""The Sharon optimizer: from a workload's sharing candidates to a sharing plan, stage by stage (dissertation 23, 24).

The stages are in `graph` (Algorithms 10, 11, 14 and 15), `search` (Algorithms 12 and 13, and GWMIN) and `benefit`
(Equations 22.1 to 22.11). Each optimizer is a tuple of stages, which are timed; the phases of Figure 25.4 are named
as their stages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from cepbench.algorithms.base import NotEnoughMemory, PlanningTooLong
from cepbench.algorithms.engine.event_sequence import Sequence as EventSequence
from cepbench.algorithms.sequences.plan import Candidate, sharing_candidates
from cepbench.algorithms.sequences.sharon.benefit import BenefitModel
from cepbench.algorithms.sequences.sharon.graph import SharonGraph, construct, expanded_candidates, reduce_graph
from cepbench.algorithms.sequences.sharon.limits import LimitReached, Limits, TimeLimitReached
from cepbench.algorithms.sequences.sharon.search import FoundPlan, find_plan, guaranteed_weight, gwmin, search_all

NO_GRAPH = SharonGraph((), np.empty(0), ())
PHASES = ("graph", "expansion", "reduction", "search")
EXHAUSTIVE = "exhaustive"


@dataclass(frozen=True)
class Decision:
    """The shared candidates, and statistics of the search.

    - `candidates`, `candidates_beneficial`: sharable patterns, and those in the SHARON graph; `options`: vertices of
      the expanded graph; `candidates_pruned`: vertices that the reduction removed, of which `candidates_ridden` are
      conflict-ridden and the others conflict-free.
    - `plans_visited`, `shared_patterns`, `score` of the plan, its cost by the model (`model_cost`), and `fell_back`: 1
      if a limit ended the search.
    - `<phase>_seconds` and `<phase>_bytes_peak`, by phase: time, and bytes of the stored graph and plans;
      `plan_bytes_peak` is the maximum over phases.
    - `pruned_share_peak`: `candidates_pruned` / `options`; `space_pruned_share_peak`: the share of the plans of all
      options that the reduction removes; `graph_share_peak`: the graph's share of the time. The names end in `_peak`
      because shares of several plans cannot be summed.
    """

    shared: tuple[Candidate, ...]
    details: Mapping[str, float]


@dataclass(frozen=True)
class Progress:
    """The result of one stage and input of the next.

    `left` and `conflict_free` are sets of vertices of `graph`; `original` is the graph before expansion; `bytes` is
    the peak of the last stage.
    """

    sequences: Sequence[EventSequence]
    families: Sequence[Hashable]
    model: BenefitModel
    limits: Limits
    candidates: tuple[Candidate, ...] = ()
    original: SharonGraph = NO_GRAPH
    graph: SharonGraph = NO_GRAPH
    left: int = 0
    conflict_free: int = 0
    plan: tuple[Candidate, ...] = ()
    bytes: int = 0
    seed: int = 1
    details: Mapping[str, float] = field(default_factory=dict)

    def details_with(self, **numbers: float) -> Mapping[str, float]:
        """The details, extended by more numbers."""
        return {**self.details, **numbers}


Stage = Callable[[Progress], Progress]


def optimize(
    sequences: Sequence[EventSequence],
    families: Sequence[Hashable],
    model: BenefitModel,
    optimizer: str,
    limits: Limits,
    seed: int = 1,
) -> Decision:
    """The plan of one of `OPTIMIZERS`. Sequences share within their family only; `seed` is that of random plans.

    The Sharon optimizer falls back to GWMIN when it reaches a limit, and reports it. The exhaustive one serves for
    comparison: it raises `PlanningTooLong` or `NotEnoughMemory` instead.
    """
    progress = Progress(sequences, families, model, limits, seed=seed, details=_zeros())
    for phase, stage in OPTIMIZERS[optimizer]:
        started = time.perf_counter()
        try:
            progress = stage(progress)
        except LimitReached as limit:
            if optimizer == EXHAUSTIVE:
                raise _given_up(limit, limits.seconds) from None
            progress = _fall_back(progress)
        spent = {f"{phase}_seconds": time.perf_counter() - started, f"{phase}_bytes_peak": progress.bytes}
        progress = replace(progress, details=progress.details_with(**spent))
        if progress.details["fell_back"]:
            break
    shared = merged(progress.plan, families)
    score = sum(model.benefit(candidate) for candidate in shared)
    unshared = sum(model.not_shared(number) for number in range(len(sequences)))
    numbers = progress.details_with(shared_patterns=len(shared), score=score, model_cost=unshared - score)
    return Decision(shared, {**numbers, **_shares(numbers)})


def find_candidates(progress: Progress) -> Progress:
    """The sharable patterns only."""
    candidates = sharing_candidates(progress.sequences, progress.families)
    return replace(progress, candidates=candidates, details=progress.details_with(candidates=len(candidates)))


def construct_graph(progress: Progress) -> Progress:
    """The SHARON graph of the beneficial candidates (Algorithm 10)."""
    progress = find_candidates(progress)
    benefits = [progress.model.benefit(candidate) for candidate in progress.limits.timed(progress.candidates)]
    graph = construct(progress.candidates, benefits, progress.limits)
    numbers = progress.details_with(candidates_beneficial=len(graph.candidates))
    return replace(progress, original=graph, graph=graph, bytes=graph.bytes, details=numbers)


def expand_graph(progress: Progress) -> Progress:
    """The graph of all options with a benefit (Algorithms 14 and 15)."""
    options = expanded_candidates(progress.graph, progress.limits)
    graph = construct(options, [progress.model.benefit(option) for option in options], progress.limits)
    numbers = progress.details_with(options=len(graph.candidates))
    return replace(progress, graph=graph, left=graph.everything, bytes=graph.bytes, details=numbers)


def reduce_search_space(progress: Progress) -> Progress:
    """The graph without conflict-ridden and conflict-free candidates (Algorithm 11)."""
    graph = progress.graph
    reduction = reduce_graph(graph, guaranteed_weight(graph), progress.limits)
    ridden, free = reduction.conflict_ridden.bit_count(), reduction.conflict_free.bit_count()
    numbers = progress.details_with(candidates_pruned=ridden + free, candidates_ridden=ridden)
    return replace(
        progress, left=reduction.left, conflict_free=reduction.conflict_free, bytes=graph.bytes, details=numbers
    )


def find_optimal_plan(progress: Progress) -> Progress:
    """The sharing plan finder (Algorithms 12 and 13)."""
    outcome = find_plan(progress.graph, progress.left, progress.conflict_free, progress.limits)
    searched = _searched(progress, outcome)
    return _fall_back(searched) if outcome.stopped else searched


def search_all_plans(progress: Progress) -> Progress:
    """The exhaustive search."""
    return _searched(progress, search_all(progress.graph, progress.limits))


def choose_greedily(progress: Progress) -> Progress:
    """GWMIN."""
    graph = progress.graph
    size = 8 * len(graph.candidates) + graph.everything.bit_length() // 4
    numbers = progress.details_with(plans_visited=1)
    return replace(progress, plan=graph.chosen(gwmin(graph)), bytes=size, details=numbers)


def choose_randomly(progress: Progress) -> Progress:
    """A random plan of any benefit: candidates in random order, each for some of its sequences.

    The seed draws the probability of a candidate and of each of its sequences.
    """
    random = Random(progress.seed)
    probability, taken, plan = random.random(), set[tuple[int, int]](), list[Candidate]()
    for candidate in random.sample(progress.candidates, len(progress.candidates)):
        sequences = frozenset(s for s in candidate.sequences if random.random() < probability)
        option = candidate.restricted(sequences)
        if len(sequences) > 1 and taken.isdisjoint(option.places):
            plan.append(option)
            taken |= option.places
    return replace(progress, plan=tuple(plan))


def solve_integer_program(progress: Progress) -> Progress:
    """The best plan over every subset of queries, by an integer program solver; falling back starts the time anew."""
    from cepbench.algorithms.sequences.sharon.integer_program import best_plan  # SciPy takes 0.2 s to import

    solution = best_plan(progress.candidates, progress.model, progress.limits.left)
    searched = replace(progress, plan=solution.plan, bytes=solution.bytes)
    if solution.optimal:
        return searched
    limits = progress.limits
    return _fall_back(construct_graph(replace(searched, limits=Limits(limits.seconds, limits.bytes))))


OPTIMIZERS: Mapping[str, tuple[tuple[str, Stage], ...]] = {
    "sharon": (
        ("graph", construct_graph),
        ("expansion", expand_graph),
        ("reduction", reduce_search_space),
        ("search", find_optimal_plan),
    ),
    "greedy": (("graph", construct_graph), ("search", choose_greedily)),
    EXHAUSTIVE: (("graph", construct_graph), ("expansion", expand_graph), ("search", search_all_plans)),
    "integer": (("graph", find_candidates), ("search", solve_integer_program)),
    "random": (("graph", find_candidates), ("search", choose_randomly)),
    "none": (),
}


def merged(candidates: Iterable[Candidate], families: Sequence[Hashable]) -> tuple[Candidate, ...]:
    """Merges the options of one pattern in a valid plan, so that the pattern is counted only once."""
    alike: dict[Hashable, list[Candidate]] = {}
    for candidate in candidates:
        alike.setdefault((candidate.pattern, families[candidate.occurrences[0][0]]), []).append(candidate)
    return tuple(
        Candidate(parts[0].pattern, tuple(sorted(o for part in parts for o in part.occurrences)))
        for parts in alike.values()
    )


def _searched(progress: Progress, outcome: FoundPlan) -> Progress:
    numbers = progress.details_with(plans_visited=outcome.visited)
    plan = progress.graph.chosen(outcome.plan)
    return replace(progress, plan=plan, bytes=outcome.bytes_peak, details=numbers)


def _fall_back(progress: Progress) -> Progress:
    """The best of the plan found so far and GWMIN's plans on the original and the expanded graph."""
    greedy = [graph.chosen(gwmin(graph)) for graph in (progress.original, progress.graph)]
    plan = max(*greedy, progress.plan, key=lambda plan: sum(map(progress.model.benefit, plan)))
    return replace(progress, plan=plan, details=progress.details_with(fell_back=1))


def _given_up(limit: LimitReached, seconds: float) -> NotEnoughMemory | PlanningTooLong:
    message = f"the exhaustive optimizer needs more than {limit.what}"
    return PlanningTooLong(message, seconds) if isinstance(limit, TimeLimitReached) else NotEnoughMemory(message)


def _shares(numbers: Mapping[str, float]) -> dict[str, float]:
    seconds = sum(numbers[f"{phase}_seconds"] for phase in PHASES)
    return {
        "plan_bytes_peak": max(numbers[f"{phase}_bytes_peak"] for phase in PHASES),
        "pruned_share_peak": numbers["candidates_pruned"] / max(numbers["options"], 1),
        "space_pruned_share_peak": _space_pruned(int(numbers["options"]), int(numbers["candidates_pruned"])),
        "graph_share_peak": numbers["graph_seconds"] / seconds if seconds else 0.0,
    }


def _space_pruned(options: int, pruned: int) -> float:
    """The share of the 2^|V| - 1 plans that leave the search space with `pruned` of the options (Example 23.6)."""
    plans = 1 << options
    return (plans - (plans >> pruned)) / max(plans - 1, 1)


def _zeros() -> dict[str, float]:
    counts = ("candidates", "candidates_beneficial", "options", "candidates_pruned", "candidates_ridden")
    phases = [f"{phase}_{what}" for phase in PHASES for what in ("seconds", "bytes_peak")]
    return dict.fromkeys((*counts, "plans_visited", "fell_back", *phases), 0.0)
