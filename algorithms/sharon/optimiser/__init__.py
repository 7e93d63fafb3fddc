"""The Sharon optimiser (dissertation Chapters 22.4, 23 and 24)."""

from cepbench.algorithms.sharon.optimiser.benefit import BenefitModel
from cepbench.algorithms.sharon.optimiser.executor_benefit import ExecutorBenefit
from cepbench.algorithms.sharon.optimiser.optimiser import OPTIMISERS, Decision, optimise

__all__ = ["OPTIMISERS", "BenefitModel", "Decision", "ExecutorBenefit", "optimise"]
