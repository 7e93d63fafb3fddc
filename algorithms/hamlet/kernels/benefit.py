"""The benefit of sharing a burst, and the choice of the queries that share it (Sections 4.1 and 4.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inner, kernel


class BenefitCosts(NamedTuple):
    """What the executor does, in units of adding one count for one query and window.

    `event`: an event in a non-shared graphlet, besides what it reads; `shared_event`: one in a shared graphlet, per
    snapshot; `value`: the value of a graphlet's snapshot and its end, besides what it reads; `product`: a product of a
    coefficient and a value; `visit`: testing an event before.
    """

    event: float
    shared_event: float
    value: float
    product: float
    visit: float


class KnownBurst(NamedTuple):
    """What is locally known of a burst of `size` events b, for C classes of queries that are alike in it.

    - `contexts[C]`: queries times windows k; `reads[C]`: the sums that an event at their positions reads, over all of
      them (k p); `matched[C]`, `differs[C]`, `alone[C]`: events, as `kernels.bursts` tells; `mixed`: events on which
      some class differs from the reference.
    - `separate[C]`: whether each event will be a snapshot if the class shares, since the events before it differ.
    - `before`: events that are visited per event; `in_window`: events n of the type in a window so far, about.
      `snapshots`: those propagated besides the new ones.
    - `visits[C]`: whether the queries of a class visit them.
    """

    size: int
    reference: int
    contexts: Reals
    reads: Reals
    matched: Ints
    differs: Ints
    alone: Ints
    mixed: int
    separate: Flags
    before: int
    in_window: float
    snapshots: int
    visits: Flags


@kernel
def shared_cost(b: float, n: float, sp: float, sc: float, k: float, g: float, p: float, search: float) -> float:
    """Equation 8, `Shared`; with `search` = log2(g) as Definition 12 has it, or 0 for Definition 11."""
    return sc * k * g * p + b * (search + n * sp)


@kernel
def non_shared_cost(b: float, n: float, k: float, search: float) -> float:
    """Equation 8, `NonShared`."""
    return k * b * (search + n)


@inner
def _cost(chosen: Flags, burst: KnownBurst, costs: BenefitCosts, paper: bool) -> float:
    """The costs of a burst that the `chosen` classes share and the others do not."""
    k, reads, alone, sharing = 0.0, 0.0, 0.0, 0
    visiting = False
    n, b = burst.in_window, float(burst.size)
    search = np.log2(b) if paper else 0.0
    for c in range(len(chosen)):
        if chosen[c]:
            k += burst.contexts[c]
            reads += burst.reads[c]
            sharing += 1
            visiting |= burst.visits[c]
        elif paper:
            alone += non_shared_cost(float(burst.matched[c]), n, burst.contexts[c], search)
        else:
            alone += burst.matched[c] * (burst.reads[c] + costs.event * burst.contexts[c])
            if burst.visits[c]:
                alone += burst.matched[c] * burst.before * burst.contexts[c] * costs.visit
    if sharing == 0:
        return alone
    created = _created(chosen, burst)
    propagated = 1.0 + 0.5 * created + (burst.snapshots if visiting else 0.0)
    if paper:
        return shared_cost(b, n, propagated, 1.0 + created, k, b, reads / max(k, 1.0), search) + alone
    cost = reads + costs.value * k + b * propagated * costs.shared_event
    cost += created * k * (1.0 + propagated * costs.product)
    if visiting:
        cost += b * burst.before * (sharing * costs.visit + propagated)
        cost += created * k * burst.before * (costs.visit + propagated)
    return cost + alone


@kernel
def choose(burst: KnownBurst, costs: BenefitCosts, paper: bool, chosen: Flags, known: Flags) -> tuple[float, float]:
    """Sets `chosen[C]` to the classes that share the burst; returns the costs of that plan, and of sharing nothing.

    Level 1 of the search space shares all. Classes that introduce no snapshot stay (Theorem 4.1). The others are looked
    at once each, by the snapshots that they introduce, most first: a class leaves if the plan of Level 2 without it
    costs less (Theorem 4.2). What is left is compared with sharing nothing. m + 2 plans for m classes that introduce
    snapshots; queries with the same predicates are one class. `known[C]` is to work with.
    """
    for c in range(len(chosen)):
        chosen[c], known[c] = True, c == burst.reference
    plan = _cost(chosen, burst, costs, paper)
    while True:
        worst, most = -1, np.int64(0)
        for c in range(len(chosen)):
            introduced = np.int64(burst.size) if burst.separate[c] else burst.differs[c]
            if not known[c] and introduced > most:
                worst, most = c, introduced
        if worst < 0:
            break
        known[worst] = True
        chosen[worst] = False
        without = _cost(chosen, burst, costs, paper)
        if without < plan:
            plan = without
        else:
            chosen[worst] = True
    for c in range(len(chosen)):
        known[c] = False
    nothing = _cost(known, burst, costs, paper)
    if nothing <= plan:
        plan = nothing
        for c in range(len(chosen)):
            chosen[c] = False
    return plan, nothing


@inner
def _created(chosen: Flags, burst: KnownBurst) -> int:
    """Snapshots at event level if these classes share, at most."""
    mixed, differing = int(burst.mixed), 0
    for c in range(len(chosen)):
        if not chosen[c]:
            mixed -= int(burst.alone[c])
        elif burst.separate[c]:
            return burst.size
        else:
            differing += int(burst.differs[c])
    return min(mixed, differing)
