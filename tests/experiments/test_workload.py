"""A user's queries in an experiment: files, variants of a text, values of axes with labels."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.load import load
from cepbench.experiments.planning import plan
from cepbench.experiments.points import Cell, cells
from cepbench.queries.workloads import parse_workload

TEXT = "RETURN COUNT(*) PATTERN Stock+ S WHERE S.price > ${threshold} WITHIN ${within} s"


def write(folder: Path, workload: Any, **fields: Any) -> Path:
    document = {
        "stream": {"generator": "stock", "parameters": {"duration": 10}},
        "workload": workload,
        "algorithms": ["cogra"],
        "axes": {"within": [5, 10]},
        "measurements": ["time"],
    }
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(document | fields, sort_keys=False))
    return path


def planned(path: Path, *overrides: str) -> tuple[Cell, ...]:
    [entry] = plan([str(path)], overrides=overrides)
    return entry.cells


def texts(path: Path, *overrides: str) -> list[str]:
    return list(dict.fromkeys(cell.configuration["workload"] for cell in planned(path, *overrides)))


def test_a_file_is_beside_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "own.sase").write_text("PATTERN Stock+ WITHIN ${within} s")
    path = write(tmp_path / "there", {"file": "own.sase"})
    monkeypatch.chdir(tmp_path)
    assert texts(path) == ["PATTERN Stock+ WITHIN 5 s", "PATTERN Stock+ WITHIN 10 s"]


def test_an_axis_may_name_the_file(tmp_path: Path) -> None:
    for name, type_ in (("short", "Stock"), ("long", "Trade")):
        (tmp_path / f"{name}.sase").write_text(f"PATTERN {type_} WITHIN ${{within}} s")
    path = write(tmp_path, {"file": "${query}.sase"}, axes={"query": ["short", "long"], "within": [5]})
    assert texts(path) == ["PATTERN Stock WITHIN 5 s", "PATTERN Trade WITHIN 5 s"]


def test_variants_are_combined_and_paired(tmp_path: Path) -> None:
    text = "a${a}b${b}c${c}: PATTERN SEQ(Stock, Trade) WITHIN ${within} s"
    path = write(tmp_path, {"text": text, "variants": {"a": [1, 2]}, "zip": {"b": [3, 4], "c": ["x", "${within}"]}})
    queries = [query.name for query in parse_workload(texts(path)[0])]
    assert queries == ["a1b3cx", "a1b4c5", "a2b3cx", "a2b4c5"]


def test_a_range_of_variants_and_how_many_an_axis_takes(tmp_path: Path) -> None:
    workload = {"text": TEXT, "variants": {"threshold": {"from": 0.1, "to": 1, "step": 0.1}}, "count": "${queries}"}
    path = write(tmp_path, workload, axes={"queries": [1, 10], "within": [5]})
    single, ten = texts(path)
    assert single == "RETURN COUNT(*) PATTERN Stock+ S WHERE S.price > 0.1 WITHIN 5 s\n"
    assert [f"> {value} " in ten for value in ("0.3", "0.7", "1")] == [True] * 3
    assert [query.name for query in parse_workload(ten)] == [f"q{number}" for number in range(1, 11)]
    with pytest.raises(ExperimentError, match=r"workload.count: there are 10 variants; .* from 1 to 10, not 11"):
        texts(path, "axes.queries=[11]")


def test_labels_stand_for_values_of_an_axis(tmp_path: Path) -> None:
    queries = {"pairs": "PATTERN SEQ(Stock, Trade) WITHIN ${within} s", "trends": "PATTERN Stock+ WITHIN ${within} s"}
    path = write(tmp_path, "${query}", axes={"query": queries, "within": [5]}, workers=2)
    assert {(cell.name, cell.configuration["workload"]) for cell in planned(path)} == {
        ("cogra at query pairs, within 5", "PATTERN SEQ(Stock, Trade) WITHIN 5 s"),
        ("cogra at query trends, within 5", "PATTERN Stock+ WITHIN 5 s"),
    }
    assert texts(path, "axes.query=[trends]") == ["PATTERN Stock+ WITHIN 5 s"]
    with pytest.raises(ExperimentError, match=r"axis query: unknown label 'trend'; .* did you mean trends\?"):
        texts(path, "axes.query=[trend]")


def test_labels_of_whole_specifications_are_those_of_the_drawing(tmp_path: Path) -> None:
    axes = {"algorithm": {"ours": "cogra[windows=auto]", "COGRA": "cogra"}, "within": [5]}
    experiment = load(write(tmp_path, TEXT.replace("${threshold}", "1"), algorithms=["${algorithm}"], axes=axes))
    assert experiment.algorithms == ["cogra[windows=auto]", "cogra"]
    assert experiment.plot.labels == {"cogra[windows=auto]": "ours", "cogra": "COGRA"}


def test_a_value_may_be_that_of_another_axis(tmp_path: Path) -> None:
    path = write(tmp_path, "PATTERN Stock WITHIN ${within} s SLIDE ${slide} s", defaults={"slide": "${within}"})
    assert [cell.point for cell in planned(path)] == [{"slide": 5, "within": 5}, {"slide": 10, "within": 10}]
    with pytest.raises(ExperimentError, match="axis a: its value needs itself"):
        cells(load(write(tmp_path, "PATTERN ${a}", axes={"a": ["x${b}"], "b": ["y${a}"]})), "quick")


def test_a_long_value_is_cut_in_messages(tmp_path: Path) -> None:
    path = write(tmp_path, "${query}", axes={"query": ["RETURN COUNT(*) PATTERN SEQ(Stock+, Trade)\nWITHIN 5 s"]})
    assert {cell.name for cell in planned(path)} == {"cogra at query RETURN COUNT(*) PATTERN SEQ(Stock+, Tra…"}


@pytest.mark.parametrize(
    ("workload", "fields", "message"),
    [
        ("PATTERN A", {}, r"axis within is used nowhere: no text has \$\{within\}"),
        ("PATTERN A WITHIN ${within} s", {"axes": {"within": [5], "withn": [1]}}, r"withn .* did you mean within\?"),
        ({"file": "no.sase"}, {}, "workload.file: .*no.sase: no such file"),
        (
            {"text": TEXT, "variants": {"treshold": [1]}},
            {},
            "is not in the text; choose one of threshold",
        ),
        ({"text": TEXT, "variants": {"within": [1]}}, {}, "'within' is also an axis"),
        (
            {"text": TEXT, "variants": {"threshold": [1, 2]}, "count": 3},
            {},
            "there are 2 variants; expected a whole number from 1 to 2, not 3",
        ),
    ],
)
def test_mistakes(tmp_path: Path, workload: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        planned(write(tmp_path, workload, **fields))


def test_an_axis_that_the_command_line_invents_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "PATTERN Stock WITHIN ${within} s", algorithms=["cogra", "sase[limit=${limit}]"])
    with pytest.raises(ExperimentError, match=r"axis withn is used nowhere: .* did you mean within\?"):
        planned(path, "axes.withn=[10]", "axes.limit=[100]", "algorithms=[cogra]")


def test_an_axis_may_lose_its_use_on_the_command_line(tmp_path: Path) -> None:
    text = "RETURN MATCHES PATTERN SEQ(Stock, Trade) WITHIN 5 s"
    path = write(tmp_path, text, algorithms=["sase", "mcep[k=${k}]"], axes={"k": [1, 2]})
    assert {cell.algorithm for cell in planned(path, "algorithms=[sase]")} == {"sase"}
