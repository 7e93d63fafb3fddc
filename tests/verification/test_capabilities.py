"""The matrix is true: an algorithm that can evaluate a query answers as the oracle does."""

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import UnknownAlgorithm, algorithms, make
from cepbench.cli.capabilities import BEGIN, END, markdown
from cepbench.metrics.capabilities import Capabilities, Capability
from cepbench.queries.workloads import parse_workload
from cepbench.verification.agreement import case_difference, expected_rows
from cepbench.verification.capabilities import capabilities, measured_capabilities
from cepbench.verification.evaluators import subject_of
from cepbench.verification.features import Feature, query_features
from cepbench.verification.language_suite import SUITE, Asked
from cepbench.verification.random_cases import CASE_FEATURES, Case, Rows

SEARCHING = {"mcep": "mcep[seconds=0.02]"}
"""Those whose optimiser searches as long as it may; that is the same language."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "algorithms" / "capabilities.md"


def events(seed: int) -> tuple[dict[str, Any], ...]:
    """Events of five types, ties among them, in two groups and two windows of ten seconds."""
    random = Random(seed)
    types = [*"AABCEDABACDBEAB", *random.choices("ABCDE", (4, 3, 2, 2, 1), k=9)]
    times = sorted(random.choices(range(20), k=len(types)))
    return tuple(
        {"time": time, "type": kind, "g": random.randrange(2), "h": 0, "x": random.randrange(9), "y": 1.0, "s": "u"}
        for time, kind in zip(times, types, strict=True)
    )


CASES = {
    asked.name: [Case(seed, parse_workload(asked.workload), events(seed), (5, 11)) for seed in range(3)]
    for asked in SUITE
}


@cache
def expected(name: str, seed: int) -> list[Rows]:
    """The oracle's answer to a case, computed once for all algorithms."""
    return expected_rows(CASES[name][seed])


@pytest.mark.parametrize("asked", SUITE, ids=[asked.name for asked in SUITE])
def test_all_that_is_asked_for_has_matches(asked: Asked) -> None:
    if asked.name == "MATCHES of AND":  # nobody lists pairs, not even the oracle
        return
    for query in range(len(parse_workload(asked.workload))):
        assert any(expected(asked.name, case.seed)[query] for case in CASES[asked.name])


@pytest.mark.parametrize("kind", algorithms(), ids=[kind.name for kind in algorithms()])
@pytest.mark.full
def test_who_can_evaluate_something_is_right(kind: type[Algorithm]) -> None:
    if kind.missing() is not None:
        pytest.skip(str(kind.missing()))
    subject = subject_of(make(SEARCHING.get(kind.name, kind.name)))
    compared = 0
    for row in capabilities([kind.name]).rows:
        for case in CASES[row.name][: 2 if kind.starts else None]:
            if not row.reasons:
                assert case_difference(case, expected(row.name, case.seed), subject.answer(case)) is None, row.name
                compared += 1
    assert compared > 10


def test_every_feature_of_the_language_is_asked_for() -> None:
    asked = [query_features(query) for asked in SUITE for query in parse_workload(asked.workload)]
    assert set(Feature) - frozenset().union(*asked) - CASE_FEATURES == {Feature.NEGATIVE_FACTOR}
    names = [asked.name for asked in SUITE]
    assert len(set(names)) == len(names)


def test_the_document_is_up_to_date() -> None:
    """`cepbench capabilities --format markdown -o docs/algorithms/capabilities.md` writes it."""
    text = PAGE.read_text()
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == markdown(capabilities()).strip()


def test_parameters_make_a_column_of_their_own() -> None:
    reasons = {row.name: row.reasons for row in capabilities(["sharon", "sharon[max_length=4]"]).rows}
    assert list(reasons["Kleene"]) == ["sharon"]
    assert list(reasons["AND"]) == ["sharon", "sharon[max_length=4]"]
    with pytest.raises(UnknownAlgorithm, match="unknown algorithm 'nothing'"):
        capabilities(["nothing"])


def test_a_workload_is_refused_for_its_first_query_that_is() -> None:
    asked = Asked("own", "two", "RETURN COUNT(*) PATTERN SEQ(A, B); RETURN COUNT(*) PATTERN A+")
    [row] = capabilities(["sharon", "greta"], [asked]).rows
    assert list(row.reasons) == ["sharon"]
    assert "max_length" in row.reasons["sharon"]


def test_of_what_was_measured_the_columns_that_differ_are_shown() -> None:
    measured = ["greta", "sharon[max_length=4]", "sharon[optimizer=greedy]", "mine", "cet[nothing=1]"]
    table = measured_capabilities(measured)
    assert table.algorithms == (*(kind.name for kind in algorithms()), "sharon[max_length=4]")


def test_what_is_not_installed_is_shown_as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    before = capabilities(["flink"])
    reported = "Flink is not available: there is no java"
    monkeypatch.setattr("cepbench.algorithms.external.flink.algorithm.missing", lambda: reported)
    table = capabilities(["flink"])
    assert table.absent == {"flink": reported}
    assert table.rows == before.rows
    assert table.rows[0].reasons == {}


def test_a_group_that_is_refused_as_a_whole_is_reported_so() -> None:
    def refused(group: str, *reasons: str | None) -> list[Capability]:
        by_row = [{} if reason is None else {"a": reason} for reason in reasons]
        return [Capability(group, f"{group}{n}", "", why) for n, why in enumerate(by_row)]

    rows = [*refused("X", "no", "no", "no"), *refused("Y", "no", None, "never"), *refused("Z", "no", "no")]
    table = Capabilities(("a", "b"), tuple(rows), {})
    assert table.refusals("a") == {"no": ("all of X", "Y0", "Z0", "Z1"), "never": ("Y2",)}
    assert table.refusals("b") == {}
