"""Runs the jobs of a prepared workload on batches of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Job, Prepared
from cepbench.pipeline.loop import Loop, into


@dataclass(frozen=True)
class Counts:
    """Counts of a run: events passed to operators, and keys, summed over jobs."""

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
) -> Counts:
    """Runs a job on all events of its keys in time order; rows go to `answer`. Otherwise as `run`."""
    loop = Loop(job, prepared.algorithm.operator(job.plan), into(answer))
    return run(loop, batches, pickled=pickled, progress=progress)


def run(
    loop: Loop,
    batches: Iterable[EventBatch],
    *,
    pickled: bool = False,
    progress: Callable[[int], None] = lambda more: None,
) -> Counts:
    """Passes all batches to a loop, and ends it.

    With `pickled`, the operator is pickled and replaced by its copy after each batch. `progress` gets the number of
    events of each batch.
    """
    events = 0
    for batch, last in _with_last(batches):
        events += len(batch)
        loop.process(batch, last and not pickled)
        if pickled:
            loop.pickled()
        progress(len(batch))
    loop.finish()
    return Counts(events, len(loop.keys))


def _with_last(batches: Iterable[EventBatch]) -> Iterator[tuple[EventBatch, bool]]:
    """The batches, each with whether it is the last one."""
    held: EventBatch | None = None
    for batch in batches:
        if held is not None:
            yield held, False
        held = batch
    if held is not None:
        yield held, True
