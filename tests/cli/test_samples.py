"""The published samples, from their files to a drawing, by the commands that `cepbench datasets NAME` prints."""

import json
import shlex
from pathlib import Path

import pytest

from cepbench.metrics.results import load_results

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = [
    pytest.mark.spark,
    pytest.mark.full,
    pytest.mark.skipif(not SAMPLES.is_dir(), reason="the published samples are not here"),
]


@pytest.mark.parametrize(
    ("name", "figure", "events"),
    [
        ("nasdaq", "greta-13.1", 1769),
        ("physical_activity_cet", "cet-8.1-activity", 17_637),
        ("hamlet_synthetic", "scale-rate", 100_000),
    ],
)
def test_samples_are_imported_and_drawn(cepbench, tmp_path: Path, monkeypatch, name: str, figure: str, events: int):
    monkeypatch.chdir(tmp_path)
    printed = [shlex.split(command) for command in json.loads(cepbench("datasets", name, "--json").out)["commands"]]
    [run] = [command for command in printed if command[:3] == ["cepbench", "run", figure]]
    store = next(word for word in run if word.startswith("data=")).removeprefix("data=")
    [imported] = [command for command in printed if command[1] == "import" and store in command]
    assert [word for word in imported if word == "PATH"] == ["PATH"]
    Path("streams").mkdir()
    ended = cepbench(*(str(SAMPLES) if word == "PATH" else word for word in imported[1:]))
    assert (ended.status, f"{events} events" in ended.out) == (0, True), ended.err

    ended = cepbench(*run[1:], "--profile", "smoke", "--results", "results")
    assert ended.status == 0, ended.out + ended.err
    [found] = load_results(f"results/{figure}")
    assert found.figure.data == f"data set {name} ({events} events, store {store})"
    assert {record.configuration["stream"]["store"]["dataset"] for record in found.records} == {name}
    assert cepbench("plot", "--results", "results").status == 0
    [drawing] = Path("results").rglob(f"{figure}.svg")
    assert drawing.stat().st_size > 1000
