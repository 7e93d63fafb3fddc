"""Runs the jobs of a prepared workload on batches of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Executor
from cepbench.algorithms.rows import PooledRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Job, Prepared
from cepbench.pipeline.loop import Family, Loop
from cepbench.pipeline.pooled_loop import Numbering, PoolFamily, PoolLoop, fitting_family
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
    family: Family | None = None,
    spent: Callable[[RawKey, Executor], None] = lambda key, executor: None,
) -> Counts:
    """Runs a job on all events of its sub-streams in time order; rows go to `answer`.

    By a pool where the algorithm has one for the job, else with an executor per sub-stream; `family` says otherwise.
    With `pickled`, either is pickled and goes on as a copy after each batch. `progress` is told of each how many events
    it had. `spent` gets the executor of each sub-stream, if it has one, when it has finished. Sub-streams of the last
    batch are fed and finished one after another.
    """

    def emit(key: RawKey, rows: Rows) -> None:
        decoded = decode(prepared.workload.schema, job.partition, key)
        for query, found in rows.items():
            if len(found):
                answer.add(query, decoded, found)

    def emit_many(numbering: Numbering, rows: PooledRows) -> None:
        for query, found in rows.items():
            answer.add_many(query, numbering.decoded, found)

    family = family or fitting_family(job, prepared.algorithm)
    loop = PoolLoop(family, emit_many) if isinstance(family, PoolFamily) else Loop(family, emit)
    events = 0
    finished = False
    for batch, last in _with_last(batches):
        events += len(batch)
        if last and isinstance(loop, Loop) and not pickled:
            loop.finish_with(batch, spent)
            finished = True
        else:
            loop.process(batch)
            if pickled:
                loop.pickled()
        progress(len(batch))
    if not finished:
        loop.finish()
        if isinstance(loop, Loop):
            for key, executor in loop.executors.items():
                spent(key, executor)
    return Counts(events, loop.substreams)


def _with_last(batches: Iterable[EventBatch]) -> Iterator[tuple[EventBatch, bool]]:
    """The batches, and of each whether it is the last one."""
    held: EventBatch | None = None
    for batch in batches:
        if held is not None:
            yield held, False
        held = batch
    if held is not None:
        yield held, True
