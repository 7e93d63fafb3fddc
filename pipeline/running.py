"""Runs the jobs of a prepared workload on batches of events."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Job, Prepared
from cepbench.pipeline.loop import Loop, family_of
from cepbench.pipeline.substreams import RawKey, decode


@dataclass(frozen=True)
class Counts:
    """What a run met: events handed to executors, and sub-streams, summed over jobs."""

    events: int = 0
    substreams: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.events + other.events, self.substreams + other.substreams)


def run_job(
    prepared: Prepared,
    job: Job,
    batches: Iterable[EventBatch],
    answer: AnswerBuilder,
    *,
    pickled: bool = False,
    progress: Callable[[int], None] = lambda more: None,
    executor: Callable[[], Executor] | None = None,
    spent: Callable[[Mapping[RawKey, Executor]], None] = lambda executors: None,
) -> Counts:
    """Runs a job on all events of its sub-streams in time order, one executor per sub-stream; rows go to `answer`.

    With `pickled`, every executor is pickled and goes on as a copy after each batch. `progress` is told of each how
    many events it had. `executor` makes others than those of the job's plan; `spent` gets them when all have finished.
    """

    def emit(key: RawKey, rows: Rows) -> None:
        decoded = decode(prepared.workload.schema, job.partition, key)
        for query, found in rows.items():
            if len(found):
                answer.add(query, decoded, found)

    loop = Loop(family_of(job, executor or partial(prepared.algorithm.executor, job.plan)), emit)
    events = 0
    for batch in batches:
        events += len(batch)
        loop.process(batch)
        if pickled:
            loop.executors.update(pickle.loads(pickle.dumps(loop.executors)))
        progress(len(batch))
    loop.finish()
    spent(loop.executors)
    return Counts(events, len(loop.executors))
