"""Stock transactions: a stand-in for the NYSE data set of the dissertation, which is no longer published."""

from fractions import Fraction
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.generators.arrival import Arrival
from cepbench.generators.base import Columns, Generator
from cepbench.generators.groups import bridges, burst_numbers, by_group
from cepbench.generators.parameters import Rate
from cepbench.generators.popularity import popular_codes
from cepbench.generators.reshuffling import ReshufflingParameters, reshuffled_types
from cepbench.generators.selectivity import SELECTIVE_ATTRIBUTES, selective_columns

SIDES = ("buy", "sell")
BAR_ATTRIBUTES = tuple(Attribute(name, Kind.FLOAT) for name in ("open", "high", "low", "close"))
MAX_VOLUME = 10_000
LEAST_LEVEL = 100
MAX_TYPES = 10**5


class StockParameters(ReshufflingParameters):
    """Defaults are the data set of dissertation 19.1: 225k transactions of 19 companies in 10 sectors in 12 hours."""

    default_duration = Fraction(12 * 3600)

    rate: Rate = Field(Fraction(225_000, 12 * 3600), description="events per second, replicas included")
    companies: int = Field(19, ge=1, le=10**5, description="companies, without replicas")
    sectors: int = Field(10, ge=1, le=10**5, description="sectors, without replicas")
    replicate: int = Field(0, ge=0, le=1000, description="replicas of each transaction in addition to the original")
    volatility: float = Field(0.001, ge=0, le=0.1, description="standard deviation of the log price per transaction")
    company_skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of transactions per company; 0: equal")
    burst: float = Field(1.0, ge=1, le=10**5, description="mean number of consecutive transactions of one company")
    volumes: Literal["alike", "burst"] = Field(
        "alike",
        description=f"alike: uniform in 1..{MAX_VOLUME}; burst: in 1..v, with v of each burst log-uniform in "
        f"{LEAST_LEVEL}..{MAX_VOLUME}",
    )
    typed_by: Literal["stock", "side", "company"] = Field(
        "stock", description="event types: Stock for all; Buy and Sell; or one per company (C0, C1, ...)"
    )
    bars: bool = Field(False, description="whether an event has open, high, low and close, the price being the close")
    differences: bool = Field(
        False, description="whether an event has its price's difference to the company's last one"
    )

    @model_validator(mode="after")
    def _check_stock(self) -> "StockParameters":
        if self.sectors > self.companies:
            raise ValueError(f"sectors = {self.sectors} exceed companies = {self.companies}; use at most one each")
        if self.simultaneous is not None and self.simultaneous % self.copies:
            raise ValueError(
                f"simultaneous = {self.simultaneous} splits a transaction from its {self.replicate} replicas; "
                f"choose a multiple of {self.copies}"
            )
        if self.typed_by == "company" and self.companies * self.copies > MAX_TYPES:
            raise ValueError(
                f"typed_by = company makes {self.companies * self.copies} types of companies and their replicas; "
                f"at most {MAX_TYPES} are allowed"
            )
        return self

    @property
    def popular(self) -> int:
        """The companies."""
        return self.companies

    @property
    def copies(self) -> int:
        """The original and its replicas."""
        return self.replicate + 1

    @property
    def types(self) -> int:
        """By `typed_by`; replicas have their own companies."""
        return {"stock": 1, "side": len(SIDES), "company": self.companies * self.copies}[self.typed_by]

    @property
    def block(self) -> int:
        """Replicas keep the time stamp of the original."""
        return self.copies if self.simultaneous is None else self.simultaneous


class Stock(Generator[StockParameters]):
    """Stock transactions with price walks per company, and replicas with shifted identifiers.

    Attributes: `company`, `sector`, `transaction` (identifiers), `side` ("buy" or "sell"), `volume` (1..10000), `price`
    (cents are the smallest unit), and `score`, `bound` (`generators.selectivity`). With `bars`, an event covers a
    minute, as in Gloria 8.1: `open` is within two `volatility` of `close`, which equals `price`, and `high` and `low`
    enclose both. With `differences`, `difference` is the price minus the company's previous one, in whole cents, as in
    MCEP 6.1; at a company's first event of a slice, the previous price is that at the start of the slice.

    Replicas follow dissertation 8.1: copy c of a transaction has the same time stamp and values, `company` + c *
    companies, `sector` + c * sectors and its own transaction identifier.

    The log price of a company walks by normal steps of `volatility` per transaction. To make slices independent, the
    walk passes through anchors: its value where slice k begins is a normal value of (seed, company, k) around the
    company's base price, and in between it is a Brownian bridge. The anchors' spread is such that the steps keep their
    distribution; prices therefore return to the base price over slices, and do not diverge in a long stream.

    With `burst`, transactions of a company come in runs of memoryless length, cut where a slice ends; two runs of one
    company may follow each other by chance. With `volumes = burst` their sizes fluctuate from run to run.

    With `reshuffle`, types are exchanged repeatedly, and all attributes stay; with `surge`, the rate fluctuates
    (`generators.reshuffling`).
    """

    name = "stock"
    paper = "dissertation 8.1, 13.1, 19.1; Hamlet 6.1; Gloria 8.1; MCEP 6.1"
    Parameters = StockParameters

    def schema(self) -> Schema:
        """Types by `typed_by`."""
        companies = self.parameters.companies * self.parameters.copies
        types = {
            "stock": ("Stock",),
            "side": ("Buy", "Sell"),
            "company": tuple(f"C{company}" for company in range(companies)),
        }
        attributes = (
            Attribute("company", Kind.INT),
            Attribute("sector", Kind.INT),
            Attribute("transaction", Kind.INT),
            Attribute("side", Kind.STRING),
            Attribute("volume", Kind.INT),
            Attribute("price", Kind.FLOAT),
            *(BAR_ATTRIBUTES if self.parameters.bars else ()),
            *((Attribute("difference", Kind.FLOAT),) if self.parameters.differences else ()),
            *SELECTIVE_ATTRIBUTES,
        )
        return Schema(types[self.parameters.typed_by], attributes, self.parameters.time_unit, SIDES)

    @property
    def _together(self) -> int:
        return self.parameters.copies

    def _arrival(self) -> Arrival:
        return self.parameters.arrival

    def _columns(self, index: int) -> tuple[NDArray[np.int64] | NDArray[np.int32], Columns]:
        p = self.parameters
        n = self.slice_events // p.copies
        bursts = burst_numbers(self._random("burst", index), n, p.burst)
        company = popular_codes(p, self._random("company", index), n, p.company_skew)[bursts]
        columns: Columns = {
            "company": company,
            "sector": company % p.sectors,
            "side": self._random("side", index).integers(2, size=n, dtype=np.int32),
            "volume": self._random("volume", index).integers(1, self._levels(bursts, index), size=n, endpoint=True),
            "price": self._prices(company, index),
            **selective_columns(p, index, n),
        }
        if p.bars:
            columns |= self._bars(columns["price"], index)
        if p.differences:
            columns["difference"] = self._differences(company, columns["price"], index)
        if p.copies > 1:
            copy = np.tile(np.arange(p.copies, dtype=np.int64), n)
            columns = {name: np.repeat(column, p.copies) for name, column in columns.items()}
            columns["company"] += copy * p.companies
            columns["sector"] += copy * p.sectors
        start = index * self.slice_events
        columns["transaction"] = np.arange(start, start + self.slice_events, dtype=np.int64)
        if p.typed_by == "stock":
            return np.zeros(self.slice_events, dtype=np.int32), columns
        return reshuffled_types(p, columns["side" if p.typed_by == "side" else "company"], index), columns

    def _levels(self, bursts: NDArray[np.int64], index: int) -> NDArray[np.int64] | int:
        """The largest volume of each transaction, int64[n], or of all."""
        if self.parameters.volumes == "alike":
            return MAX_VOLUME
        low, high = np.log(LEAST_LEVEL), np.log(MAX_VOLUME)
        levels = np.exp(self._random("level", index).uniform(low, high, len(bursts)))
        return np.floor(levels).astype(np.int64)[bursts]

    def _bars(self, close: NDArray[np.float64], index: int) -> Columns:
        """Open, high, low and close of each transaction, float64[n] each, in whole cents and at least one."""
        spread = 2 * self.parameters.volatility
        begun = close * (1 + self._random("open", index).uniform(-spread, spread, len(close)))
        opened = np.maximum(np.round(begun, 2), 0.01)
        above, below = self._random("high", index).random(len(close)), self._random("low", index).random(len(close))
        top, bottom = np.maximum(opened, close), np.minimum(opened, close)
        high = np.maximum(np.round(top * (1 + spread * above), 2), top)
        low = np.maximum(np.minimum(np.round(bottom * (1 - spread * below), 2), bottom), 0.01)
        return {"open": opened, "high": high, "low": low, "close": close}

    def _prices(self, company: NDArray[np.int64], index: int) -> NDArray[np.float64]:
        p = self.parameters
        steps = self._random("price", index).standard_normal(len(company))
        steps *= p.volatility
        walk = bridges(company, steps, self._anchors(index), self._anchors(index + 1))
        return self._in_cents(walk, company)

    def _in_cents(self, walk: NDArray[np.float64], company: NDArray[np.int64]) -> NDArray[np.float64]:
        """Prices in whole cents, and at least one, of log prices relative to the companies' base prices."""
        base = self._random("base price", 0).uniform(10.0, 100.0, self.parameters.companies)
        prices: NDArray[np.float64] = np.round(np.exp(walk) * base[company], 2)
        return np.maximum(prices, 0.01)

    def _differences(self, company: NDArray[np.int64], price: NDArray[np.float64], index: int) -> NDArray[np.float64]:
        """Each price minus the previous one of the same company, float64[n], in whole cents."""
        everyone = np.arange(self.parameters.companies, dtype=np.int64)
        order, counts = by_group(company, len(everyone))
        before = np.empty_like(price)
        before[order[1:]] = price[order[:-1]]
        begins = (np.cumsum(counts) - counts)[counts > 0]
        before[order[begins]] = self._in_cents(self._anchors(index), everyone)[counts > 0]
        # Prices do not show minus zero.
        return np.round(price - before, 2) + 0.0

    def _anchors(self, index: int) -> NDArray[np.float64]:
        """Log price relative to the base price where slice `index` begins, float64[companies].

        Two independent anchors differ by as much as a free walk of the transactions between them would.
        """
        p = self.parameters
        transactions = self.slice_events / p.copies / p.companies
        spread = p.volatility * sqrt(max(transactions, 1.0) / 2)
        return self._random("anchor", index).normal(0.0, spread, p.companies)
