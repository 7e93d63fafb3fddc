"""The Spark task of a bucket of keys for one batch: it loads the operator, evaluates the events, and saves it."""

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
    """The events of a batch whose keys are in bucket `bucket` of job number `job`. With `last`, the stream ends.

    Every bucket gets a share of every batch, even without events: the watermark closes the windows of idle keys.
    """

    job: int
    bucket: int
    events: EventBatch
    last: bool = False


@dataclass(frozen=True)
class Buckets:
    """The task of batch `batch`: evaluates a share, from the state after batch `before` (None: a new stream).

    Repeated calls, in any process, give the same state and the same rows.
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
    """Raises `UnsupportedQuery` with the reason if queries or algorithm cannot run on a live stream."""
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
