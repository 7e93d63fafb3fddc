"""Addresses of storage services are refused before anything is written."""

from pathlib import Path

import pytest

import cepbench
from cepbench.cli.main import main
from cepbench.events.errors import InputError
from cepbench.events.paths import local_path


@pytest.mark.parametrize("path", ["events.csv", "a/b:/c", "C:/streams", "/x/s3", "./s3:/x", Path("s3")])
def test_files_and_folders(path):
    assert local_path(path) == Path(path)


@pytest.mark.parametrize("path", ["s3://bucket/stream", "hdfs:/stream", Path("gs://bucket/x"), "file:///tmp/x"])
def test_addresses(path):
    with pytest.raises(InputError, match="an address of a storage service"):
        local_path(path)


@pytest.mark.parametrize(
    "command",
    [
        ("generate", "uniform", "-o", "s3://bucket/stream"),
        ("run", "greta-13.1", "--profile", "smoke", "--results", "s3://bucket/results"),
        ("run", "greta-13.1", "--profile", "smoke", "--set", "stream.generator=", "--set", "stream.path=s3://b/x"),
        ("report", "-o", "s3://bucket/report.html", "--results", "."),
        ("query", "-q", "s3://bucket/q.sase", "-e", ".", "-a", "cogra"),
    ],
)
def test_commands_leave_nothing_behind(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(list(command))
    reported = capsys.readouterr().err
    assert ended.value.code == 2
    assert "s3:/" in reported
    assert len(reported.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_queries_on_addresses():
    with pytest.raises(InputError, match="mount it on every machine"):
        cepbench.evaluate("RETURN COUNT(*) PATTERN A", "s3://bucket/stream", "cogra")
