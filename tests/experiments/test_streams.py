"""The stores of a sweep, prepared in this process."""

from pathlib import Path
from typing import Any, cast

from cepbench.experiments.streams import common_key, prepare_stream
from cepbench.pipeline.measured import Session

HERE = cast(Session, None)
"""Tasks run in this process."""

QUERY = "RETURN COUNT(*) PATTERN A+ WHERE [{}] WITHIN 5 s"


def test_the_key_of_a_store_is_what_all_queries_split_by() -> None:
    def key(*attributes: str) -> tuple[str, ...]:
        return common_key("\n\n".join(QUERY.format(names) for names in attributes))

    assert key("b, a") == ("b", "a")
    assert key("b, a", "a, c") == ("a",)
    assert key("c, b, a", "a, b") == ("b", "a")
    assert key("a", "b") == ()


def test_a_store_is_made_once_for_what_makes_it(tmp_path: Path) -> None:
    def store(key: str = "key", buckets: int = 2, **changes: Any) -> Path:
        stream = {"generator": "uniform", "parameters": {"events": 20, "groups": 2, **changes}}
        return prepare_stream(
            {"stream": stream, "workload": QUERY.format(key), "buckets": buckets}, tmp_path, HERE
        ).path

    first = store()
    written = (first / "stream.json").stat().st_mtime_ns
    assert store() == first
    assert (first / "stream.json").stat().st_mtime_ns == written
    assert len({first, store(seed=7), store(events=21), store("value"), store(buckets=3)}) == 5


def test_a_file_that_changed_is_imported_again(tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    configuration = {
        "stream": {"path": str(file), "time_unit": "s"},
        "workload": "RETURN COUNT(*) PATTERN A",
        "buckets": 2,
    }
    file.write_text("time,type\n1,A\n")
    first = prepare_stream(configuration, tmp_path, HERE)
    assert prepare_stream(configuration, tmp_path, HERE).path == first.path
    file.write_text("time,type\n1,A\n2,A\n")
    assert (first.events, prepare_stream(configuration, tmp_path, HERE).events) == (1, 2)
