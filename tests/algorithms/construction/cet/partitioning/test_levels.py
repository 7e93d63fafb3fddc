"""Level search: the fewest graphlets whose balanced plan fits."""

import pytest

from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.search import balanced, highest_level
from tests.algorithms.construction.cet.partitioning.graphs import homogeneous, irregular


@pytest.mark.parametrize(("width", "degree"), [(1, 1), (2, 1), (2, 2), (3, 3)])
@pytest.mark.parametrize("atoms", [1, 2, 5, 8, 13])
def test_the_level_is_the_highest_whose_balanced_plan_fits(atoms: int, width: int, degree: int) -> None:
    """Also in chains, where headers make plans of more graphlets larger."""
    costs = Costs(homogeneous(atoms, width, degree))
    sizes = {level: costs.cost(balanced(costs.atoms, level)).bytes for level in range(1, atoms + 1)}
    for limit in {int(size) + off for size in sizes.values() for off in (-1, 0, 1)}:
        fitting = [level for level, size in sizes.items() if size <= limit]
        found = highest_level(costs, limit)
        assert found.fits == bool(fitting)
        assert not fitting or found.graphlets == fitting[0]


def test_the_plan_of_a_level_that_fits_does_fit() -> None:
    fit = 0
    for seed in range(80):
        costs = Costs(irregular(seed, 6 + seed % 14))
        for limit in range(100, 2000, 150):
            level = highest_level(costs, limit)
            fit += level.fits
            assert level.fits == (costs.cost(balanced(costs.atoms, level.graphlets)).bytes <= limit)
    assert 100 < fit < 80 * 13
