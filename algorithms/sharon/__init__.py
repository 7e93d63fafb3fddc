"""Sharon: shared online event sequence aggregation (dissertation Chapters 21-24)."""

from algorithms.sharon.algorithm import Sharon
from algorithms.sharon.plan import Candidate, SharonPlan

__all__ = ["Candidate", "Sharon", "SharonPlan"]
