"""Claims and departures in the report."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cepbench.metrics.figure import (
    EXPONENT,
    RATIO,
    Axis,
    ClaimResult,
    Counterfactual,
    Declared,
    Departure,
    Evidence,
    Verdict,
)
from cepbench.metrics.results import ResultsError, load_results
from cepbench.plots.claims import claims_table, in_units
from cepbench.plots.notation import words
from cepbench.plots.report import write_report
from cepbench.plots.rules import RULES, Rule
from tests.plots.conftest import ONE


def result(verdict: Verdict = Verdict.HOLDS, **more: Any) -> ClaimResult:
    fields: dict[str, Any] = {"text": f"It is {verdict}.", "source": "s", "expected": "e", "size": "n 1", **more}
    return ClaimResult(verdict=verdict, **fields)


def shown(claim: ClaimResult) -> str:
    """The text of the cell of the measured number."""
    cell = re.findall(r"<td.*?</td>", claims_table([claim]))[1]
    return re.sub(r"\s+", " ", re.sub(r"<.*?>", " ", cell)).strip().removesuffix(" at n 1")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"measured": 1.998, "low": 1.95, "high": 2.04, "unit": "x"}, "2 times 1.95 to 2.04"),
        ({"measured": 2.5, "low": 2.5, "high": 2.5, "unit": "x"}, "2.5 times"),
        ({"measured": 1.00031, "low": 1.000135, "high": 1.004, "unit": "x"}, "1.0003 times 1.0001 to 1.004"),
        ({"measured": 0.99996, "low": 0.995, "high": 1.0, "unit": "x"}, "0.99996 times 0.995 to 1"),
        ({"measured": 0.0066, "low": 0.005, "high": 0.12, "unit": "%"}, "0.66 % 0.5 to 12"),
        ({"measured": 0.99953, "low": 0.995, "high": 1.0, "unit": "%"}, "99.953 % 99.5 to 100"),
        ({"measured": 45.0, "low": 45.0, "high": 45.0, "unit": "%"}, "45"),
        ({"measured": 1000.0, "low": 1000.0, "unit": "x", "bound": True}, "≥ 1 000 times"),
        ({"measured": 1.004e8, "low": 2e6, "high": 1.6e8, "unit": "x"}, "10^8 times 2 000 000 to 1.6·10^8"),
        ({"measured": 7.0, "low": 7.0, "high": 9.0, "unit": "x", "bound": True}, "7 to 9 times"),
        ({"measured": 0.1, "high": 0.1, "unit": "x", "bound": True}, "≤ 0.1 times"),
        ({"measured": 5.0, "low": 4.0, "unit": "s"}, "5 s 4 s to ∞"),
        ({"measured": 3.9e7, "low": 3.9e7, "high": 3.9e7, "unit": "events/s"}, "39 M events/s"),
        ({"measured": 1.9, "low": 1.7, "high": 2.1, "unit": EXPONENT}, "n^1.9 n^1.7 to n^2.1"),
        ({"measured": 0.05, "low": 0.05, "high": 0.05, "unit": EXPONENT}, "n^0.05"),
        ({"measured": 3.0, "low": 3.0, "bound": True, "unit": EXPONENT}, "≥ n^3"),
        (
            {"measured": 2.0, "low": 2.0, "high": 2.5, "bound": True, "unit": EXPONENT},
            "n^2 to n^2.5",
        ),
        ({"measured": 3.0, "low": 3.0, "high": 3.0, "expected": "3"}, "3"),
        ({}, "–"),
    ],
    ids=[
        "ratio",
        "exact",
        "near one",
        "ends near one",
        "share",
        "share near one",
        "other ratio",
        "least",
        "large",
        "between",
        "most",
        "open",
        "rate",
        "slope",
        "constant",
        "steeper",
        "slope between",
        "count",
        "none",
    ],
)
def test_a_number_is_shown_with_its_interval(fields: dict[str, Any], text: str) -> None:
    assert shown(result(**fields)).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        ("rate 20000 to 50000", "stream rate 20000 to 50000 events/s"),
        ("memory 20300, rate 10, 5 draws of seed", "memory limit 20.3 kB, stream rate 10 events/s, 5 draws of seed"),
        ("span 0.1 to 1e+01", "span 100 ms to 10 s"),
        ("rate low, groups [1, 2], other 3", "rate low, groups [1, 2], other 3"),
        ("the only size", "the only size"),
        ("rate 10 (b is slow at n 1: 2 times)", "stream rate 10 events/s (b is slow at n 1: 2 times)"),
    ],
)
def test_sizes_have_the_units_of_the_axes(size: str, text: str, figure: Any) -> None:
    x = Axis(name="rate", label="Stream rate", unit="events/s")
    memory, span = Axis(name="memory", label="Memory limit", unit="B"), Axis(name="span", label="Span", unit="s")
    quantity = f"exponent of the time of a[memory=1, n=2] at {size}"
    shown = Evidence(what=quantity, measured=2.0, low=2.0, high=2.0, unit=EXPONENT)
    claim = result(Verdict.WEAKER, size=size, evidence=(shown,))
    [converted] = in_units(figure(claims=(claim,), panels=(ONE[0].model_copy(update={"x": memory}),), facet=span, x=x))
    assert converted.size == text
    assert converted.evidence[0].what == f"exponent of the time of a[memory=1, n=2] at {text}"
    assert words(converted.evidence[0]) == ("n^2", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("details.edges of greta over sase", "edges of GRETA over SASE"),
        ("with sase[store=all], in details.search_seconds", "with SASE, all kept, in search time"),
        ("realised.matches_per_window of greta, at latency 5", "matches per window of GRETA, at latency 5"),
        ("state_kinds.events and details.memory_peak", "state of events and memory"),
        ("exponent of the latency_mean of sase[store]", "exponent of the mean latency of sase[store]"),
    ],
)
def test_metrics_and_systems_are_named_in_words(text: str, words: str, figure: Any) -> None:
    systems = {"algorithms": ("greta", "sase", "sase[store=all]"), "labels": {"sase[store=all]": "SASE, all kept"}}
    claim = result(number=text, reason=text, counterfactual=Counterfactual(kind="mode", what=text))
    [shown] = in_units(figure(claims=(claim,), panels=ONE, **systems))
    assert shown.counterfactual is not None
    assert (shown.number, shown.reason, shown.counterfactual.what) == (words, words, words)


@pytest.mark.parametrize(
    ("expected", "unit", "words"),
    [
        ("at most 0.025", "s", "at most 25 ms"),
        ("at least 0.5", "", "at least 0.5"),
        ("n^2", EXPONENT, "n^2"),
        ("10^1.2 times", RATIO, "16 times"),
        ("10^4 times", RATIO, "10^4 times"),
    ],
)
def test_bounds_have_their_units(expected: str, unit: str, words: str, figure: Any) -> None:
    [shown] = in_units(figure(claims=(result(expected=expected, unit=unit, measured=0.1),), panels=ONE))
    assert shown.expected == words


def test_claims_are_sorted_by_their_verdicts() -> None:
    table = claims_table([result(verdict) for verdict in reversed(Verdict)])
    places = [table.index(f"It is {verdict}.") for verdict in Verdict]
    assert places == sorted(places)


def why(verdict: Verdict = Verdict.WEAKER, **more: Any) -> str:
    """The text of the cell of the cause."""
    return re.sub(r"<.*?>", "", re.findall(r"<td.*?</td>", claims_table([result(verdict, **more)]))[-1])


def test_a_cause_without_counterfactual_is_presumed() -> None:
    shown = Evidence(what="growth of the latency", measured=3.0, low=2.5, high=3.5, unit="x")
    text = why(cause="text silent", why="It depends.", number="latency of a over b", cells=10, evidence=(shown,))
    assert text == (
        "Unexplained; presumed: text silent: It depends.Numberslatency of a over b at n 1, from 10 cells"
        "growth of the latency: 3 times2.5 to 3.5"
    )
    assert why(cause="unexplained", why="Longer windows were tried.") == "Unexplained: Longer windows were tried."
    assert why() == "Unexplained."
    assert [why(verdict) for verdict in (Verdict.HOLDS, Verdict.OPEN)] == ["", ""]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"kind": "mode", "what": "with k=1", "measured": 4.1, "low": 3.0, "high": 5.0, "unit": "x"},
            "with k=1: 4.1 times (3 to 5), holds",
        ),
        (
            {
                "kind": "grid",
                "what": "on the grid of n",
                "points": 5,
                "held": 3,
                "region": "n 3 to 7",
                "low": 1.5,
                "high": 80.0,
                "unit": "x",
            },
            "on the grid of n: holds at 3 of 5 points, n 3 to 7; its numbers are 1.5 to 80 times",
        ),
        (
            {
                "kind": "arithmetic",
                "what": "by arithmetic, n / 2",
                "measured": 2.0,
                "low": 2.0,
                "high": 2.0,
                "unit": "x",
            },
            "by arithmetic, n / 2: 2 times, holds",
        ),
    ],
)
def test_a_counterfactual_stands_with_its_cause(fields: dict[str, Any], words: str) -> None:
    judged = None if fields["kind"] == "grid" else Verdict.HOLDS
    shown = Counterfactual(verdict=judged, **fields)
    cause = "Arithmetic, paper" if fields["kind"] == "arithmetic" else "Paper"
    assert why(cause="paper", why="As released.", counterfactual=shown) == f"{cause}: As released.{words}"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "mode", "what": "with k=1: a was not run"}, "with k=1: a was not run"),
        ({"kind": "grid", "what": "on the grid of n", "points": 5}, "on the grid of n: holds at 0 of 5 points"),
    ],
)
def test_a_counterfactual_that_decides_nothing_leaves_a_cause_presumed(fields: dict[str, Any], words: str) -> None:
    shown = why(cause="paper", why="As released.", counterfactual=Counterfactual(**fields))
    assert shown == f"Unexplained; presumed: paper: As released.{words}"


def noise(**more: Any) -> str:
    """The text of the cell of noise and draws."""
    return re.sub(r"<.*?>", "", re.findall(r"<td.*?</td>", claims_table([result(**more)]))[-2])


def test_noise_draws_and_edges_are_marks_and_no_causes() -> None:
    assert noise(edge=True) == "at an edge"
    assert noise() == ""
    assert noise(cells=10, noisy=4, measured=9.0, unit="x", calm=8.0) == "noise in 4 of 10 cells; 8 times without it"
    assert noise(draws=10, held=7) == "holds in 7 of 10 draws (sign test: p = 0.17)"


def test_claims_that_were_changed_after_the_run_are_listed_with_the_reason(
    tmp_path: Path, figure: Any, sweep: Any, save: Any
) -> None:
    before, now = (Declared(text=f"It is {n}.", what="m of a", expected=n, size="n 1") for n in ("large", "small"))
    save(tmp_path, figure(declared=(before,), current=(now,), revised=("Misread.",), panels=ONE), sweep)
    page = write_report(tmp_path, tmp_path / "report.html").read_text()
    rows = re.findall(r"<tr>.*?</tr>", page[page.index('id="changes"') :], re.DOTALL)[1:3]
    text = [re.sub(r"\s+", " ", re.sub(r"<.*?>", " ", row)).strip() for row in rows]
    assert text == [
        "13.1 dropped It is large. m of a large n 1 Misread.",
        "13.1 added It is small. m of a small n 1 Misread.",
    ]
    save(tmp_path, figure(declared=(now,), current=(now,), panels=ONE), sweep)
    assert 'id="changes"' not in write_report(tmp_path, tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("started", "listed"), [("2026-11-29T12:00:00Z", RULES[1:]), ("9999-01-01T00:00:00Z", ())])
def test_rules_that_changed_after_the_first_cell_are_listed(
    started: str, listed: tuple[Rule, ...], tmp_path: Path, figure: Any, sweep: Any, save: Any
) -> None:
    measured = [sweep[0].model_copy(update={"started": started})]
    save(tmp_path, figure(claims=(result(),), panels=ONE), measured)
    page = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert tuple(rule for rule in RULES if rule.reason in page) == listed


def test_the_page_opens_with_what_became_of_each_paper(tmp_path: Path, figure: Any, sweep: Any, save: Any) -> None:
    claims = [result(verdict) for verdict in Verdict for _ in range(list(Verdict).index(verdict) + 1)]
    save(tmp_path, figure(claims=tuple(claims), panels=ONE), sweep)
    save(tmp_path, figure(experiment="mcep-10", id="10", paper="Bucchi, 2022", claims=claims[:1], panels=ONE), [])
    save(tmp_path, figure(experiment="own", id="own", paper="", claims=(), panels=ONE), [])
    page = write_report(tmp_path, tmp_path / "report.html").read_text()
    assert re.findall(r"<article><h3>(.*?)</h3><p class=\"meta\">(.*?)</p>", page) == [
        ("GRETA", "Poppe 2018, Figure 13.1"),
        ("MCEP", "Bucchi, 2022"),
    ]
    tables = re.findall(r"<summary>([A-Z]+ · .*?)</summary>", page)
    text = [re.sub(r"\s+", " ", re.sub(r"<.*?>", " ", table)).strip() for table in tables]
    assert text[0] == "GRETA · Poppe 2018, Figure 13.1 holds 1 stronger 2 weaker 3 opposite 4 open 5"
    assert text[1] == "MCEP · Bucchi, 2022 holds 1"
    assert page.index("<article>") < page.index("Figure 13.1 ·")


def test_departures_stand_beside_the_figure(tmp_path: Path, figure: Any, sweep: Any, save: Any) -> None:
    departure = Departure(what="windows tumble", reason="one answer per event")
    save(tmp_path, figure(departures=(departure,), panels=ONE), sweep)
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
        f"{path}: figure format 1, expected 3; run {old['experiment']} again, which keeps its finished cells"
    )


def test_a_system_has_three_lines(tmp_path: Path, figure: Any, record: Any, save: Any) -> None:
    claims = (
        result(Verdict.HOLDS),
        result(Verdict.WEAKER, cause="size", why="<small>"),
        result(Verdict.OPPOSITE),
        result(Verdict.OPEN, reason="cut off by a limit"),
    )
    save(tmp_path, figure(panels=ONE, claims=claims), [record()])
    text = write_report(tmp_path, tmp_path / "report.html").read_text()
    card = text[text.index('<div class="systems">') : text.index("</article>")]
    lines = [re.sub(r"<.*?>", "", line) for line in re.findall(r"<summary>(.*?)</summary>", card)]
    assert lines == [
        "holds 1 of 4: It is holds.",
        "does not 2 of 4: 1 opposite; 2 are unexplained. It is opposite.",
        "undecided 1 of 4: cut off by a limit (1).",
    ]
    assert "&lt;small&gt;" in card
    assert "GRETA aggregates trends along the edges" in card
    assert 'href="#greta-13.1-headline">It is weaker.' in card
