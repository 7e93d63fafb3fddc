"""The benefit of sharing a burst, and the choice of the queries that share it (Sections 4.1 and 4.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.compilation import inner, kernel
from cepbench.algorithms.trends.hamlet.kernels.bursts import BurstRecord
from cepbench.queries.records import Records


class BenefitCosts(NamedTuple):
    """What the executor does, in units of 15 ns.

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
    """Equation 8, `Shared`; with `search` = log2(g) as Definition 12 has it, or 0 for Definition 11."""
    return sc * k * g * p + b * (search + n * sp)


@kernel
def non_shared_cost(b: float, n: float, k: float, search: float) -> float:
    """Equation 8, `NonShared`."""
    return k * b * (search + n)


@inner
def _cost(classes: Records, burst: BurstRecord, costs: BenefitCosts, paper: bool) -> float:
    """The costs of a burst that the chosen classes share and the others do not.

    Of each class that does not share: by Equation 8, or what it does in a graphlet of its own, by sums and, where it
    has to, by visits. Of those that share: the same of their common graphlet, its snapshots and its end. The formulas
    are in docs/algorithms/hamlet.md, Benefit.
    """
    k, reads, alone, sharing = 0.0, 0.0, 0.0, 0
    visiting, selecting = False, False
    n, b = burst.in_window, float(burst.size)
    search = np.log2(b) if paper else 0.0
    for c in range(len(classes)):
        one = classes[c]
        if one.chosen:
            k += one.active if one.visits and not paper else one.contexts
            reads += one.reads
            sharing += 1
            visiting |= one.visits
            selecting |= one.selects
        elif paper:
            alone += non_shared_cost(float(one.matched), n, one.contexts, search)
        else:
            alone += one.matched * one.reads * costs.read + one.contexts * costs.alone
            if one.visits:
                each = costs.select if one.selects else costs.run
                alone += one.active * one.matched * (costs.event + burst.before * each)
            else:
                alone += one.contexts * one.matched * costs.event
    if sharing == 0:
        return alone
    created = most_created(classes, burst)
    propagated = 1.0 + 0.5 * created + (burst.snapshots if selecting else 0.0)
    if paper:
        return shared_cost(b, n, propagated, 1.0 + created, k, b, reads / max(k, 1.0), search) + alone
    products = 0.0
    for c in range(len(classes)):
        one = classes[c]
        if one.chosen:  # a snapshot at event level has a value for about the events that a class matches
            valued = max(0, min(created, one.matched - burst.size + burst.mixed))
            products += one.contexts * propagated * (one.matched if created == burst.size else valued)
    cost = reads * costs.read + k * (costs.graphlet + created * costs.snapshot)
    cost += products * costs.product + b * propagated * costs.shared_event
    if selecting:
        each = propagated * costs.coefficient
        cost += burst.before * (b * (sharing * costs.test + each) + created * k * (costs.test + each))
    elif visiting:  # those before the graphlet are in its snapshot
        cost += b * b / 2 * propagated * costs.run + k * burst.before * costs.run
        cost += k * burst.snapshots * costs.product
    return cost + alone


@kernel
def choose(classes: Records, burst: BurstRecord, costs: BenefitCosts, paper: bool) -> tuple[float, float]:
    """Chooses the `classes[C]` that share the burst, or none; returns the costs of the best plan that shares, and of
    sharing nothing.

    Level 1 of the search space shares all. Classes that introduce no snapshot stay (Theorem 4.1). The others are tried
    once each, by the snapshots that they introduce, most first: a class leaves if the plan of Level 2 without it
    costs less (Theorem 4.2). What is left is compared with sharing nothing. m + 2 plans for m classes that introduce
    snapshots; queries with the same predicates are one class.
    """
    for c in range(len(classes)):
        classes[c].chosen = False
    nothing = _cost(classes, burst, costs, paper)
    for c in range(len(classes)):
        classes[c].chosen = True
    plan = _cost(classes, burst, costs, paper)
    while True:
        worst, most = -1, np.int64(0)
        for c in range(len(classes)):
            introduced = np.int64(burst.size) if classes[c].separate else classes[c].differs
            if not classes[c].settled and introduced > most:
                worst, most = c, introduced
        if worst < 0:
            break
        classes[worst].settled = True
        classes[worst].chosen = False
        without = _cost(classes, burst, costs, paper)
        if without < plan:
            plan = without
        else:
            classes[worst].chosen = True
    if nothing <= plan:
        for c in range(len(classes)):
            classes[c].chosen = False
    return plan, nothing


@kernel
def stay(classes: Records, burst: BurstRecord, costs: BenefitCosts, paid: float | np.float64) -> float:
    """Lets the classes that would leave shared graphlets share the burst, unless a split has become worth it; returns
    what was `paid` for sharing so far.

    A split takes kept events along. Before that the classes share what costs less without it, until they have paid as
    much as the split takes; bursts that gain by sharing pay back. In the paper a split is free.
    """
    split = 0.0
    for c in range(len(classes)):
        if classes[c].chosen:
            classes[c].leaving = 0.0
        split += classes[c].leaving * costs.split
    if split == 0.0:
        return float(max(0.0, paid - max(0.0, burst.alone - burst.shared)))
    for c in range(len(classes)):
        classes[c].chosen |= classes[c].leaving > 0.0
    paid += _cost(classes, burst, costs, False) - min(burst.shared, burst.alone)
    if paid < split:
        return float(paid)
    for c in range(len(classes)):
        classes[c].chosen &= classes[c].leaving == 0.0
    return 0.0


@kernel
def wait(classes: Records, burst: BurstRecord, costs: BenefitCosts, missed: float | np.float64) -> float:
    """Lets the classes that would join others wait, unless joining makes up for a later split; returns the gain that
    was `missed` so far.

    They wait until they have missed as much as a split of the events that they visit now would take; bursts that lose
    by sharing are deducted. Classes that visit no events of their own need no split.
    """
    split = 0.0
    for c in range(len(classes)):
        if classes[c].chosen and classes[c].visits and classes[c].leaving == 0.0:
            before = max(0, burst.before - burst.size // 2)  # the burst itself, of which it has half, is not their own
            split += classes[c].contexts * before * costs.split
    if split == 0.0:
        return float(max(0.0, missed - max(0.0, burst.shared - burst.alone)))
    for c in range(len(classes)):
        if classes[c].chosen and classes[c].visits and classes[c].leaving == 0.0:
            classes[c].chosen, classes[c].waits = False, True
    missed += _cost(classes, burst, costs, False) - burst.shared
    for c in range(len(classes)):
        classes[c].chosen |= classes[c].waits and missed >= split
    return float(0.0 if missed >= split else missed)


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
