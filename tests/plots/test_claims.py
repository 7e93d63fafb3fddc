"""Claims and departures in the report."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cepbench.metrics.figure import ClaimResult, Departure, Verdict
from cepbench.metrics.results import ResultsError, load_results
from cepbench.plots import tables
from cepbench.plots.report import write_report
from tests.plots.conftest import ONE


def result(verdict: Verdict = Verdict.REPRODUCED, **more: Any) -> ClaimResult:
    fields: dict[str, Any] = {"text": f"It is {verdict}.", "source": "s", "kind": "factor", "expected": "e", **more}
    return ClaimResult(verdict=verdict, **fields)


def shown(claim: ClaimResult) -> str:
    """The text of the cell of the measured number."""
    cell = re.findall(r'<td class="number".*?</td>', tables.claims([claim]))[0]
    return re.sub(r"\s+", " ", re.sub(r"<.*?>", " ", cell)).strip()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"measured": 1.998, "low": 1.95, "high": 2.04, "unit": "x"}, "2 x 1.95 x – 2.04 x"),
        ({"measured": 2.5, "low": 2.5, "high": 2.5, "unit": "x"}, "2.5 x"),
        ({"measured": 1000.0, "low": 1000.0, "unit": "x"}, "≥ 1 000 x"),
        ({"measured": 0.1, "high": 0.1, "unit": "x"}, "≤ 0.1 x"),
        ({"measured": 5.0, "low": 4.0, "unit": "s"}, "5 s 4 s – ∞"),
        ({"measured": 3.9e7, "low": 3.9e7, "high": 3.9e7, "unit": "events/s"}, "39 M events/s"),
        ({}, "–"),
    ],
    ids=["ratio", "exact", "least", "most", "open", "rate", "none"],
)
def test_a_number_is_shown_with_its_interval(fields: dict[str, Any], text: str) -> None:
    assert shown(result(**fields)).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


def test_claims_are_sorted_by_their_verdicts() -> None:
    table = tables.claims([result(verdict) for verdict in reversed(Verdict)])
    places = [table.index(f"It is {verdict}.") for verdict in Verdict]
    assert places == sorted(places)
    assert 'class="sortable"' in table


def test_a_cause_stands_with_its_evidence() -> None:
    told = tables.claims([result(Verdict.WEAKER, cause="Pages are touched first.", evidence="0.7 s per 325 MB")])
    assert "Pages are touched first." in told
    assert "Evidence: 0.7 s per 325 MB" in told
    assert "Cause" not in tables.claims([result(Verdict.WEAKER)])


def test_the_report_counts_the_verdicts_and_names_the_profile(
    tmp_path: Path, figure: Any, sweep: Any, save: Any
) -> None:
    claims = [result(verdict) for verdict in Verdict for _ in range(list(Verdict).index(verdict) + 1)]
    save(tmp_path, figure(claims=tuple(claims), panels=ONE), sweep)
    text = re.sub(r"<.*?>", "", write_report(tmp_path, tmp_path / "report.html").read_text())
    counts = "reproduced 1 stronger 2 weaker 3 contradicted 4 not comparable 5"
    assert f"15 claims of the papers, at the profile laptop: {counts}" in text
    assert "Claims, at the profile laptop" in text
    assert text.count(counts) == 3  # in the summary, in the row of the figure, above its table


def test_departures_stand_beside_the_figure(tmp_path: Path, figure: Any, sweep: Any, save: Any) -> None:
    told = Departure(what="windows tumble", reason="one answer per event")
    save(tmp_path, figure(departures=(told,), panels=ONE), sweep)
    text = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert re.search(r"<li>windows tumble: .*?one answer per event", text)
    save(tmp_path, figure(departures=(), panels=ONE), sweep)
    assert "windows tumble" not in write_report(tmp_path, tmp_path / "report.html").read_text()


def test_a_figure_of_an_earlier_version_is_refused_in_one_line(
    tmp_path: Path, figure: Any, sweep: Any, save: Any
) -> None:
    path = save(tmp_path, figure(), sweep) / "figure.json"
    old = json.loads(path.read_text())
    del old["format"]
    old["claims"] = [{"text": "t", "source": "s", "expected": "e", "verdict": "not reproduced"}]
    path.write_text(json.dumps(old))
    with pytest.raises(ResultsError) as refused:
        load_results(tmp_path)
    assert str(refused.value) == (
        f"{path}: figure format 1, expected 2; run {old['experiment']} again, which keeps its finished cells"
    )
