"""Public reports of people who use CEP engines, log files and benchmarks: `tests/reports/<ID>/`, as data.

`cases.yaml` names the source and lists command lines of `cepbench`, each with the expected answer or message:

    run         arguments, in a copy of the folder
    algorithms  optional: the case is repeated with `-a` each
    status      exit status, 0 by default
    rows        optional: the rows of the answer in order, a subset of their columns
    matches     optional: the column `match` of the answer
    says        optional: texts that the output or the messages contain
    never       optional: texts that neither contains
"""

import logging
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from cepbench.cli.main import main

FOLDER = Path(__file__).parent / "reports"


def cases() -> Iterator[Any]:
    """Each case of each report, once per algorithm."""
    for file in sorted(FOLDER.glob("*/cases.yaml")):
        for case in yaml.safe_load(file.read_text(encoding="utf-8"))["cases"]:
            for algorithm in case.get("algorithms", [None]):
                name = " ".join(filter(None, (file.parent.name, case["run"], algorithm)))
                yield pytest.param(file.parent, case, algorithm, id=name)


@pytest.mark.parametrize(("folder", "case", "algorithm"), list(cases()))
def test_report(
    folder: Path,
    case: dict[str, Any],
    algorithm: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(folder, tmp_path / "report")
    monkeypatch.chdir(tmp_path / "report")
    monkeypatch.delenv("CEPBENCH_DEBUG", raising=False)
    monkeypatch.setenv("CEPBENCH_PLUGINS", "")  # `--plugin` adds to it
    arguments = shlex.split(case["run"]) + ([] if algorithm is None else ["-a", algorithm])
    has_answer = "rows" in case or "matches" in case
    with pytest.raises(SystemExit) as ended:
        main(arguments + (["-o", "answer.parquet"] if has_answer else []))
    logging.disable(logging.NOTSET)  # other tests may look at logs
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert int(ended.value.code or 0) == case.get("status", 0), text
    assert [part for part in case.get("says", []) if part not in text] == [], text
    assert [part for part in ["Traceback", *case.get("never", [])] if part in text] == [], text
    if not has_answer:
        return
    answer = pq.read_table("answer.parquet").to_pylist()
    if "rows" in case:
        expected = case["rows"]
        assert [
            {name: row[name] for name in columns} for row, columns in zip(answer, expected, strict=True)
        ] == expected
    if "matches" in case:
        assert [row["match"] for row in answer] == case["matches"]
