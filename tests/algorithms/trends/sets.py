"""Sharable sets of Hamlet and Gloria on streams of one key."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.compose import Several
from cepbench.algorithms.trends.gloria.executor import gloria_sets
from cepbench.algorithms.trends.gloria.plan import GloriaPlan
from cepbench.algorithms.trends.hamlet.executor import HamletExecutor, hamlet_sets
from cepbench.algorithms.trends.hamlet.plan import HamletPlan
from cepbench.algorithms.trends.hamlet.sharing import DecisionTrace, Sharing
from cepbench.algorithms.trends.snapshots.sets import SetExecutor, Sets, operator_of_sets
from cepbench.queries.records import Records
from cepbench.verification.evaluators import OneKey


def hamlet(plan: HamletPlan, sharing: Sharing) -> OneKey:
    """Executes a plan of Hamlet on one key."""
    sets = hamlet_sets(plan, sharing)
    return OneKey(operator_of_sets(plan, sets, plan.alone, plan.granularity, weighs_keys=False))


def gloria(plan: GloriaPlan) -> OneKey:
    """Executes a plan of Gloria on one key."""
    return OneKey(operator_of_sets(plan, gloria_sets(plan), plan.alone, plan.granularity, weighs_keys=False))


def sets_of(executor: OneKey) -> list[SetExecutor]:
    """The executors of the sharable sets, after the first event."""
    assert isinstance(executor.operator, Several)
    [sets] = [part for part in executor.operator.parts if isinstance(part, Sets)]
    executors = [operator.executors[0] for _, operator in sets.sets]
    return [part for part in executors if isinstance(part, SetExecutor)]


def trace_of(executor: OneKey) -> Records:
    """The newest decisions of each sharable set of Hamlet."""
    sets = [sharable for sharable in sets_of(executor) if isinstance(sharable, HamletExecutor)]
    return np.concatenate([DecisionTrace(0).newest, *(sharable.trace.newest for sharable in sets)])
