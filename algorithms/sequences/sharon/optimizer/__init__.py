"""The Sharon optimizer (dissertation Chapters 22.4, 23 and 24)."""

from cepbench.algorithms.sequences.sharon.optimizer.benefit import BenefitModel
from cepbench.algorithms.sequences.sharon.optimizer.executor_benefit import ExecutorBenefit
from cepbench.algorithms.sequences.sharon.optimizer.optimizer import OPTIMIZERS, Decision, optimize

__all__ = ["OPTIMIZERS", "BenefitModel", "Decision", "ExecutorBenefit", "optimize"]
