"""Shared graphlets: a burst is propagated once for all queries that share it (Section 3.3, Algorithm 1)."""

from __future__ import annotations

from cepbench.algorithms.hamlet.kernels.alone import begin_and_follow, feed
from cepbench.algorithms.hamlet.kernels.cells import add, append, begin, clear, copy, extend, fits, follows, is_empty
from cepbench.algorithms.hamlet.kernels.products import add_product
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import (
    EDGES,
    EVENT_SNAPSHOTS,
    GRAPHLET_SNAPSHOTS,
    GRAPHLETS,
    NOW,
    OLDEST_GRAPHLET,
    OLDEST_SNAPSHOT,
    OLDEST_STORED,
    OLDEST_VERTEX,
    SNAPSHOTS,
    STORED,
    VISITS,
    GraphletStore,
    Totals,
    Vertices,
)
from cepbench.algorithms.hamlet.kernels.visiting import visit
from cepbench.algorithms.hamlet.kernels.windows import Sizes, note_state
from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import add as unite
from cepbench.algorithms.kernels.cells import clear as empty
from cepbench.algorithms.kernels.cells import copy as take
from cepbench.algorithms.kernels.cells import is_empty as holds_none
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns
from cepbench.queries.tables import Predicates

NOBODY, SOME, ALL = 0, 1, 2


@inner
def propagate_shared(
    g: int,
    first: int,
    stop: int,
    size: int,
    events: KernelEvents,
    program: HamletProgram,
    sizes: Sizes,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
    modular: bool,
) -> None:
    """Builds the graphlet of a burst of group g for the units in `graphlets.share`.

    One snapshot x is created where the graphlet begins; its value is, per query and window, what the events before it,
    and START, let each of its events extend (Equation 5). An event that all queries match, after the same events, has
    an expression over the snapshots so far, the sum of theirs and x. One that only some queries match, or after other
    events than others, is a snapshot of its own (Definition 9).

    O(s) per event for s snapshots, as the sum of the expressions so far is kept; O(n s) if the loop has predicates,
    when the n events before are visited. O(u) per snapshot for u queries times windows, or O(u n s).
    """
    counts, groups = totals.counts, program.groups
    stored = groups.stores[g] and _is_visited(g, program, graphlets)
    loops = _have_predicates(g, program, graphlets)
    selective = _select_events(g, program, graphlets)
    base = counts[SNAPSHOTS]
    oldest = counts[OLDEST_SNAPSHOT] if loops else base
    graphlet = counts[GRAPHLETS]
    for u in range(len(graphlets.share)):
        graphlets.among[graphlet, u] = graphlets.share[u] and groups.of_unit[u] == g
    own = loops and _some_visit_their_own(g, program, totals, vertices, graphlets)
    counts[GRAPHLETS] += 1
    x = _graphlet_snapshot(g, first, events, program, totals, graphlets)
    for s in range(oldest, x + 1):
        clear(graphlets.sums, s)
        clear(graphlets.fresh, s)
    shown = events.time[first]
    kind = events.kind[first]
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] != shown:
            shown = events.time[i]
            for s in range(oldest, counts[SNAPSHOTS]):
                unite(graphlets.sums, s, graphlets.fresh, s)
                empty(graphlets.fresh, s)
        matched = ALL
        if selective:
            matched = _match(
                groups.class_ptr[g], groups.class_ptr[g + 1], graphlets.sharing, groups.sample, program.local,
                events.ints, events.reals, i,
            )  # fmt: skip
        if matched == NOBODY:
            continue
        counts[VISITS] += 1
        alike = matched == ALL and not own
        if alike and loops:
            alike = _alike_before(i, g, oldest, graphlet, events, program, totals, graphlets)
        elif alike:
            for s in range(oldest, counts[SNAPSHOTS]):
                take(graphlets.row, s, graphlets.sums, s)
        if alike:
            begin(graphlets.row, x)
            for s in range(oldest, counts[SNAPSHOTS]):
                if not holds_none(graphlets.row, s):
                    append(graphlets.row, s, program.weights, len(program.members.of) + g, events.ints, events.reals, i)
        else:
            _event_snapshot(g, i, x, oldest, events, program, totals, vertices, graphlets, modular)
        for s in range(oldest, counts[SNAPSHOTS]):
            unite(graphlets.fresh, s, graphlets.row, s)
        if stored:
            _store(i, g, graphlet, oldest, events, totals, graphlets)
    counts[NOW] = shown
    note_state(size, sizes, totals)
    _flush(g, oldest, program, totals, graphlets, modular)
    if not stored:
        counts[SNAPSHOTS] = base
        counts[GRAPHLETS] = graphlet


@inner
def _is_visited(g: int, program: HamletProgram, graphlets: GraphletStore) -> bool:
    """Whether some query that shares visits the graphlet's events later."""
    groups, found = program.groups, False
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        found |= graphlets.share[u] and program.places.kept[groups.position[u]]
    return found


@inner
def _have_predicates(g: int, program: HamletProgram, graphlets: GraphletStore) -> bool:
    """Whether some query that shares has predicates on adjacent events of the graphlet."""
    groups, found = program.groups, False
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        found |= graphlets.share[u] and groups.loop[groups.class_of[u]] != NONE
    return found


@inner
def _select_events(g: int, program: HamletProgram, graphlets: GraphletStore) -> bool:
    """Whether some query that shares has predicates on single events of the graphlet."""
    groups, found = program.groups, False
    for c in range(groups.class_ptr[g], groups.class_ptr[g + 1]):
        p = groups.sample[c]
        found |= graphlets.sharing[c] > 0 and program.local.ptr[p + 1] > program.local.ptr[p]
    return found


@inner
def _some_visit_their_own(
    g: int, program: HamletProgram, totals: Totals, vertices: Vertices, graphlets: GraphletStore
) -> bool:
    """Whether some query that shares has not shared an earlier graphlet, whose events its own new ones may follow."""
    groups, counts, found = program.groups, totals.counts, False
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        if graphlets.share[u] and groups.loop[groups.class_of[u]] != NONE:
            found |= vertices.last[groups.position[u]] >= counts[OLDEST_VERTEX]
            for graphlet in range(counts[OLDEST_GRAPHLET], counts[GRAPHLETS]):
                found |= not graphlets.among[graphlet, u] and _is_of(graphlet, g, program, graphlets)
    return found


@inner
def _is_of(graphlet: int, g: int, program: HamletProgram, graphlets: GraphletStore) -> bool:
    groups, found = program.groups, False
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        found |= graphlets.among[graphlet, u]
    return found


@inner
def _graphlet_snapshot(
    g: int, i: int, events: KernelEvents, program: HamletProgram, totals: Totals, graphlets: GraphletStore
) -> int:
    """Creates the snapshot at graphlet level (Definition 8); returns its number."""
    members, groups, counts = program.members, program.groups, totals.counts
    x = counts[SNAPSHOTS]
    counts[SNAPSHOTS] += 1
    counts[GRAPHLET_SNAPSHOTS] += 1
    graphlets.snapshot_time[x], graphlets.snapshot_group[x] = events.time[i], g
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        p = groups.position[u]
        w = members.windows[members.of[p]]
        span, low, high = members.span[w], totals.low[w], totals.high[w]
        at = x * groups.contexts[0] + groups.context[u]
        for row in range(span):
            clear(graphlets.value, at + row)
        if graphlets.share[u] and low <= high:
            for k in range(high - low + 1):
                clear(totals.reached, k)
            begin_and_follow(i, p, low, high, NONE, events, program, totals)
            for k in range(low, high + 1):
                copy(graphlets.value, at + k % span, totals.reached, k - low)
    return x


@inner
def _match(
    first: int, stop: int, sharing: Ints, sample: Ints, local: Predicates, ints: Ints, reals: Reals, i: int
) -> int:
    """Which of the classes `first..stop` that share match event i: NOBODY, SOME or ALL."""
    yes, no = False, False
    for c in range(first, stop):
        if sharing[c] > 0:
            if fits(local, sample[c], ints, reals, i):
                yes = True
            else:
                no = True
    return NOBODY if not yes else SOME if no else ALL


@inner
def _alike_before(
    i: int,
    g: int,
    oldest: int,
    graphlet: int,
    events: KernelEvents,
    program: HamletProgram,
    totals: Totals,
    graphlets: GraphletStore,
) -> bool:
    """Whether event i follows the same events for all that share; if so `row` is the sum of their expressions."""
    groups, counts = program.groups, totals.counts
    now, most = events.time[i], len(graphlets.snapshot_time)
    for s in range(oldest, counts[SNAPSHOTS]):
        clear(graphlets.row, s)
    v = graphlets.last[g]
    while v >= counts[OLDEST_STORED]:
        if graphlets.time[v] < now:
            yes, no = False, False
            for c in range(groups.class_ptr[g], groups.class_ptr[g + 1]):
                if graphlets.sharing[c] > 0:
                    e = groups.loop[c]
                    if e == NONE:
                        after = graphlets.graphlet[v] == graphlet  # earlier ones are in the snapshot
                    else:
                        after = follows(
                            program.adjacent, e, graphlets.ints, graphlets.reals, v, events.ints, events.reals, i
                        )
                    if after:
                        yes = True
                    else:
                        no = True
            if yes and no:
                return False
            if yes:
                counts[EDGES] += 1
                for s in range(oldest, graphlets.snapshots[v]):
                    add(graphlets.row, s, graphlets.coefficients, v * most + s)
        v = graphlets.before[v]
    return True


@inner
def _event_snapshot(
    g: int,
    i: int,
    x: int,
    oldest: int,
    events: KernelEvents,
    program: HamletProgram,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
    modular: bool,
) -> None:
    """Creates the snapshot at event level (Definition 9), and sets `row` to it."""
    members, groups, counts = program.members, program.groups, totals.counts
    z, contexts = counts[SNAPSHOTS], groups.contexts[0]
    counts[EVENT_SNAPSHOTS] += 1
    graphlets.snapshot_time[z], graphlets.snapshot_group[z] = events.time[i], g
    clear(graphlets.sums, z)
    clear(graphlets.fresh, z)
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        p = groups.position[u]
        w = members.windows[members.of[p]]
        span, low, high = members.span[w], totals.low[w], totals.high[w]
        at = groups.context[u]
        for row in range(span):
            clear(graphlets.value, z * contexts + at + row)
        if not graphlets.share[u] or low > high or not fits(program.local, p, events.ints, events.reals, i):
            continue
        for k in range(low, high + 1):
            copy(totals.reached, k - low, graphlets.value, x * contexts + at + k % span)
        if groups.loop[groups.class_of[u]] == NONE:
            for s in range(x, z):
                for k in range(low, high + 1):
                    value = s * contexts + at + k % span
                    add_product(
                        totals.reached, k - low, graphlets.sums, s, graphlets.value, value, program.weights, p, modular
                    )
        else:
            visit(i, program.self_loop[u], low, high, events, program, totals, vertices, graphlets, modular)
        for k in range(low, high + 1):
            if not is_empty(totals.reached, k - low):
                extend(totals.reached, k - low, program.weights, p, events.ints, events.reals, i)
                copy(graphlets.value, z * contexts + at + k % span, totals.reached, k - low)
    counts[SNAPSHOTS] += 1
    for s in range(oldest, z + 1):
        clear(graphlets.row, s)
    begin(graphlets.row, z)


@inner
def _store(
    i: int, g: int, graphlet: int, oldest: int, events: KernelEvents, totals: Totals, graphlets: GraphletStore
) -> None:
    """Keeps event i with its expression, for those that visit it."""
    counts = totals.counts
    v, most = counts[STORED], len(graphlets.snapshot_time)
    counts[STORED] += 1
    graphlets.time[v], graphlets.before[v], graphlets.graphlet[v] = events.time[i], graphlets.last[g], graphlet
    graphlets.last[g] = v
    graphlets.snapshots[v] = counts[SNAPSHOTS]
    keep_columns(i, events, graphlets.ints, graphlets.reals, v)
    for s in range(counts[OLDEST_SNAPSHOT], oldest):
        clear(graphlets.coefficients, v * most + s)
    for s in range(oldest, counts[SNAPSHOTS]):
        copy(graphlets.coefficients, v * most + s, graphlets.row, s)


@inner
def _flush(
    g: int, oldest: int, program: HamletProgram, totals: Totals, graphlets: GraphletStore, modular: bool
) -> None:
    """Ends the graphlet: its sums, evaluated for each query and window, are what later graphlets see of it."""
    members, groups, places, counts = program.members, program.groups, program.places, totals.counts
    for u in range(groups.unit_ptr[g], groups.unit_ptr[g + 1]):
        if not graphlets.share[u]:
            continue
        p = groups.position[u]
        w = members.windows[members.of[p]]
        span = members.span[w]
        for k in range(totals.low[w], totals.high[w] + 1):
            clear(totals.reached, 0)
            clear(totals.reached, 1)
            for s in range(oldest, counts[SNAPSHOTS]):
                if graphlets.snapshot_group[s] == g:
                    at = s * groups.contexts[0] + groups.context[u] + k % span
                    add_product(totals.reached, 0, graphlets.sums, s, graphlets.value, at, program.weights, p, modular)
                    add_product(totals.reached, 1, graphlets.fresh, s, graphlets.value, at, program.weights, p, modular)
            for f in range(places.feed_ptr[p], places.feed_ptr[p + 1]):
                add(totals.cells, members.slot_base[places.feed[f]] + k % span, totals.reached, 0)
            if places.direct[p]:
                add(totals.final, members.final_base[members.of[p]] + k % span, totals.reached, 0)
            feed(p, k % span, totals.reached, 1, program, totals)
