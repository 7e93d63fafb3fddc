"""The Gloria optimiser (Sections 4-6)."""

from collections.abc import Mapping

from cepbench.algorithms.gloria.optimiser.costs import EventCosts, PaperCosts, rates_of
from cepbench.algorithms.gloria.optimiser.executor_costs import ExecutorCosts
from cepbench.algorithms.gloria.optimiser.limits import SearchLimits
from cepbench.algorithms.gloria.optimiser.optimiser import OPTIMISERS, SharingDecision, optimise
from cepbench.algorithms.gloria.optimiser.pools import pools_of

COSTS: Mapping[str, type[EventCosts]] = {"executor": ExecutorCosts, "paper": PaperCosts}

__all__ = [
    "COSTS",
    "OPTIMISERS",
    "EventCosts",
    "PaperCosts",
    "SearchLimits",
    "SharingDecision",
    "optimise",
    "pools_of",
    "rates_of",
]
