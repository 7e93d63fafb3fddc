"""The Sharon optimiser (dissertation Chapters 22.4, 23 and 24)."""

from algorithms.sharon.optimiser.benefit import BenefitModel
from algorithms.sharon.optimiser.executor_benefit import ExecutorBenefit
from algorithms.sharon.optimiser.optimiser import OPTIMISERS, Decision, optimise

__all__ = ["OPTIMISERS", "BenefitModel", "Decision", "ExecutorBenefit", "optimise"]
