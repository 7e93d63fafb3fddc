"""COGRA, at the coarsest granularity (dissertation Chapters 14-18): Algorithm 7 is `trends.online.kernels.sums`.

There, `aggregate_any` is its loop, and `appending.append` its Lines 4 to 6. All else in this folder is not in the
dissertation: panes and slices of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import numpy as np

from cepbench.algorithms.base import KeyedBatch, KeyedOperator, Operator, Plan
from cepbench.algorithms.compose import Chosen, IndependentAlgorithm
from cepbench.algorithms.engine.lanes import OneLane
from cepbench.algorithms.options import Option, WrongOption
from cepbench.algorithms.slices import Slicing
from cepbench.algorithms.trends.cogra.kernels.pane_tables import MOST_NEGATIONS, pane_tables_of
from cepbench.algorithms.trends.cogra.panes import PaneGrained
from cepbench.algorithms.trends.cogra.slices import TimeSlices
from cepbench.algorithms.trends.online.granularity import has_adjacent_predicates, only_single_events
from cepbench.algorithms.trends.online.trends import trend_lanes
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Automaton, Negations
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import Aggregates, Query, Semantics

WINDOWS = ("each", "panes", "auto")
PARALLEL = ("keys", "time")
UNSET = "each or panes"
"""`windows` where it is not given: `panes` for slices of time, otherwise `each`."""

PER_EVENT = 3
"""Cost of an event by panes in addition to its rows, in cell updates (measured: `benchmarks/panes.py`)."""
PER_PRODUCT = 6
"""Cost of a product of two cells, in cell updates."""
PER_CALL = 5000
"""Cost by panes of a key with events in a batch, in cell updates of 3 ns: panes have an executor per key. About 15
microseconds, estimated and not fitted."""


class Cogra(IndependentAlgorithm):
    """Aggregates at the coarsest granularity that is exact (dissertation Chapters 14-18, Table 14.1).

    - skip-till-any-match without predicates on adjacent events: type-grained, O(n l) time, O(l) space per window;
    - with them: mixed-grained, O(n (t + n_e)) time and O(t + n_e) space, for n_e events that predicates need;
    - skip-till-next-match and contiguous: pattern-grained, O(n l) time and O(l) space without predicates on adjacent
      events, O(n u) and O(u) with them, for u events that wait for a successor.

    `online.trends` selects the loop: `online.kernels.sums` (Algorithm 7, and 9 where no event is kept), or
    `online.kernels.visits` (Algorithm 8, and 9 with kept events).

    - `windows`: `each`, the chapters' own: an event updates each window that holds it; `panes`: under
      skip-till-any-match without predicates on adjacent events and negated sequences it updates its pane only, however
      much windows overlap (`panes`); `auto`: either, by its cost for the rate of a key (`panes_gain`).
    - `parallel`: `keys`: workers have keys whole; `time`: on Spark each key is cut by time into at most
      `slices` slices that workers evaluate by panes side by side (`slices.SliceGrained`). Queries that panes cannot
      evaluate are refused, and so are windows of events and any `windows` but `panes`; in one process `time` is
      `windows=panes`.

    Departures: Algorithm 9 undercounts when several partial trends wait, so all of them are kept; negation, which the
    chapters leave out, is kept where a type-grained aggregate can hold it and refused otherwise.
    """

    name: ClassVar[str] = "cogra"
    paper: ClassVar[str] = "Poppe 2018 (dissertation), Chapters 14-18"

    def __init__(self, windows: str = UNSET, parallel: str = "keys", slices: str = "8") -> None:
        self.by_time = Option(self.name, "parallel", parallel).among(PARALLEL) == "time"
        self.slices = Option(self.name, "slices", slices).count(1)
        if windows == UNSET:
            windows = "panes" if self.by_time else "each"
        self.windows = Option(self.name, "windows", windows).among(WINDOWS)
        if self.by_time and self.windows != "panes":
            raise WrongOption(f"cogra[windows={windows}, parallel=time]: slices of time are evaluated by panes only")

    def unsupported(self, query: Query) -> str | None:
        """Match queries, pairwise predicates, and negation that needs the times of aggregated events.

        With `parallel=time` also all that is not evaluated by panes.
        """
        if not isinstance(query.returns, Aggregates):
            return "COGRA aggregates trends without constructing them, so it cannot return matches"
        for automaton in analyse(query).automata:
            if automaton.pairwise:
                return "predicates on events that are not adjacent need constructed trends"
            if reason := unsupported_negation(automaton, query.semantics):
                return reason
            if self.by_time and (reason := not_linear(automaton, query.semantics)):
                return f"slices of time are evaluated by panes, and {reason}"
        if self.by_time and query.window is not None and query.window.within.unit == "events":
            return "a slice of time does not know how many events came before it, so it cannot have windows of events"
        return None

    def slicing(self) -> Slicing | None:
        """Slices of time, if asked for."""
        return TimeSlices(self.slices) if self.by_time else None

    def operator(self, plan: Plan) -> Operator:
        """With `windows=auto`, of each window or of panes, by the first events."""
        if self.windows == "auto":
            each, panes = (Cogra(windows).operator(plan) for windows in ("each", "panes"))
            prefers = partial(prefers_panes, plan.workload)
            return Chosen(plan.workload.schema, each, panes, prefers, "by_panes")
        return super().operator(plan)

    def part_operator(self, plan: Plan, query: CompiledQuery, part: Part, window: Window) -> KeyedOperator:
        """By panes where they are asked for and can evaluate the query; otherwise at the coarsest granularity.

        By panes there is an executor per key: all lanes have the same room, and a key may have hundreds of panes where
        others have one.
        """
        if self.windows == "panes" and not_linear(part.automaton, query.query.semantics) is None:
            return super().part_operator(plan, query, part, window)
        return trend_lanes(query, part, window)

    def part_executor(self, query: CompiledQuery, part: Part, window: Window) -> OneLane:
        """By panes."""
        return OneLane(PaneGrained(query, part, window))


def prefers_panes(workload: Workload, batch: KeyedBatch) -> bool:
    """Whether panes save more on the first events than a call per key costs."""
    return sum(panes_gain(query, batch) for query in workload) > PER_CALL * len(batch.keys)


def panes_gain(query: CompiledQuery, batch: KeyedBatch) -> float:
    """Updates of cells that panes save a query with the events of a batch; 0 where they do not evaluate it.

    An event costs an update per window that holds it, or one per entry (`kernels.pane_tables`) and its share of
    the products that its pane takes. A slide has a pane, or two if windows also end inside of it.
    """
    window = query.window
    if window is None or window.counts_events:
        return 0.0
    pane = window.slide if window.within % window.slide == 0 else window.slide / 2
    parts = [part for part in query.parts if not_linear(part.automaton, query.query.semantics) is None]
    return sum(_gain(part, window.within / window.slide, pane, batch) for part in parts)


def _gain(part: Part, windows: float, pane: float, batch: KeyedBatch) -> float:
    tables = part.tables
    maps = pane_tables_of(tables).maps
    entries, columns = len(maps.stopped), len(maps.after)
    products = 2 * entries * columns**2 + columns * maps.starts * maps.ends
    matched = int(np.count_nonzero((np.diff(tables.binding_ptr) > 0)[batch.events.type]))
    time = batch.events.time
    per_unit = max(matched - 1, 0) / max(int(time.max()) - int(time.min()), 1) / len(batch.keys)  # of time and key
    shared = max(per_unit * pane, 1e-9)
    saved: float = windows - entries - PER_EVENT - PER_PRODUCT * products / shared
    return matched * saved


def not_linear(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why events are no linear maps of cells, or None: their effect depends on more than numbers of trends."""
    if semantics is not Semantics.ANY:
        return "only under skip-till-any-match does an event leave earlier trends as they are"
    if has_adjacent_predicates(automaton):
        return "predicates on adjacent events need the earlier events themselves"
    inner = automaton.negations
    if any(n.negations for n in inner) or not only_single_events(frozenset(range(len(inner))), automaton):
        return "a negated sequence may begin in one pane and end in another"
    if len(inner) > MOST_NEGATIONS:
        return f"a map of a pane notes matches of at most {MOST_NEGATIONS} negations"
    return None


def unsupported_negation(automaton: Automaton, semantics: Semantics) -> str | None:
    """Why a negation cannot be kept at type granularity, or None.

    A type-grained aggregate has forgotten when its events came. A match of a negative sub-pattern may therefore only
    empty it, which is right if the match is one event: all events in the aggregate came before it. A longer match
    leaves those that came after its START event valid. A leading negation needs no aggregate and may be any pattern.
    """
    for negations, where in _emptying(automaton, semantics):
        if not only_single_events(negations, automaton):
            return f"a negated sequence {where} cannot be kept at type granularity; only a single negated event can"
        if negations and semantics is Semantics.NEXT and where == "between events":
            return "negation between events is not kept at pattern granularity under skip-till-next-match"
    return None


def _emptying(automaton: Automaton, semantics: Semantics) -> Iterator[tuple[Negations, str]]:
    if semantics is not Semantics.CONTIGUOUS:  # nothing can lie between contiguous events
        for t in automaton.transitions:
            yield t.negations, "between events"
    for p in automaton.positions:
        yield p.end or frozenset(), "at the end of the pattern"
