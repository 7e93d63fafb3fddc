"""Hamlet (Poppe et al., SIGMOD 2021): Definition 8 is in `kernels.snapshots`, Equation 8 in `kernels.benefit`.

The loop over bursts is `kernels.stream`, Algorithm 1 for a shared graphlet `kernels.shared`.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.options import Option
from cepbench.algorithms.trends.hamlet.executor import hamlet_sets
from cepbench.algorithms.trends.hamlet.plan import HamletPlan, plan_of
from cepbench.algorithms.trends.hamlet.sharing import Sharing
from cepbench.algorithms.trends.online.granularity import COARSEST, GRANULARITIES
from cepbench.algorithms.trends.online.trends import unsupported_under_any
from cepbench.algorithms.trends.snapshots.sets import operator_of_sets
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query

SHARING = ("dynamic", "static", "never")
BENEFITS = ("executor", "paper")


class Hamlet(Algorithm):
    """Aggregates the trends of all queries online; those with a Kleene sub-pattern E+ in common share bursts of E.

    - `sharing`: `dynamic` decides burst by burst by the benefit of sharing (Section 4), and shares nothing if a stream
      has many keys with few events each (`snapshots.sets`); `static` shares all that can be shared; `never` shares
      nothing: it runs the code of COGRA, or of GRETA at event granularity.
    - `granularity`: `event`, the paper's: all events are kept, and visited by later ones; `coarsest`, ours: events that
      no predicate selects one by one are sums.
    - `benefit`: `executor`, the cost of a burst to this executor, or `paper`, Equation 8.
    - `trace`: `none`, or how many decisions each sharable set of a key keeps (`HamletExecutor.trace`); with
      any number, `details` have all decisions added up by size of burst.

    At the coarsest granularity, for s snapshots that are propagated, u queries times windows, and n live events of E: a
    shared graphlet keeps the running sum of its expressions, so an event costs O(s) and a snapshot O(u s). Where the
    loop has predicates on adjacent events, each event visits its predecessors, O(n s), and a snapshot costs O(u n s). A
    graphlet that is not shared keeps sums per query and window, O(u l) per event for l sums that it reads, or visits
    predecessors, O(u n). Space: O(s u) for values of snapshots, and O(n s) or O(u n) for events that are visited; only
    sums where there are no such predicates. A decision costs O((b + m) c) for a burst of b events and c classes of
    queries with the same predicates, m of which would introduce snapshots.

    Departures from the paper (docs/algorithms/hamlet.md): sums, where the paper visits all predecessors; a snapshot at
    the start of each burst; bursts that are cut by panes where a window starts or ends, by time stamps and at 4,096
    events; classes of queries instead of queries.
    """

    name: ClassVar[str] = "hamlet"
    paper: ClassVar[str] = "Poppe et al., SIGMOD 2021, and its technical report"

    def __init__(
        self, sharing: str = "dynamic", benefit: str = "executor", granularity: str = COARSEST, trace: str = "none"
    ) -> None:
        option = partial(Option, self.name)
        self.sharing = option("sharing", sharing).among(SHARING)
        self.granularity = option("granularity", granularity).among(GRANULARITIES)
        self.benefit = option("benefit", benefit).among(BENEFITS)
        self.trace = option("trace", trace).whole("none") or 0

    def unsupported(self, query: Query) -> str | None:
        """Match queries, pairwise predicates, semantics other than skip-till-any-match, as GRETA."""
        return unsupported_under_any("Hamlet", query)

    def plan(self, workload: Workload, statistics: Statistics) -> HamletPlan:
        """Workload analysis: which queries can share what."""
        return plan_of(workload, self.granularity, shares=self.sharing != "never")

    def operator(self, plan: Plan) -> Operator:
        """Decides burst by burst which queries of a set share it; with few events per key perhaps without sharing."""
        assert isinstance(plan, HamletPlan)
        ours = self.benefit == "executor" and self.granularity == COARSEST and not self.trace
        sets = hamlet_sets(plan, Sharing(self.sharing, self.benefit == "paper", traced=self.trace))
        weighs_keys = ours and self.sharing == "dynamic"
        return operator_of_sets(plan, sets, plan.alone, self.granularity, weighs_keys=weighs_keys)
