"""The order of a sweep over all experiments: each system is measured early."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cepbench.experiments.estimate import total_bound
from cepbench.experiments.points import Cell


def first_look(experiments: Sequence[Sequence[Cell]]) -> list[int]:
    """The order, as indexes into `experiments`, where each experiment is given by its cells.

    A greedy set cover comes first: always the experiment that measures most of the systems not measured so far; of
    equals, the one with the lowest upper bound on its time. The other experiments keep their order.
    """
    systems = [_systems(cells) for cells in experiments]
    unseen = set().union(*systems)
    first: list[int] = []
    while unseen:
        chosen = max(
            range(len(experiments)),
            key=lambda place: (len(systems[place] & unseen), -total_bound(experiments[place])),
        )
        first.append(chosen)
        unseen -= systems[chosen]
    return [*first, *(place for place in range(len(experiments)) if place not in first)]


def _systems(cells: Iterable[Cell]) -> set[str]:
    """The systems of these cells: `cet` for `cet[detect=time]`."""
    return {cell.specification.partition("[")[0].strip() for cell in cells}
