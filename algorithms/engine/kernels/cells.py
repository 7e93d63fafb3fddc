"""Aggregates of sets of (partial) trends, and the algebra by which every algorithm propagates them.

A cell holds the channels of `queries.aggregates` for one set of trends. Adding cells unites disjoint sets; extending a
cell by an event appends the event to each trend (dissertation Theorem 12.1, Table 18.1). Counts are generic in the
dtype of `ring`: uint64 is the ring modulo 2**64 with a sticky overflow bit per channel; float64 overflows to infinity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Ints, Place, Reals, Size, number
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.queries.aggregates import NO_VALUE, Layout
from cepbench.queries.tables import Tables, Weights

ONE = np.uint64(1)
ZERO = np.uint64(0)
HALF = np.uint64(32)
LOWER = np.uint64(0xFFFFFFFF)


class Words(NamedTuple):
    """The words of a cell: its ring channels come first, real channels from word `real` on, least channels from word
    `least` on, up to `end`.
    """

    real: Size
    least: Size
    end: Size


class Cells(NamedTuple):
    """N cells of W words, and `over[N]`: bit c is set if ring channel c has overflowed.

    Ring channels are read as `counts`, real channels as `reals`, least channels as `ints`, as `words` says: views[N, W]
    of the same memory. Three arrays in its place were as fast (0.97 for COGRA and panes). Overflow bits are apart:
    between counts they double the inner loop of GRETA.
    """

    counts: NDArray[Any]
    reals: Reals
    ints: Ints
    over: NDArray[np.uint64]
    words: Words

    @property
    def planes(self) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        """The memory of the cells: words and overflow bits."""
        return self.counts, self.over

    def on(self, counts: NDArray[Any], over: NDArray[np.uint64]) -> Cells:
        """Cells of the same channels with other memory."""
        return _cells(counts, over, self.words)

    def __reduce__(self) -> Any:
        """Pickles the memory once; the copy has views of its own."""
        return _cells, (*self.planes, self.words)


def _cells(counts: NDArray[Any], over: NDArray[np.uint64], words: Words) -> Cells:
    return Cells(counts, counts.view(np.float64), counts.view(np.int64), over, words)


def empty_cells(count: int, layout: Layout, arithmetic: str) -> Cells:
    """`count` cells of no trend."""
    words = words_of(layout)
    counts = np.zeros((count, int(words.end)), np.uint64 if arithmetic == "modular" else np.float64)
    cells = _cells(counts, np.zeros(count, np.uint64), words)
    cells.ints[:, int(words.least) :] = NO_VALUE
    return cells


def words_of(layout: Layout) -> Words:
    """The words of a cell with these channels."""
    real, least = len(layout.ring), len(layout.ring) + len(layout.real)
    return Words(np.uint64(real), np.uint64(least), np.uint64(least + len(layout.least)))


@inlined
def with_words(cells: Cells, words: Words) -> Cells:
    """The same cells with other `words`, such as words that a kernel knows when it is compiled."""
    return Cells(cells.counts, cells.reals, cells.ints, cells.over, words)


class Weighing(NamedTuple):
    """Which positions count for which channels, as in `queries.tables.Tables`.

    Where queries share expressions, one extra position comes last, for which every channel counts. The coefficients of
    expressions use it.
    """

    ring: Weights
    real: Weights
    least: Weights


def weighing(tables: Tables) -> Weighing:
    """The weights of a query's positions."""
    return Weighing(tables.ring, tables.real, tables.least)


@inlined
def clear(cells: Cells, i: Place) -> None:
    """Makes cell i that of no trend. Word 0 is cleared outside the loop: LLVM would call memset for a few words."""
    cells.ints[i, 0] = 0
    for c in range(ONE, number(cells.words.least)):
        cells.ints[i, c] = 0
    for c in range(number(cells.words.least), number(cells.words.end)):
        cells.ints[i, c] = NO_VALUE
    cells.over[i] = ZERO


@inlined
def copy(cells: Cells, i: Place, other: Cells, j: Place) -> None:
    """Sets cell i to cell j of `other`."""
    for c in range(number(cells.words.end)):
        cells.ints[i, c] = other.ints[j, c]
    cells.over[i] = other.over[j]


@inlined
def add(cells: Cells, i: Place, other: Cells, j: Place) -> None:
    """Adds the trends of cell j of `other` to cell i."""
    over = cells.over[i] | other.over[j]
    for c in range(number(cells.words.real)):
        more = other.counts[j, c]
        total = cells.counts[i, c] + more
        if sum_exceeds(total, more):
            over |= ONE << c
        cells.counts[i, c] = total
    cells.over[i] = over
    for c in range(number(cells.words.real), number(cells.words.least)):
        cells.reals[i, c] += other.reals[j, c]
    for c in range(number(cells.words.least), number(cells.words.end)):
        cells.ints[i, c] = min(cells.ints[i, c], other.ints[j, c])


@inlined
def clear_run(cells: Cells, i: Place, count: Place) -> None:
    """Makes `count` cells those of no trend, from cell i on."""
    for n in range(count):
        clear(cells, i + n)


@inlined
def copy_run(cells: Cells, i: Place, other: Cells, j: Place, count: Place) -> None:
    """Sets `count` cells from cell i on to those of `other` from cell j on."""
    for n in range(count):
        copy(cells, i + n, other, j + n)


@inlined
def add_run(cells: Cells, i: Place, j: Place, count: Place) -> None:
    """Adds `count` cells from cell j on to those from cell i on."""
    for n in range(count):
        add(cells, i + n, cells, j + n)


@inlined
def sum_exceeds(total: Any, more: Any) -> bool:
    """Whether a sum to which `more` was added wrapped at 2**64; never true of non-negative floats."""
    wrapped: bool = total < more
    return wrapped


@inlined
def product_exceeds(a: np.uint64, b: np.uint64) -> bool:
    """Whether a * b >= 2**64; by the products of halves, since a division takes much longer."""
    upper, lower = a >> HALF, a & LOWER
    other_upper, other_lower = b >> HALF, b & LOWER
    middle = upper * other_lower + lower * other_upper + (lower * other_lower >> HALF)
    exceeds: bool = (upper * other_upper | (middle >> HALF)) != ZERO
    return exceeds


@inlined
def times(x: Any, x_over: bool, y: Any, y_over: bool, nothing: Any, modular: bool) -> tuple[Any, bool]:
    """A product, and whether it overflowed. Infinity times 0 is `nothing`, the 0 of the type of counts."""
    if (x == 0 and not x_over) or (y == 0 and not y_over):
        return nothing, False
    over = x_over or y_over or (modular and product_exceeds(np.uint64(x), np.uint64(y)))
    return x * y, over


@inlined
def add_product(to: Cells, i: Place, cells: Cells, s: Place, v: Place, weights: Weighing | None, p: int) -> None:
    """Adds to cell i all pairs of a trend of cell v and a part of cell s, each as one trend, in either order.

    With `weights`, cell s contributes only the channels for which events at position p count.
    """
    if is_empty(cells, s) or is_empty(cells, v):
        return
    factor, count = cells.counts[s, 0], cells.counts[v, 0]
    factor_over, count_over = cells.over[s] & ONE != ZERO, cells.over[v] & ONE != ZERO
    over, nothing, modular = to.over[i], to.counts.dtype.type(0), is_modular(to)
    for c in range(number(to.words.real)):
        bit = ONE << c
        addend, exceeds = times(cells.counts[v, c], cells.over[v] & bit != ZERO, factor, factor_over, nothing, modular)
        total = to.counts[i, c] + addend
        if exceeds or sum_exceeds(total, addend):
            over |= bit
        if c > ZERO and (weights is None or weights.ring.bound[c, p]):
            addend, exceeds = times(
                cells.counts[s, c], cells.over[s] & bit != ZERO, count, count_over, nothing, modular
            )
            total += addend
            if exceeds or sum_exceeds(total, addend):
                over |= bit
        to.counts[i, c] = total
    to.over[i] = over
    for c in range(number(to.words.real), number(to.words.least)):
        to.reals[i, c] += cells.reals[v, c] * float(factor)
        if weights is None or weights.real.bound[c - number(to.words.real), p]:
            to.reals[i, c] += cells.reals[s, c] * float(count)
    for c in range(number(to.words.least), number(to.words.end)):
        to.ints[i, c] = min(to.ints[i, c], cells.ints[v, c])
        if weights is None or weights.least.bound[c - number(to.words.least), p]:
            to.ints[i, c] = min(to.ints[i, c], cells.ints[s, c])


@inlined
def is_empty(cells: Cells, i: Place) -> bool:
    """Whether cell i holds no trend: an overflowed count may be zero and is not empty."""
    empty: bool = cells.counts[i, 0] == 0 and cells.over[i] & ONE == ZERO
    return empty


@inlined
def begin(cells: Cells, i: int) -> None:
    """Adds the trend of no event yet: the caller extends it by a START event."""
    add_ring(cells, i, 0, cells.counts.dtype.type(1))


@inlined
def add_ring(cells: Cells, i: int, c: int, more: Any) -> None:
    """Adds to ring channel c of cell i."""
    total = cells.counts[i, c] + more
    cells.counts[i, c] = total  # before the test: after it, SPASS took 8 % longer for COUNT(*)
    if sum_exceeds(total, more):
        cells.over[i] |= ONE << np.uint64(c)


@inlined
def counts_only(cells: Cells) -> bool:
    """Whether COUNT(*) is the only channel, for which no event of a trend counts."""
    only: bool = cells.ints.shape[1] == 1
    return only


@inlined
def is_modular(cells: Any) -> bool:
    """Whether `cells.counts` wrap at 2**64, known from their dtype."""
    modular: bool = cells.counts.dtype.type(0.5) == cells.counts.dtype.type(0)
    return modular


@inlined
def add_all(cells: Cells, i: int, other: Cells, j: int, step: int, count: int) -> None:
    """Adds `count` cells of `other` to cell i: every `step`-th from cell j on."""
    if not counts_only(cells) or not is_modular(cells):
        for n in range(count):
            add(cells, i, other, j + n * step)
        return
    lower, upper, over = _sum_halves(other.counts, other.over, j, step, count)
    upper += lower >> HALF
    total = cells.counts[i, 0] + (upper << HALF) + (lower & LOWER)
    if upper >> HALF != ZERO or total < cells.counts[i, 0]:
        over |= ONE
    cells.counts[i, 0] = total
    cells.over[i] |= over


@inner
def _sum_halves(
    counts: NDArray[Any], over: NDArray[np.uint64], j: int, step: int, count: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """The lower and upper halves of counts, summed apart, and whether some have overflowed: a sum that may wrap at each
    cell took twice as long. A call, since loops of this size take long to compile, but with few arrays to hand over.
    """
    lower = upper = overflows = ZERO
    for n in range(np.uint64(count)):
        v = np.uint64(j) + n * np.uint64(step)
        addend = np.uint64(counts[v, 0])
        lower += addend & LOWER
        upper += addend >> HALF
        overflows |= over[v]
    return lower, upper, overflows


@inlined
def add_selected(cells: Cells, i: int, other: Cells, j: int, selected: Ints, count: int) -> None:
    """Adds cell j + n of `other` to cell i, for the first `count` n of `selected`.

    They are not contiguous, so sums of halves would not be vectorized.
    """
    if not counts_only(cells):
        for s in range(count):
            add(cells, i, other, j + selected[s])
        return
    total, over, wrapped = cells.counts[i, 0], cells.over[i], False
    for s in range(np.uint64(count)):
        v = np.uint64(j + selected[s])
        more = other.counts[v, 0]
        total += more
        wrapped |= sum_exceeds(total, more)
        over |= other.over[v]
    cells.counts[i, 0] = total
    cells.over[i] = over | np.uint64(wrapped)


@inlined
def add_trend(
    cells: Cells, i: int, weights: Weighing, path: Any, first: int, end: int, position: Ints, ints: Ints, reals: Reals
) -> None:
    """Adds one constructed trend, the events `path[first:end]`, to cell i; event v is bound to `position[v]`.

    Columns are as in `extend`. Channel by channel: event by event took up to twice as long. A slice of
    the path took as long as a step of a search.
    """
    begin(cells, i)
    for c in range(ONE, number(cells.words.real)):
        column = weights.ring.column[c]
        for d in range(first, end):
            v = np.uint64(path[d])
            if weights.ring.bound[c, np.uint64(position[v])]:
                weight = ONE if column < 0 else np.uint64(ints[column, v])
                add_ring(cells, i, c, cells.counts.dtype.type(weight))
    for c in range(number(cells.words.real), number(cells.words.least)):
        n = c - number(cells.words.real)
        for d in range(first, end):
            v = np.uint64(path[d])
            if weights.real.bound[n, np.uint64(position[v])]:
                cells.reals[i, c] += reals[weights.real.column[n], v]
    for c in range(number(cells.words.least), number(cells.words.end)):
        n = c - number(cells.words.least)
        for d in range(first, end):
            v = np.uint64(path[d])
            if weights.least.bound[n, np.uint64(position[v])]:
                cells.ints[i, c] = min(cells.ints[i, c], ints[weights.least.column[n], v])


@inlined
def extend(
    cells: Cells, i: Place, tables: Tables | Weighing, position: Place, ints: Ints, reals: Reals, event: Place
) -> None:
    """Appends an event bound to `position` to every trend of cell i; `ints[I, n]`, `reals[F, n]` are its columns."""
    count = cells.counts[i, 0]
    many = cells.over[i] & ONE
    for c in range(ONE, number(cells.words.real)):
        if not tables.ring.bound[c, position]:
            continue
        more, over = weighted(cells, tables.ring.column[c], ints, event, count, many)
        total = cells.counts[i, c] + more
        if over or sum_exceeds(total, more):
            cells.over[i] |= ONE << c
        cells.counts[i, c] = total
    for c in range(number(cells.words.real), number(cells.words.least)):
        n = c - number(cells.words.real)
        if tables.real.bound[n, position]:
            cells.reals[i, c] += reals[tables.real.column[n], event] * float(count)
    for c in range(number(cells.words.least), number(cells.words.end)):
        n = c - number(cells.words.least)
        if tables.least.bound[n, position]:
            cells.ints[i, c] = min(cells.ints[i, c], ints[tables.least.column[n], event])


@inlined
def weighted(cells: Cells, column: Place, ints: Ints, event: Place, count: Any, many: np.uint64) -> tuple[Any, bool]:
    """What an event adds to a ring channel with its weight in `column` (-1: weight 1), and whether that overflows.

    `count` trends end at the event; `many` is not 0 if that number overflowed.
    """
    more = count
    over = many != ZERO
    if column >= 0:
        weight = np.uint64(ints[column, event])
        more = cells.counts.dtype.type(weight * np.uint64(count))
        large = (weight | np.uint64(count)) >> HALF != ZERO  # mostly not, which is faster to decide
        over = weight != ZERO and (over or (large and product_exceeds(weight, np.uint64(count))))
    return more, over


def cell_bytes(weights: Tables | Weighing) -> int:
    """Bytes of one cell."""
    return 8 * (len(weights.ring.column) + 1 + len(weights.real.column) + len(weights.least.column))
