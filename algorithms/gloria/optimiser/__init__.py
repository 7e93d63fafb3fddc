"""The Gloria optimiser (Sections 4-6)."""

from cepbench.algorithms.gloria.optimiser.costs import COSTS, Costs, PaperCosts, rates_of
from cepbench.algorithms.gloria.optimiser.limits import Limits
from cepbench.algorithms.gloria.optimiser.optimiser import OPTIMISERS, Decision, optimise
from cepbench.algorithms.gloria.optimiser.pools import pools_of

__all__ = ["COSTS", "OPTIMISERS", "Costs", "Decision", "Limits", "PaperCosts", "optimise", "pools_of", "rates_of"]
