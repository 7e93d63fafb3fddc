"""Extrapolates a cost from prefixes of a stream to the whole stream.

Features that a cost may grow with are known for the whole stream beforehand: the number of events, the sum over events
of powers of how many events of its key the oldest open window holds (`pipeline.occupancy`), and sometimes matches. A
model is a non-negative combination of the number of events and one such feature, fitted by relative error; later
measurements weigh more. The models that fit about as well as the best one make up the prediction: its value is the
median of their predictions, or a lower quantile, and its interval contains all of them. The interval widens with the
distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log2

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

LATER = 0.6
"""The weight of a measurement relative to the next one."""
AS_GOOD = 2.0
ALMOST = 0.05
"""A model fits about as well if its error is at most `AS_GOOD` times the least error, or `ALMOST` above it."""
PER_DOUBLING = 1.06
"""The factor by which the interval widens for each doubling of the events."""
FEW = 3
"""With fewer measurements all models count: growth is anything from linear to that of the steepest feature."""


@dataclass(frozen=True)
class Prediction:
    """A value for the whole stream with its interval. `measured`: the value was measured and not predicted."""

    value: float
    low: float
    high: float
    measured: bool = False


def predicted(
    values: Sequence[float],
    features: Mapping[str, Sequence[float]],
    base: Sequence[float],
    others: Sequence[Sequence[Sequence[float]]] = (),
    middle: float = 0.5,
) -> Prediction:
    """The value at the end of the stream.

    - `values`: the measurement at each prefix, positive.
    - `features`: by name, the value at each of these prefixes and, last, of the whole stream.
    - `base`: the feature of every model; `others`: lists of features that may replace it.
    - `middle`: the quantile of the predictions that is the value, from 0 for the least.

    A model has at most two features, or, if that is more, two fewer than there are measurements.
    """
    measured = np.maximum(np.array(values, np.float64), 1e-9)
    count = len(measured)
    weights: NDArray[np.float64] = LATER ** np.arange(count - 1.0, -1, -1)
    candidates: list[tuple[float, float]] = []
    constructed: float | None = None
    bases = [(base,), *map(tuple, others)]
    grown = [(), *((feature,) for feature in features.values())]
    models = [(*columns, *feature) for columns in bases for feature in grown]
    for model in models:
        if len(model) > max(2, count - 2):
            continue
        table = np.array([list(feature) for feature in model], np.float64).T
        if not np.isfinite(table[:count]).all():
            continue
        if not np.isfinite(table[count]).all():
            candidates.append((_error(table[:count], measured, weights)[0], inf))
            constructed = inf if model[-1] is features.get("matches") else constructed
            continue
        error, factors = _error(table[:count], measured, weights)
        at_last, at_end = float(table[count - 1] @ factors), float(table[count] @ factors)
        if at_last > 0:
            candidates.append((error, float(measured[-1]) * max(1.0, at_end / at_last)))
            if model == (base, features.get("matches")):
                constructed = candidates[-1][1]
    best = min(error for error, _ in candidates)
    good = sorted(end for error, end in candidates if error <= max(AS_GOOD * best, best + ALMOST) or count < FEW)
    value = good[int((len(good) - 1) * middle)]
    if count < FEW and constructed is not None:  # constructing the matches takes at least that time
        value = constructed
    doublings = max(0.0, log2(float(base[count]) / float(base[count - 1]))) if base[count - 1] > 0 else 0.0
    slack = (1 + best) * PER_DOUBLING**doublings
    return Prediction(value, min(good) / slack, max(good) * slack if isfinite(max(good)) else inf)


def _error(
    table: NDArray[np.float64], values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """The relative error of the best combination of features, and its factors."""
    scale = np.maximum(table.max(axis=0), 1e-300)
    rows = table / scale / values[:, None] * weights[:, None]
    factors, distance = nnls(rows, weights)
    return float(distance / np.linalg.norm(weights)), factors / scale
