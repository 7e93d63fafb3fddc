"""Without the extra, or with an older version, DuckDB is refused with the reason."""

from collections.abc import Iterator
from importlib import metadata

import pytest

from cepbench.algorithms.external.duckdb import session
from cepbench.algorithms.external.duckdb.algorithm import DuckDB
from cepbench.queries.parser import parse_query


@pytest.fixture
def _forgetting() -> Iterator[None]:
    session.missing.cache_clear()
    yield
    session.missing.cache_clear()


@pytest.mark.usefixtures("_forgetting")
@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (None, "it is not installed (pip install -e '.[duckdb]')"),
        ("1.4.2", "version 1.4.2 is too old, it needs 2.0 (pip install -e '.[duckdb]')"),
    ],
)
def test_what_is_missing(monkeypatch: pytest.MonkeyPatch, version: str | None, reason: str) -> None:
    def installed(name: str) -> str:
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", installed)
    assert session.missing() == f"DuckDB is not available: {reason}"
    assert DuckDB().unsupported(parse_query("RETURN COUNT(*) PATTERN SEQ(A, B)")) == session.missing()
    monkeypatch.setattr(session, "_connections", {})
    with pytest.raises(session.DuckDBFailed, match="DuckDB is not available"):
        session.current()
