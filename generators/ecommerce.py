"""Purchases of items by customers."""

from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.base import Columns, Generator
from cepbench.generators.parameters import Rate
from cepbench.generators.randomness import column_random, draw_codes
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, SelectiveParameters, selective_columns

MAX_PRICE = 1000


class ECommerceParameters(SelectiveParameters):
    """Defaults of dissertation 25.1: 50 items, 20 customers, 3k events/s for 3 hours."""

    default_duration = Fraction(3 * 3600)

    rate: Rate = Field(Fraction(3000), description="events per second of the whole stream")
    items: int = Field(50, ge=1, le=10**5, description="items (event types Item0, Item1, ...)")
    customers: int = Field(20, ge=1, le=10**6, description="customers (trend groups)")
    item_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of purchases per item; 0: equal")
    item_rates: Literal["skewed", "random"] = Field(
        "skewed",
        description="skewed: purchases per item by item_skew; random: in proportion to a number drawn from 1 to "
        "items for each item",
    )
    customer_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of purchases per customer; 0: equal")

    @model_validator(mode="after")
    def _check_rates(self) -> "ECommerceParameters":
        if self.item_rates == "random" and self.item_skew:
            raise ValueError("item_rates = random and item_skew exclude each other; give one of them")
        return self


class ECommerce(Generator[ECommerceParameters]):
    """Items that customers buy one after another; every item is an event type.

    Attributes: `customer`, `item` (the number of the type), `price` (uniform 1..1000), and `score`, `bound`
    (`generators.selectivity`).

    Items and customers are drawn independently, as in dissertation 25.1; the price is not in the paper. Rates per item
    that are drawn from 1 to the number of items are those of the code that the authors of Sharon published.
    """

    name = "ecommerce"
    paper = "dissertation 25.1"
    Parameters = ECommerceParameters

    def schema(self) -> Schema:
        """A type per item."""
        attributes = (
            Attribute("customer", Kind.INT),
            Attribute("item", Kind.INT),
            Attribute("price", Kind.INT),
            *SELECTIVE_ATTRIBUTES,
        )
        types = tuple(f"Item{item}" for item in range(self.parameters.items))
        return Schema(types, attributes, self.parameters.time_unit)

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p, n = self.parameters, self.slice_events
        item = self._items(index)
        columns: Columns = {
            "customer": draw_codes(self._random("customer", index), n, p.customers, p.customer_skew),
            "item": item,
            "price": self._random("price", index).integers(1, MAX_PRICE, size=n, dtype=np.int64, endpoint=True),
            **selective_columns(p, index, n),
        }
        return item, columns

    def _items(self, index: int) -> NDArray[np.int64]:
        p, n = self.parameters, self.slice_events
        random = self._random("item", index)
        if p.item_rates == "skewed":
            return draw_codes(random, n, p.items, p.item_skew)
        rates = column_random(p.seed, "item_rates", 0).integers(1, p.items, size=p.items, endpoint=True)
        codes = np.searchsorted(np.cumsum(rates), random.integers(rates.sum(), size=n), side="right")
        return codes.astype(np.int64)
