"""The best plan over all options as an integer program: a variant that is not in the papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.sharon.benefit import BenefitModel

OPTIMAL = 0


@dataclass(frozen=True)
class Solution:
    """A plan, whether it is proven optimal, and the bytes of the constraint matrix."""

    plan: tuple[Candidate, ...]
    optimal: bool
    bytes: int


def best_plan(candidates: Sequence[Candidate], model: BenefitModel, seconds: float) -> Solution:
    """An optimal plan; if none is found within `seconds`, nothing is shared.

    The variable x[p] is 1 if p is counted at all, and y[p, q] <= x[p] is 1 if query q uses it; at least two queries do.
    Of the y whose patterns cover the same place of a query, at most one is 1. The plan maximizes the gains of all y
    minus the costs of all x. Every subset of queries is an option, so the optimum is at least that of the expanded
    SHARON graph, whose options only resolve conflicts. Solved by branch and bound (HiGHS): exponential in the worst
    case.
    """
    candidates = _worthwhile(candidates, model)
    if not candidates:
        return Solution((), True, 0)
    uses = [(x, s) for x, candidate in enumerate(candidates) for s in candidate.sequences]
    costs = [model.pattern_cost(candidate) for candidate in candidates]
    gains = [model.gain(candidates[x], s) for x, s in uses]
    objective = np.array(costs + [-gain for gain in gains])
    matrix, limits = _constraints(candidates, uses)
    solution = milp(
        objective / max(np.abs(objective).max(), 1.0),
        integrality=np.ones(len(objective)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, -np.inf, limits),
        options={"time_limit": max(seconds, 0.0), "mip_rel_gap": 0.0},
    )
    size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    if solution.x is None:
        return Solution((), False, size)
    used: dict[int, set[int]] = {}
    for (x, s), value in zip(uses, solution.x[len(costs) :], strict=True):
        if value > 0.5:
            used.setdefault(x, set()).add(s)
    plan = tuple(candidates[x].restricted(frozenset(queries)) for x, queries in sorted(used.items()))
    return Solution(plan, solution.status == OPTIMAL, size)


def _worthwhile(candidates: Sequence[Candidate], model: BenefitModel) -> list[Candidate]:
    """The candidates, each restricted to the queries that can use it in an optimal plan.

    A use that costs more than all other uses of its candidate gain is in no optimal plan. Such costs are products over
    the parts of a query; with repeated patterns there are many parts, and costs can be 10^8 times the largest gain, so
    that the solver's tolerances would ignore all gains.
    """
    worthwhile = []
    for candidate in candidates:
        gains = {s: model.gain(candidate, s) for s in candidate.sequences}
        gain_of_all = sum(gain for gain in gains.values() if gain > 0) - model.pattern_cost(candidate)
        queries = frozenset(s for s, gain in gains.items() if gain_of_all + min(gain, 0.0) > 0)
        if len(queries) > 1:
            worthwhile.append(candidate.restricted(queries))
    return worthwhile


def _constraints(
    candidates: Sequence[Candidate], uses: Sequence[tuple[int, int]]
) -> tuple[csr_array, NDArray[np.float64]]:
    """The matrix and its bounds: y - x <= 0 per use, 2 x - sum of y <= 0 per candidate, sum of y <= 1 per place."""
    first_place = len(uses) + len(candidates)
    places: dict[tuple[int, int], int] = {}
    entries = [(len(uses) + x, x, 2.0) for x in range(len(candidates))]
    for number, (x, s) in enumerate(uses):
        y = len(candidates) + number
        entries += [(number, y, 1.0), (number, x, -1.0), (len(uses) + x, y, -1.0)]
        for place in candidates[x].restricted(frozenset({s})).places:
            entries.append((first_place + places.setdefault(place, len(places)), y, 1.0))
    rows, columns, values = zip(*entries, strict=True)
    shape = first_place + len(places), len(candidates) + len(uses)
    limits = np.concatenate([np.zeros(first_place), np.ones(len(places))])
    return coo_array((values, (rows, columns)), shape=shape).tocsr(), limits
