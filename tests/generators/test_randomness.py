"""The inputs of random columns, and the distribution of their values."""

from itertools import product

import numpy as np
import pytest

from cepbench.generators.randomness import column_random, draw_codes, hashed_uniform, zipf_weights

THINGS = np.arange(200_000)


def test_a_column_is_drawn_anew_for_each_seed_column_and_slice() -> None:
    places = list(product((0, 1), ("price", "score"), (0, 1, 2)))
    drawn = {place: tuple(column_random(*place).random(3)) for place in places}
    assert len(set(drawn.values())) == len(places)
    assert drawn == {place: tuple(column_random(*place).random(3)) for place in reversed(places)}


def test_the_value_of_a_thing_depends_on_seed_and_purpose_only() -> None:
    values = hashed_uniform(7, "cruise", THINGS)
    assert np.array_equal(values[5:9], hashed_uniform(7, "cruise", np.array([5, 6, 7, 8])))
    uniforms = [values, hashed_uniform(8, "cruise", THINGS), hashed_uniform(7, "entry", THINGS), np.roll(values, 1)]
    # Four standard errors of the correlation of independent values.
    assert np.corrcoef(uniforms) == pytest.approx(np.eye(4), abs=4 / len(THINGS) ** 0.5)


def test_values_of_things_are_uniform() -> None:
    counts = np.bincount((hashed_uniform(7, "cruise", THINGS) * 20).astype(np.int64), minlength=20)
    assert counts == pytest.approx(np.full(20, 10_000), abs=500)


def test_zipf_weights_fall_with_the_rank() -> None:
    assert zipf_weights(3, 1.0) == pytest.approx([6 / 11, 3 / 11, 2 / 11])
    assert zipf_weights(3, 2.0) == pytest.approx([36 / 49, 9 / 49, 4 / 49])
    assert zipf_weights(4, 0.0).tolist() == [0.25] * 4


@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_codes_have_their_shares(skew: float) -> None:
    codes = draw_codes(np.random.default_rng(3), 100_000, 5, skew)
    assert np.bincount(codes) / 100_000 == pytest.approx(zipf_weights(5, skew), abs=0.007)
