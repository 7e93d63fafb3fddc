import numpy as np
import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.randomness import column_random
from cepbench.generators.registry import from_spec
from tests.generators.streams import stream


def test_defaults_of_the_dissertation() -> None:
    generator = from_spec("ecommerce", {})
    assert generator.events() == 3000 * 3 * 3600
    batch = stream("ecommerce", duration=100)
    assert set(np.bincount(batch.time).tolist()) == {3000}
    item, customer, price = (batch.columns[name].astype(np.int64) for name in ("item", "customer", "price"))
    assert np.bincount(item) / len(batch) == pytest.approx(np.full(50, 1 / 50), abs=0.002)
    assert np.bincount(customer) / len(batch) == pytest.approx(np.full(20, 1 / 20), abs=0.003)
    assert (price.min(), price.max()) == (1, 1000)


def test_items_are_types() -> None:
    batch = stream("ecommerce", events=1000, items=7)
    assert batch.schema.types == tuple(f"Item{item}" for item in range(7))
    assert np.array_equal(batch.type, batch.columns["item"])


def test_items_and_customers_are_independent() -> None:
    batch = stream("ecommerce", events=200_000, items=5, customers=4)
    pairs = batch.columns["item"].astype(np.int64) * 4 + batch.columns["customer"].astype(np.int64)
    assert np.bincount(pairs) / len(batch) == pytest.approx(np.full(20, 1 / 20), abs=0.003)


def test_skews() -> None:
    batch = stream("ecommerce", events=100_000, item_skew=1, customer_skew=2)
    items, customers = (np.bincount(batch.columns[name].astype(np.int64)) for name in ("item", "customer"))
    assert items[0] / items[1] == pytest.approx(2, rel=0.05)
    assert customers[0] / customers[1] == pytest.approx(4, rel=0.05)


def test_random_rates_are_proportional_to_numbers_from_one_to_the_items() -> None:
    batch = stream("ecommerce", events=400_000, items=20, item_rates="random")
    shares = np.bincount(batch.columns["item"].astype(np.int64), minlength=20) / len(batch)
    rates = column_random(0, "item_rates", 0).integers(1, 20, size=20, endpoint=True)
    assert len(set(rates.tolist())) > 5
    assert shares == pytest.approx(rates / rates.sum(), abs=0.003)


def test_two_kinds_of_rates_exclude_each_other() -> None:
    with pytest.raises(GeneratorError, match="exclude each other"):
        from_spec("ecommerce", {"item_rates": "random", "item_skew": 1})
