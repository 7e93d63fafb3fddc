"""Hamlet (Poppe et al., SIGMOD 2021): Definition 8 is in `kernels.snapshots`, Equation 8 in `kernels.benefit`.

The loop over bursts is `kernels.stream`, Algorithm 1 for a shared graphlet `kernels.shared`.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.options import Option
from cepbench.algorithms.trends.hamlet.compilation import GRAPHLET
from cepbench.algorithms.trends.hamlet.executor import hamlet_sets
from cepbench.algorithms.trends.hamlet.plan import HamletPlan, plan_of
from cepbench.algorithms.trends.hamlet.sharing import RandomDecisions, Sharing
from cepbench.algorithms.trends.online.granularity import COARSEST, EVENT
from cepbench.algorithms.trends.online.trends import unsupported_under_any
from cepbench.algorithms.trends.snapshots.sets import operator_of_sets
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query

GRANULARITIES = (COARSEST, GRAPHLET, EVENT)
SHARING = ("dynamic", "static", "never", "random")
BENEFITS = ("executor", "paper")
CHOICES = ("queries", "burst")


class Hamlet(Algorithm):
    """Aggregates the trends of all queries online; those with a Kleene sub-pattern E+ in common share bursts of E.

    - `sharing`: `dynamic` decides burst by burst by the benefit of sharing (Section 4), and shares nothing if a stream
      has many keys with few events each (`snapshots.sets`); `static` shares all that can be shared; `never` shares
      nothing: it runs the code of COGRA, or of GRETA at event granularity; `random` shares each burst by all or by
      none, as `seed` draws, to compare costs with those of a model (`details.model_cost`).
    - `granularity`: `graphlet`, as the authors released it: events are kept, an event of a shared graphlet visits those
      before it in the graphlet, and sums replace those of all other graphlets (Equation 5); `event`, as Equation 8
      counts: all events are kept, and visited by later ones; `coarsest`, ours: events that no predicate selects one by
      one are sums.
    - `choice`: `queries` chooses those that share a burst (Section 4.3); by `burst` all that can share it do, or none,
      as in the authors' code.
    - `benefit`: `executor`, the cost of a burst to this executor, or `paper`, Equation 8.
    - `trace`: `none`, or how many decisions each sharable set of a key keeps (`HamletExecutor.trace`); with
      any number, `details` have all decisions added up by size of burst, and the cost of what was decided.

    At the coarsest granularity, for s snapshots that are propagated, u queries times windows, and n live events of E: a
    shared graphlet keeps the running sum of its expressions, so an event costs O(s) and a snapshot O(u s). Where the
    loop has predicates on adjacent events, each event visits its predecessors, O(n s), and a snapshot costs O(u n s). A
    graphlet that is not shared keeps sums per query and window, O(u l) per event for l sums that it reads, or visits
    predecessors, O(u n). Space: O(s u) for values of snapshots, and O(n s) or O(u n) for events that are visited; only
    sums where there are no such predicates. At granularity `graphlet`, an event of a shared graphlet costs O(b s) for b
    events of the graphlet before it, and space is O(n s) or O(u n); all else is as at the coarsest. A decision costs
    O((b + m) c) for a burst of b events and c classes of queries with the same predicates, m of which would introduce
    snapshots.

    Departures from the paper (docs/algorithms/hamlet.md): sums, where the paper visits predecessors; a snapshot at
    the start of each burst; bursts that are cut by panes where a window starts or ends, by time stamps and at 4,096
    events; classes of queries instead of queries.
    """

    name: ClassVar[str] = "hamlet"
    paper: ClassVar[str] = "Poppe et al., SIGMOD 2021, and its technical report"

    def __init__(
        self,
        sharing: str = "dynamic",
        benefit: str = "executor",
        granularity: str = COARSEST,
        choice: str = "queries",
        trace: str = "none",
        seed: str = "1",
    ) -> None:
        option = partial(Option, self.name)
        self.sharing = option("sharing", sharing).among(SHARING)
        self.granularity = option("granularity", granularity).among(GRANULARITIES)
        self.benefit = option("benefit", benefit).among(BENEFITS)
        self.choice = option("choice", choice).among(CHOICES)
        self.trace = option("trace", trace).whole("none") or 0
        self.seed = option("seed", seed).count(0)

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
        decide = RandomDecisions(self.seed) if self.sharing == "random" else None
        whole = self.choice == "burst"
        sharing = Sharing(self.sharing, self.benefit == "paper", whole, decide=decide, traced=self.trace)
        sets = hamlet_sets(plan, sharing)
        weighs_keys = ours and self.sharing == "dynamic"
        return operator_of_sets(plan, sets, plan.alone, self.granularity, weighs_keys=weighs_keys)
