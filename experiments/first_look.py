"""The order of a sweep over all experiments: a figure of every system comes first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cepbench.experiments.estimate import total_bound
from cepbench.experiments.points import Cell


def first_look(experiments: Sequence[Sequence[Cell]]) -> list[int]:
    """The order, as places in `experiments`, each of which is given by its cells.

    First the experiment that measures most systems, then always the one that adds most to those, until each system was
    measured; of equals the one with the smallest bound on its time. The others keep their order.
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
    """`cet` of `cet[detect=time]`: variants show the same system."""
    return {cell.specification.partition("[")[0].strip() for cell in cells}
