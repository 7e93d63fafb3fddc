import numpy as np
import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.selectivity import factor
from tests.generators.streams import stream


@pytest.mark.parametrize("selectivity", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_factor_of_the_transitive_predicate(selectivity: float) -> None:
    score = stream("uniform", events=200_000).columns["score"].astype(float)
    share = np.mean(factor(selectivity) * score[:-1] < score[1:])
    assert share == pytest.approx(selectivity, abs=4 * 0.5 / 200_000**0.5)


@pytest.mark.parametrize("selectivity", [0, -0.1, 1.1, float("nan")])
def test_impossible_selectivities_are_refused(selectivity: float) -> None:
    with pytest.raises(GeneratorError, match="choose a number > 0 and <= 1"):
        factor(selectivity)
