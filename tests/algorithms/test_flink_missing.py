"""Without the extra, Flink names the missing part, and nothing else suffers."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from cepbench.algorithms.external.flink import installation
from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.cli.lists import algorithms
from cepbench.queries.parser import parse_query


@pytest.fixture
def _forgetting() -> Iterator[None]:
    installation.missing.cache_clear()
    yield
    installation.missing.cache_clear()


@pytest.mark.usefixtures("_forgetting")
@pytest.mark.parametrize(
    ("replaced", "value", "reason"),
    [
        ("jars", lambda: (), "its jars are not installed (pip install -e '.[flink]')"),
        ("tool", lambda name: None, "there is no java"),
    ],
)
def test_what_is_missing(monkeypatch: pytest.MonkeyPatch, replaced: str, value: object, reason: str) -> None:
    monkeypatch.setattr(installation, "jars", lambda: ("a.jar",))
    monkeypatch.setattr(installation, replaced, value)
    assert reason in str(installation.missing())
    assert reason in str(Flink().unsupported(parse_query("RETURN COUNT(*) PATTERN SEQ(A, B)")))
    shown = CliRunner().invoke(algorithms, ["--json"])
    available = {row["name"]: row["available"] for row in json.loads(shown.output)}
    assert reason in available.pop("flink")
    del available["core-engine"]  # which may be missing, too
    assert set(available.values()) == {"yes"}
    with pytest.raises(installation.FlinkMissing, match="Flink is not available"):
        installation.classes()
