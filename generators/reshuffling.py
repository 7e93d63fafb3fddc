"""Streams whose statistics change (MCEP, Section 6.2): types exchange their rates repeatedly, or all rates surge."""

from typing import Literal

import numba
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from cepbench.generators.arrival import Arrival, ConstantRate, SurgingRate
from cepbench.generators.popularity import PopularityParameters
from cepbench.generators.randomness import column_random


class ReshufflingParameters(PopularityParameters):
    """Parameters of a stream whose events may exchange their types, and whose rate may surge.

    "Every x events, y types are permuted": x is `reshuffle`, y is `reshuffled`.
    """

    reshuffle: int | None = Field(
        None, ge=1, description="events after which some types exchange their rates; by default types keep them"
    )
    reshuffled: int = Field(5, ge=2, le=100, description="types that do so each time, each with the next one of them")
    reshuffling: Literal["lasting", "passing"] = Field(
        "lasting", description="lasting: exchanges are permanent and accumulate; passing: each until the next one"
    )
    surge: float | None = Field(
        None, gt=1, le=10**4, description="ratio of the rate in the first tenth of each period to that in its rest"
    )
    period: float | None = Field(None, gt=0, le=10**6, description="seconds between surges of the rate")

    @model_validator(mode="after")
    def _check_reshuffling(self) -> "ReshufflingParameters":
        if (self.surge is None) != (self.period is None):
            raise ValueError("surge and period belong together; give both or neither")
        if self.reshuffle is not None and self.reshuffled > self.types:
            raise ValueError(
                f"reshuffled = {self.reshuffled} exceeds the number of types, {self.types}; use fewer, or more types"
            )
        return self

    @property
    def types(self) -> int:
        """The number of event types."""
        return self.popular

    @property
    def arrival(self) -> Arrival:
        """At the rate, with surges or without."""
        steady = ConstantRate(self.rate, self.time_unit, self.block)
        if self.surge is None or self.period is None:
            return steady
        return SurgingRate(steady, self.surge, self.period, self.block)


def reshuffled_types(p: ReshufflingParameters, codes: NDArray[np.int64], index: int) -> NDArray[np.int64]:
    """The types 0..types-1 of the events of slice `index`, by `reshuffle`; int64[n], as `codes` are.

    Each `reshuffle` events, `reshuffled` types are drawn in random order, and each is replaced by the next one, the
    last one by the first, from the first events on. Where exchanges last, a slice does not depend on those of earlier
    slices: all slices but the first one begin with a random permutation of all types, the limit of many exchanges.
    O(n + y n / x) for n events, x = `reshuffle` and y = `reshuffled`.
    """
    if p.reshuffle is None:
        return codes
    lasting = p.reshuffling == "lasting"
    names = np.arange(p.types, dtype=np.int64)
    if lasting and index > 0:
        column_random(p.seed, "reshuffled slice", index).shuffle(names)
    times = -(-len(codes) // p.reshuffle)
    drawn = column_random(p.seed, "reshuffled", index).random((times, p.reshuffled))
    return _exchanged(np.ascontiguousarray(codes, dtype=np.int64), names, drawn, p.reshuffle, lasting)


@numba.njit(cache=True)
def _exchanged(
    codes: NDArray[np.int64], names: NDArray[np.int64], drawn: NDArray[np.float64], every: int, lasting: bool
) -> NDArray[np.int64]:
    """Codes renamed in each block of `every` events: of block k, exchanged as `drawn[k]` says.

    `names`, int64[types], is the name of each code before the first block, and is changed.
    """
    types, count = len(names), drawn.shape[1]
    codes_of = np.empty(types, dtype=np.int64)
    for code in range(types):
        codes_of[names[code]] = code
    pool = np.arange(types)
    chosen = np.empty(count, dtype=np.int64)
    result = np.empty_like(codes)
    for block in range(len(drawn)):
        # A partial shuffle: the first of the pool are random types in random order, regardless of its order before.
        for place in range(count):
            partner = place + int(drawn[block, place] * (types - place))
            pool[place], pool[partner] = pool[partner], pool[place]
            chosen[place] = codes_of[pool[place]]
        for place in range(count):
            names[chosen[place]] = pool[(place + 1) % count]
        for event in range(block * every, min((block + 1) * every, len(codes))):
            result[event] = names[codes[event]]
        for place in range(count):
            if lasting:
                codes_of[names[chosen[place]]] = chosen[place]
            else:
                names[chosen[place]] = pool[place]
    return result
