"""However many tasks write a store, a bucket has a few files, which hold the same events in the same order."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cepbench.generators import base
from cepbench.generators.registry import from_spec
from cepbench.pipeline.creation import MOST_PARTS
from cepbench.pipeline.generation import generate
from cepbench.pipeline.rebucketing import rebucket
from cepbench.pipeline.store import bucket_batches, read_stream


@pytest.mark.parametrize(("partitions", "parts"), [(MOST_PARTS, MOST_PARTS), (MOST_PARTS + 1, None), (40, MOST_PARTS)])
def test_many_tasks_leave_few_files(
    tmp_path: Path, partitions: int, parts: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "SLICE_EVENTS", 10_000)
    generator = from_spec("uniform", {"events": 400_000, "types": 2, "groups": 9, "rate": 100})
    few = generate(generator, tmp_path / "few", spark=None, key=("key",), buckets=2, partitions=1)
    stream = generate(generator, tmp_path / "many", spark=None, key=("key",), buckets=2, partitions=partitions)
    assert stream == read_stream(tmp_path / "many")
    assert (stream.fingerprint, stream.bucket_events) == (few.fingerprint, few.bucket_events)
    for bucket in range(2):
        names = sorted(file.name for file in (tmp_path / "many" / f"bucket={bucket:04d}").iterdir())
        assert [f"bucket={bucket:04d}/{name}" for name in names] == [part.name for part in stream.parts_of(bucket)]
        assert len(names) <= MOST_PARTS
        assert parts in (None, len(names))
        positions = [np.concatenate([b.position for b in bucket_batches(s, bucket)]) for s in (stream, few)]
        assert positions[0].tolist() == positions[1].tolist()
    metadata = pq.read_metadata(tmp_path / "many" / stream.parts[0].name)
    assert metadata.num_row_groups <= -(-metadata.num_rows // (1 << 17))
    assert rebucket(stream, (), 1, spark=None).fingerprint == few.fingerprint
