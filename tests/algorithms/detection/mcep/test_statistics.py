"""The distance of measured selectivities from the true ones."""

import pytest

from cepbench.algorithms.detection.mcep.planning.selectivities import SampledStatistics, Selection, Selectivities
from cepbench.events.statistics import Statistics
from cepbench.queries.model import Op
from tests.algorithms.detection.mcep.planning.workloads import alone, compared, local, pair

RATES = {"few": 2.0, "many": 50.0, "rare": 0.05}
"""Per second of ten."""

FILTER = local("x", 1, Op.GT, 3)
LESS = compared("x", 1, Op.LT, "x", 1)


@pytest.mark.parametrize(
    ("condition", "of_events"),
    [
        (alone("few", FILTER), 1 / 20),
        (alone("many", FILTER), 1 / 100),  # 500 events, of which 100 are measured on
        (alone("rare", FILTER), 1),
        (alone("absent", FILTER), 1),
        (pair("few", "many", LESS), 1 / 20 + 1 / 100),
        (pair("rare", "few", LESS), 1 + 1 / 20),
    ],
)
def test_the_variance_is_that_of_a_share_of_the_events_of_either_type(condition: Selection, of_events: float) -> None:
    sampled = SampledStatistics(Statistics(500, 10, RATES), Selectivities({condition: 0.2}), events_per_type=100)
    assert sampled.variance(condition) == pytest.approx(0.2 * 0.8 * of_events)
