"""Non-shared graphlets: each query computes its own aggregates of an event, window by window (Section 3.2)."""

from __future__ import annotations

from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import HamletState
from cepbench.algorithms.hamlet.kernels.visiting import visit_all
from cepbench.algorithms.kernels.arrays import Flags
from cepbench.algorithms.kernels.cells import counts_only
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.alone import deliver, reach
from cepbench.algorithms.snapshots.kernels.cells import append_run, fits, fits_class
from cepbench.algorithms.snapshots.kernels.windows import commit


@inner
def propagate_alone(
    first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState,
    modular: bool,
) -> None:  # fmt: skip
    """Inserts a burst into a graphlet of each position that does not share it (Equations 1-3).

    O(l) per event and window for l transitions into its position, whose sums are kept; O(n) for one that is visited.
    """
    template, totals, counts = program.template, state.totals, state.totals.counts[0]
    kind = events.kind[first]
    bound, only = template.kind[kind], counts_only(totals.cells)
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] > counts.now:
            commit(events.negated[i], template, totals)
            counts.now = events.time[i]
        for b in range(bound.binding, bound.binding_end):
            p = template.lists[b]
            position = template.position[p]
            if position.unit != NONE and state.graphlets.unit[position.unit].now:
                continue
            if position.selective and not matches_alone(i, p, events, matches, program):
                continue
            low, high = totals.open[position.window].low, totals.open[position.window].high
            if low > high:
                continue
            counts.visits += 1
            reach(i, p, 0, low, high, events, template, totals, only)
            for e in range(position.enter, position.enter_end):
                if template.transition[e].visited:
                    visit_all(i, e, low, high, events, program, state, modular)
            append_run(totals.cells, 0, high - low + 1, program.weights, p, events.ints, events.reals, i)
            deliver(i, p, 0, low, high, False, events, template, totals, state.vertices, only)


@inner
def matches_alone(i: int, p: int, events: KernelEvents, matches: Flags, program: HamletProgram) -> bool:
    """Whether event i passes the local predicates of a position."""
    unit = program.template.position[p].unit
    if unit == NONE:
        return fits(program.predicates, p, events.ints, events.reals, i)
    c = program.groups.unit[unit].alike
    return fits_class(matches, c, program.predicates, p, events.ints, events.reals, i)
