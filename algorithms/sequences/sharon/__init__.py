"""Sharon: shared online event sequence aggregation (dissertation Chapters 21-24)."""

from cepbench.algorithms.sequences.candidates import Candidate
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.algorithms.sequences.sharon.algorithm import Sharon

__all__ = ["Candidate", "SharingPlan", "Sharon"]
