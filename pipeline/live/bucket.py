"""A bucket of the keys of a job: its operator takes a batch as a Spark task, between two files of its state."""

import pickle
from dataclasses import dataclass

from cepbench.algorithms.answers.builder import AnswerBuilder, Parts
from cepbench.algorithms.base import Operator, UnsupportedQuery
from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Prepared
from cepbench.pipeline.live.state import Checkpoint
from cepbench.pipeline.loop import Keys
from cepbench.queries.model import Aggregates


@dataclass(frozen=True, eq=False)
class Share:
    """The events of a batch whose keys lie in bucket `bucket` of job `job`. The stream ends with those of a `last` one.

    Every bucket gets its share of every batch, if only for the watermark, which closes the windows of idle keys.
    """

    job: int
    bucket: int
    events: EventBatch
    last: bool = False


@dataclass(frozen=True)
class Buckets:
    """Takes a share of batch `batch`, from the state after batch `before` (None: from the beginning).

    It may be called any number of times, in any process: the state after the batch and the rows are the same.
    """

    prepared: Prepared
    checkpoint: Checkpoint
    before: str | None
    batch: str

    def __call__(self, share: Share) -> Parts:
        """The rows of the windows that the batch closes."""
        name = f"{share.job}-{share.bucket}"
        operator, keys = self._state(share.job, name)
        answer = AnswerBuilder(self.prepared.workload)
        if len(share.events) or not share.last:
            answer.add_rows(keys.decoded, operator.process(keys.batch(share.events)))
        if share.last:
            answer.add_rows(keys.decoded, operator.finish())
        else:
            self.checkpoint.save(self.batch, name, (operator, keys))
        return answer.packed()

    def _state(self, number: int, name: str) -> tuple[Operator, Keys]:
        job = self.prepared.jobs[number]
        if self.before is None:
            return self.prepared.algorithm.operator(job.plan), Keys(job.partition)
        operator, keys = self.checkpoint.load(self.before, name)
        return operator, keys


def check_live(prepared: Prepared) -> None:
    """Refuses what cannot run on a live stream. Raises `UnsupportedQuery` with the reason."""
    for job in prepared.jobs:
        for query in job.workload:
            counts = query.window is not None and query.window.counts_events and not query.detects
            if (
                counts
                and isinstance(query.query.returns, Aggregates)
                and len(query.query.group_by) < len(query.partition)
            ):
                raise UnsupportedQuery(
                    f"query {query.query.name} cannot run on a live stream: its windows end for each key apart, so "
                    "that the rows of a group of keys are never complete; group by all of "
                    f"{', '.join(query.partition)}, or use windows of time"
                )
        try:
            pickle.dumps(prepared.algorithm.operator(job.plan))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UnsupportedQuery(
                f"{prepared.algorithm.name} cannot run on a live stream: its state cannot be kept between batches "
                f"({error})"
            ) from None
