"""A user's experiments, which need a stream, a workload and algorithms only."""

from pathlib import Path

import pytest

from cepbench.algorithms.registry import ALGORITHMS
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.load import load
from cepbench.experiments.own import write_template
from cepbench.experiments.planning import listing, plan

LEAST = """
stream: {generator: stock, parameters: {duration: 10}}
workload: "RETURN COUNT(*) PATTERN SEQ(Stock S+, NOT Halt H, Trade T) WITHIN ${within} s"
algorithms: all
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_stream_workload_and_algorithms_are_enough(tmp_path: Path) -> None:
    experiment = load(written(tmp_path, LEAST + "axes: {within: [5, 10]}\nmeasurements: [time]\n"))
    assert (experiment.id, experiment.title, experiment.paper, experiment.departures) == ("mine", "mine", "", ())
    assert experiment.algorithms == [algorithm.name for algorithm in ALGORITHMS]
    assert (experiment.plot.x.name, experiment.plot.x.label) == ("within", "Within")
    assert [panel.metric for panel in experiment.plot.panels] == ["latency_mean", "throughput"]


def test_what_varies_nothing_has_one_point(tmp_path: Path) -> None:
    experiment = load(written(tmp_path, LEAST.replace("${within}", "5")))
    assert (experiment.axes, experiment.plot.x.name, experiment.limits.seconds) == ({"run": [1]}, "run", 60)
    assert [panel.letter for panel in experiment.plot.panels] == ["(a)", "(b)", "(c)"]


def test_a_dry_run_gives_the_reasons_of_refusals(tmp_path: Path) -> None:
    path = written(tmp_path, LEAST.replace("${within}", "5").replace("all", "[cogra, cet]"))
    lines = listing(plan([str(path)]), tmp_path / "results")
    refused = [line for line in lines if "unsupported" in line]
    assert len(refused) == 1
    assert all("mine cet" in line and "CET does not support negated events" in line for line in refused)
    assert lines[-1].startswith("1 of 2 cells to run")


@pytest.mark.parametrize("left_out", ["stream", "workload", "algorithms"])
def test_nothing_takes_the_place_of_what_is_evaluated(tmp_path: Path, left_out: str) -> None:
    lines = [line for line in LEAST.splitlines() if not line.startswith(left_out)]
    with pytest.raises(ExperimentError, match=f"{left_out}"):
        load(written(tmp_path, "\n".join(lines)))


def test_the_first_file_can_be_planned(tmp_path: Path) -> None:
    path = write_template("my-queries", tmp_path)
    [planned] = plan([str(path)])
    assert {cell.point["rate"] for cell in planned.cells} == {10, 20, 40}
    assert "cepbench run my-queries.yaml --dry-run" in path.read_text()


@pytest.mark.parametrize(("name", "why"), [("My queries", "lowercase letters"), ("here", "exists already")])
def test_no_file_is_replaced_and_names_are_checked(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "here.yaml").write_text("mine")
    with pytest.raises(ExperimentError, match=why):
        write_template(name, tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_an_axis_of_whole_specifications_is_a_list_of_algorithms(tmp_path: Path) -> None:
    text = LEAST.replace("${within}", "5").replace("all", '["${algorithm}", sase]')
    experiment = load(written(tmp_path, text + "axes: {algorithm: [cogra, 'cogra[windows=auto]'], run: [1, 2]}\n"))
    assert experiment.algorithms == experiment.series == ["cogra", "cogra[windows=auto]", "sase"]
    assert (experiment.axes, experiment.plot.x.name) == ({"run": [1, 2]}, "run")
    [planned] = plan([str(written(tmp_path, text + "axes: {algorithm: [cogra, greta]}\n"))])
    assert {(cell.algorithm, str(cell.point)) for cell in planned.cells} == {
        (name, "{'run': 1}") for name in ("cogra", "greta", "sase")
    }


@pytest.mark.parametrize("varied", ["zip: {algorithm: [cogra, greta]}", "axes: {other: [cogra]}"])
def test_other_axes_of_whole_specifications_are_refused(tmp_path: Path, varied: str) -> None:
    text = LEAST.replace("${within}", "5").replace("all", '["${algorithm}"]')
    with pytest.raises(
        ExperimentError, match=r"algorithms: '\$\{algorithm\}' is a whole specification; list its values"
    ):
        load(written(tmp_path, text + varied + "\n"))


def test_an_axis_may_be_a_range(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "stream: {generator: uniform, parameters: {events: 10, seed: '${seed}'}}\n"
        "workload: RETURN COUNT(*) PATTERN A WITHIN 5 s\nalgorithms: [cogra]\naxes: {seed: {from: 1, to: 7, step: 3}}\n"
    )
    assert load(tmp_path / "mine.yaml").axes == {"seed": [1, 4, 7]}
    text = (tmp_path / "mine.yaml").read_text().replace("to: 7", "to: 0")
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ExperimentError, match=r"axes\.seed: .*there are no values from 1 to 0 in steps of 3"):
        load(tmp_path / "mine.yaml")
