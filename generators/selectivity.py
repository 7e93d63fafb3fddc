"""Adjacent predicates of a given selectivity: the share of pairs of random events that satisfy them.

A stream of `SelectiveParameters` carries two attributes, independent of each other and of everything else:

- `score`, uniform in [0, 1);
- `bound`, uniform within min(s, 1 - s) around s, for the parameter `selectivity` s.

So `E.score < NEXT(F).bound` holds for two random events with probability E[bound] = s, exactly, for each s in [0, 1],
and neither score nor any other attribute changes with s. The same stream serves all selectivities if the query
varies instead, as the price predicate of dissertation 13.1 does: `f * E.score < NEXT(F).score` holds with probability
1 - f/2 (f <= 1) or 1/(2f) (f >= 1), and `factor` returns the f of a given probability. That predicate is transitive
(along a trend, scores grow by f), the one with `bound` is not.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cepbench.events.schema import Attribute, Kind
from cepbench.generators.errors import GeneratorError
from cepbench.generators.parameters import StreamParameters
from cepbench.generators.randomness import column_random

SELECTIVE_ATTRIBUTES = (Attribute("score", Kind.FLOAT), Attribute("bound", Kind.FLOAT))


class SelectiveParameters(StreamParameters):
    """Parameters of a stream with `score` and `bound`."""

    selectivity: float = Field(0.5, ge=0, le=1, description="probability of E.score < NEXT(E).bound")


def selective_columns(parameters: SelectiveParameters, index: int, n: int) -> dict[str, NDArray[np.float64]]:
    """`score` and `bound` of n events of slice `index`, float64[n] each."""
    s = parameters.selectivity
    width = min(s, 1 - s)
    bound = column_random(parameters.seed, "bound", index).random(n)
    bound *= 2 * width
    bound += s - width
    return {"score": column_random(parameters.seed, "score", index).random(n), "bound": bound}


def factor(selectivity: float) -> float:
    """The f for which `f * E.score < NEXT(F).score` holds with this probability, in (0, 1]."""
    if not 0 < selectivity <= 1:
        raise GeneratorError(f"no factor makes selectivity {selectivity!r}; choose a number > 0 and <= 1")
    return 1 / (2 * selectivity) if selectivity <= 0.5 else 2 * (1 - selectivity)
