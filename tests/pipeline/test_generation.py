"""Generated streams: the same events however they are cut, bucketed and run."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cepbench.events.errors import CepbenchError, InputError
from cepbench.generators.registry import from_spec
from cepbench.pipeline.generation import generate
from cepbench.pipeline.rebucketing import rebucket
from cepbench.pipeline.store import Stream, stream_batches
from cepbench.pipeline.tasks import stretches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = 3 * 2**18 - 5


def content(stream: Stream) -> list[np.ndarray]:
    batches = list(stream_batches(stream))
    columns = [[b.time for b in batches], [b.type for b in batches], [b.position for b in batches]]
    columns += [[b.columns[name] for b in batches] for name in sorted(batches[0].columns)]
    return [np.concatenate(column) for column in columns]


def test_stretches_cover_everything_in_order() -> None:
    for items, parts in ((0, 4), (1, 4), (7, 3), (100, 8)):
        ranges = stretches(items, parts)
        assert ranges[0].start == 0
        assert ranges[-1].stop == items
        assert [s.stop for s in ranges[:-1]] == [s.start for s in ranges[1:]]
        assert len(ranges) == max(1, min(items, parts))


@pytest.mark.spark
def test_the_same_stream_whatever_partitions_and_buckets(tmp_path: Path, spark: "SparkSession") -> None:
    generator = from_spec("uniform", {"events": EVENTS, "groups": 50, "tie_probability": 0.3})
    local = generate(generator, tmp_path / "here", spark=None)
    assert local.events == EVENTS
    assert local.source["generator"] == "uniform"
    first = generate(generator, tmp_path / "one", spark=spark, partitions=3)
    second = generate(generator, tmp_path / "two", spark=spark, key=("key",), buckets=5, partitions=2)
    assert (first.buckets, second.buckets) == (1, 5)
    assert min(second.bucket_events) > 0
    assert {local.fingerprint, first.fingerprint, second.fingerprint} == {local.fingerprint}
    third = rebucket(second, ("key", "value"), 3, spark=spark)
    for stream in (first, second, third):
        for column, expected in zip(content(stream), content(local), strict=True):
            assert np.array_equal(column, expected)
    with pytest.raises(CepbenchError, match="exists already"):
        generate(generator, tmp_path / "one", spark=spark)
    with pytest.raises(InputError, match="key attribute 'nothing' is missing"):
        generate(generator, tmp_path / "none", spark=spark, key=("nothing",))
    assert not (tmp_path / "none").exists()
