"""The benefit of sharing a burst, Equation 8, and the choice of the queries that share it (Sections 4.1 and 4.3).

`_equation_8` is the paper's cost of a plan, `_executor_cost` that of this executor; `choose` compares plans by either.
`defer_split` and `defer_join` keep the choice from changing with each burst, since a split of graphlets whose
events are visited is expensive here, while the paper's is free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord, ClassRecord
from cepbench.queries.records import Records


class BenefitCosts(NamedTuple):
    """Costs of the executor's work, in units of 15 ns.

    Per query and window, `read`: reading a sum; `event`: an event in a non-shared graphlet, without what it reads;
    `alone`: beginning a non-shared graphlet; `graphlet`: beginning and ending a shared one, without what its snapshot
    reads; `snapshot`: the value of a snapshot at event level, and its part in what the end evaluates; `product`: a
    further product of a coefficient and a value, for another snapshot at event level. `shared_event`: an event in a
    shared graphlet, per snapshot.

    Of events that are visited, `select`: one of the query's own, of which predicates select some; `test`: a shared one,
    for each class of predicates, and `coefficient`: per snapshot, whether it is selected or not. Where none selects,
    `run`: an event, or a coefficient. `split`: taking one along that was shared.

    Equation 8 has none of them: it weighs visits of single events, which this executor avoids at the coarsest
    granularity, and a snapshot costs as much as the whole burst.
    """

    read: float
    event: float
    shared_event: float
    graphlet: float
    alone: float
    snapshot: float
    product: float
    select: float = 0.0
    test: float = 0.0
    coefficient: float = 0.0
    run: float = 0.0
    split: float = 0.0


@kernel
def shared_cost(b: float, n: float, sp: float, sc: float, k: float, g: float, p: float, search: float) -> float:
    """`Shared` of Equation 8: s_c k g p + b (log2(g) + n s_p). A graphlet is a burst here, so that g = b.

    `search` is log2(g) as Definition 12 has it, or 0 for Definition 11.
    """
    return sc * k * g * p + b * (search + n * sp)


@kernel
def non_shared_cost(b: float, n: float, k: float, search: float) -> float:
    """`NonShared` of Equation 8: k b (log2(g) + n)."""
    return k * b * (search + n)


@inner
def _equation_8(classes: Records, burst: BurstRecord) -> float:
    """The cost of a burst by Equation 8: `Shared` of the chosen classes, and `NonShared` of each of the others.

    s_p is estimated as the graphlet's snapshot and half of those that the burst creates, p as the sums that an event
    reads on average.
    """
    n, b = burst.in_window, float(burst.size)
    search, k, reads, cost = np.log2(b), 0.0, 0.0, 0.0
    shares, selects = False, False
    for c in range(len(classes)):
        queries = classes[c]
        if queries.chosen:
            shares = True
            k += queries.contexts
            reads += queries.reads
            selects |= queries.selects
        else:
            cost += non_shared_cost(float(queries.matched), n, queries.contexts, search)
    if not shares:
        return cost
    created = most_created(classes, burst)
    propagated = _propagated(created, selects, burst)
    return shared_cost(b, n, propagated, 1.0 + created, k, b, reads / max(k, 1.0), search) + cost


@inner
def _executor_cost(classes: Records, burst: BurstRecord, costs: BenefitCosts) -> float:
    """The cost of a burst to this executor: that of a common graphlet of the chosen classes, its snapshots and its end,
    and of graphlets of their own of the queries in each of the others, by sums and, where it has to, by visits.

    The formulas are in docs/algorithms/hamlet.md, Benefit.
    """
    k, reads, alone, sharing = 0.0, 0.0, 0.0, 0
    visiting, selecting = False, False
    b = float(burst.size)
    for c in range(len(classes)):
        queries = classes[c]
        if queries.chosen:
            k += queries.active if queries.visits else queries.contexts
            reads += queries.reads
            sharing += 1
            visiting |= queries.visits
            selecting |= queries.selects
            continue
        alone += queries.matched * queries.reads * costs.read + queries.contexts * costs.alone
        if queries.visits:
            visit = costs.select if queries.selects else costs.run
            alone += queries.active * queries.matched * (costs.event + burst.before * visit)
        else:
            alone += queries.contexts * queries.matched * costs.event
    if sharing == 0:
        return alone
    created = most_created(classes, burst)
    propagated = _propagated(created, selecting, burst)
    products = 0.0
    for c in range(len(classes)):
        queries = classes[c]
        if queries.chosen:  # a snapshot at event level has a value for about the events that a class matches
            valued = max(0, min(created, queries.matched - burst.size + burst.mixed))
            products += queries.contexts * propagated * (queries.matched if created == burst.size else valued)
    cost = reads * costs.read + k * (costs.graphlet + created * costs.snapshot)
    cost += products * costs.product + b * propagated * costs.shared_event
    if selecting:
        visit = propagated * costs.coefficient
        cost += burst.before * (b * (sharing * costs.test + visit) + created * k * (costs.test + visit))
    elif burst.within:  # those before the graphlet are in its snapshot
        cost += b * b / 2 * propagated * costs.run
        if visiting:
            cost += k * burst.before * costs.run + k * burst.snapshots * costs.product
    return cost + alone


@inner
def _propagated(created: int, selecting: bool, burst: BurstRecord) -> float:
    """Snapshots that an event of the burst propagates on average, if `created` ones at event level are created evenly
    over the burst; where predicates select events of earlier graphlets, the snapshots of these, too.
    """
    return 1.0 + 0.5 * created + (burst.snapshots if selecting else 0.0)


@inner
def plan_cost(classes: Records, burst: BurstRecord, costs: BenefitCosts, paper: bool) -> float:
    """The cost of a burst that the chosen classes share and the others do not."""
    return _equation_8(classes, burst) if paper else _executor_cost(classes, burst, costs)


@kernel
def choose(classes: Records, burst: BurstRecord, costs: BenefitCosts, paper: bool) -> tuple[float, float]:
    """Chooses the `classes[C]` that share the burst, or none; returns the costs of the best plan that shares, and of
    sharing nothing.

    Level 1 of the search space shares all. Classes that introduce no snapshot stay (Theorem 4.1). The others are tried
    once each, by the snapshots that they introduce, most first: a class leaves if the plan of Level 2 without it
    costs less (Theorem 4.2). The best plan is chosen if its benefit is positive: the cost of sharing nothing minus its
    own. m + 2 plans for m classes that introduce snapshots; queries with the same predicates are one class.
    """
    for c in range(len(classes)):
        classes[c].chosen = False
    non_shared = plan_cost(classes, burst, costs, paper)
    for c in range(len(classes)):
        classes[c].chosen = True
    best_cost = plan_cost(classes, burst, costs, paper)
    while True:
        worst, most_introduced = -1, np.int64(0)
        for c in range(len(classes)):
            introduced = np.int64(burst.size) if classes[c].separate else classes[c].differs
            if not classes[c].settled and introduced > most_introduced:
                worst, most_introduced = c, introduced
        if worst < 0:
            break
        classes[worst].settled = True
        classes[worst].chosen = False
        cost_without = plan_cost(classes, burst, costs, paper)
        if cost_without < best_cost:
            best_cost = cost_without
        else:
            classes[worst].chosen = True
    if non_shared <= best_cost:  # the benefit (Equation 8), their difference, is not positive
        for c in range(len(classes)):
            classes[c].chosen = False
    return best_cost, non_shared


@kernel
def defer_split(classes: Records, burst: BurstRecord, costs: BenefitCosts, loss: float | np.float64) -> float:
    """Hysteresis of splits: classes that would leave shared graphlets share the burst, until sharing has lost as much
    as the split would cost; returns the accumulated `loss`.

    A split copies the kept events of shared graphlets. Gains of bursts that are better shared are deducted.
    """
    split = 0.0
    for c in range(len(classes)):
        if classes[c].chosen:
            classes[c].leaving = 0.0
        split += classes[c].leaving * costs.split
    if split == 0.0:
        return float(max(0.0, loss - max(0.0, burst.alone - burst.shared)))
    for c in range(len(classes)):
        classes[c].chosen |= classes[c].leaving > 0.0
    loss += _executor_cost(classes, burst, costs) - min(burst.shared, burst.alone)
    if loss < split:
        return float(loss)
    for c in range(len(classes)):
        classes[c].chosen &= classes[c].leaving == 0.0
    return 0.0


@kernel
def defer_join(classes: Records, burst: BurstRecord, costs: BenefitCosts, missed: float | np.float64) -> float:
    """Hysteresis of joins: classes that would join a shared graphlet do not, until they have missed as much gain as a
    later split of the events that they visit now would cost; returns the gain `missed` so far.

    Losses of bursts that are worse shared are deducted. Classes that visit no events of their own need no split.
    """
    split = 0.0
    for c in range(len(classes)):
        if _joins(classes[c]):
            before = max(0, burst.before - burst.size // 2)  # the burst itself, of which it has half, is not their own
            split += classes[c].contexts * before * costs.split
    if split == 0.0:
        return float(max(0.0, missed - max(0.0, burst.shared - burst.alone)))
    for c in range(len(classes)):
        if _joins(classes[c]):
            classes[c].chosen, classes[c].deferred = False, True
    missed += _executor_cost(classes, burst, costs) - burst.shared
    for c in range(len(classes)):
        classes[c].chosen |= classes[c].deferred and missed >= split
    return float(0.0 if missed >= split else missed)


@inlined
def _joins(queries: ClassRecord) -> bool:
    """Whether a class is chosen to share that visits events, none of them of shared graphlets."""
    return bool(queries.chosen and queries.visits and queries.leaving == 0.0)


@inner
def most_created(classes: Records, burst: BurstRecord) -> int:
    """Snapshots at event level if the chosen classes share, at most."""
    mixed, differing = burst.mixed, np.int64(0)
    for c in range(len(classes)):
        if not classes[c].chosen:
            mixed -= classes[c].alone
        elif classes[c].separate:
            return burst.size
        else:
            differing += classes[c].differs
    return min(int(mixed), int(differing))
