"""The Gloria optimizer (Sections 4-6)."""

from collections.abc import Mapping

from cepbench.algorithms.gloria.optimizer.costs import EventCosts, PaperCosts, rates_of
from cepbench.algorithms.gloria.optimizer.executor_costs import ExecutorCosts
from cepbench.algorithms.gloria.optimizer.limits import SearchLimits
from cepbench.algorithms.gloria.optimizer.optimizer import OPTIMIZERS, SharingDecision, optimize
from cepbench.algorithms.gloria.optimizer.pools import pools_of

COSTS: Mapping[str, type[EventCosts]] = {"executor": ExecutorCosts, "paper": PaperCosts}

__all__ = [
    "COSTS",
    "OPTIMIZERS",
    "EventCosts",
    "PaperCosts",
    "SearchLimits",
    "SharingDecision",
    "optimize",
    "pools_of",
    "rates_of",
]
