"""Frequencies of types: some occur more often than others, in the order of their names or in a random one."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.generators.randomness import draw_codes, draw_weighted, hashed_uniform, zipf_weights
from cepbench.generators.selectivity import SelectiveParameters


class PopularityParameters(SelectiveParameters):
    """Parameters of a stream in which types differ in how often they occur.

    The first `hot` types together have the share `hot_share` of all events, and the others the rest; in both parts
    shares fall as 1/rank^skew, with the generator's own parameter for skew.
    """

    hot: int = Field(0, ge=0, le=10**5, description="first types that have hot_share of the events; 0: no such types")
    hot_share: float = Field(0.5, ge=0, le=1, description="share of the events that the hot types have together")
    ranks: Literal["named", "drawn"] = Field(
        "named", description="which type is the most frequent one: named: the first; drawn: any, by the seed"
    )

    @model_validator(mode="after")
    def _check_popularity(self) -> "PopularityParameters":
        if self.hot and self.hot >= self.popular:
            raise ValueError(f"hot = {self.hot} leaves no others of {self.popular} types; use fewer")
        return self

    @property
    def popular(self) -> int:
        """The number of types."""
        raise NotImplementedError


def popular_codes(p: PopularityParameters, random: np.random.Generator, n: int, skew: float) -> NDArray[np.int64]:
    """Draw n independent types 0..popular-1 with the shares of `p` and the Zipf exponent `skew`, int64[n]."""
    if not p.hot and p.ranks == "named":
        return draw_codes(random, n, p.popular, skew)
    return draw_weighted(random, n, popularity(p, skew))


def popularity(p: PopularityParameters, skew: float) -> NDArray[np.float64]:
    """The share of each type, float64[popular]; they sum to 1."""
    if not p.hot:
        return _ranked(p, 0, p.popular, skew)
    hot, others = _ranked(p, 0, p.hot, skew), _ranked(p, p.hot, p.popular, skew)
    return np.concatenate((p.hot_share * hot, (1 - p.hot_share) * others))


def _ranked(p: PopularityParameters, start: int, stop: int, skew: float) -> NDArray[np.float64]:
    """Shares of the types start..stop-1 within them, float64[stop - start]."""
    weights = zipf_weights(stop - start, skew)
    if p.ranks == "named":
        return weights
    drawn = np.argsort(hashed_uniform(p.seed, "rank", np.arange(start, stop, dtype=np.int64)), kind="stable")
    shares = np.empty_like(weights)
    shares[drawn] = weights
    return shares
