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
        found = stretches(items, parts)
        assert found[0].start == 0
        assert found[-1].stop == items
        assert [s.stop for s in found[:-1]] == [s.start for s in found[1:]]
        assert len(found) == max(1, min(items, parts))


@pytest.mark.spark
def test_the_same_stream_whatever_partitions_and_buckets(tmp_path: Path, spark: "SparkSession") -> None:
    generator = from_spec("uniform", {"events": EVENTS, "groups": 50, "tie_probability": 0.3})
    here = generate(generator, tmp_path / "here", spark=None)
    assert here.events == EVENTS
    assert here.source["generator"] == "uniform"
    one = generate(generator, tmp_path / "one", spark=spark, partitions=3)
    two = generate(generator, tmp_path / "two", spark=spark, key=("key",), buckets=5, partitions=2)
    assert (one.buckets, two.buckets) == (1, 5)
    assert min(two.bucket_events) > 0
    assert {here.fingerprint, one.fingerprint, two.fingerprint} == {here.fingerprint}
    three = rebucket(two, ("key", "value"), 3, spark=spark)
    for stream in (one, two, three):
        for found, expected in zip(content(stream), content(here), strict=True):
            assert np.array_equal(found, expected)
    with pytest.raises(CepbenchError, match="exists already"):
        generate(generator, tmp_path / "one", spark=spark)
    with pytest.raises(InputError, match="key attribute 'nothing' is missing"):
        generate(generator, tmp_path / "none", spark=spark, key=("nothing",))
    assert not (tmp_path / "none").exists()
