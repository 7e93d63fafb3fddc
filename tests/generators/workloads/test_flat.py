"""Workloads with closures of a single type: simple and complex queries."""

import re
from collections import Counter

import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.journeys import ENDS
from cepbench.generators.workloads.flat import Flat
from cepbench.generators.workloads.registry import workload_text
from cepbench.queries.workloads import parse_workload


def lines_of(begin: str, **parameters: object) -> list[str]:
    text = workload_text("flat", parameters)
    parse_workload(text)
    return [line.removeprefix(begin).strip() for line in text.splitlines() if line.startswith(begin)]


def test_simple_queries_differ_at_their_ends_only() -> None:
    patterns = lines_of("PATTERN")
    assert len(set(patterns)) == 100
    assert all(re.fullmatch(r"SEQ\(\w{3}, TOQ\+, \w{3}\)", pattern) for pattern in patterns)
    assert {name for pattern in patterns for name in re.findall(r"\b[A-Z]{3}\b", pattern)} <= {"SEQ", "TOQ", *ENDS}
    assert set(lines_of("WHERE")) == {"TOQ.congestion = 0"}


def test_complex_queries_share_all_but_their_ends_and_differ_in_predicates() -> None:
    patterns = lines_of("PATTERN", complex=1)
    assert {pattern.partition(", ")[2].rpartition(", ")[0] for pattern in patterns} == {"TOQ+, WBA, MKV, YXT, TMR, XBL"}
    assert {len(pattern.split(", ")) for pattern in patterns} == {8}
    counts = Counter(lines_of("WHERE", complex=1))
    assert len(counts) == 4
    assert min(counts.values()) > 12


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_complex_queries_have_their_share(share: float) -> None:
    patterns = lines_of("PATTERN", complex=share)
    lengths = Counter(len(pattern.split(", ")) for pattern in patterns)
    assert lengths == {8: round(100 * share), 3: 100 - round(100 * share)}
    assert {len(pattern.split(", ")) for pattern in patterns[:10]} == {3, 8}


def test_closures_are_of_several_types_by_turns() -> None:
    parameters = {"kleene": 3, "complex": 1, "length": 5, "prefix": "C", "predicates": ["{kleene}.volume > 3", "none"]}
    patterns = lines_of("PATTERN", aggregate="SUM({kleene}.volume)", **parameters)
    shared = [pattern.partition(", ")[2].rpartition(", ")[0] for pattern in patterns]
    assert shared[:4] == ["C0+, C1, C2", "C1+, C2, C3", "C2+, C3, C4", "C0+, C1, C2"]
    queries = workload_text("flat", {**parameters, "aggregate": "SUM({kleene}.volume)"}).split("\n\n")
    for number, query in enumerate(queries):
        assert set(re.findall(r"C\d+(?=\.)", query)) == {f"C{number % 3}"}
    assert {"WHERE" in query for query in queries} == {True, False}


def test_smaller_workloads_are_the_beginning_of_larger_ones() -> None:
    few, many = (workload_text("flat", {"queries": n, "complex": 0.4}) for n in (11, 50))
    assert many.startswith(few.rstrip("\n"))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"chain": 5}, "1 Kleene types and 5 after them exceed a chain of 5"),
        ({"predicates": "{hub}.delay < 3"}, "only {kleene} may occur in braces"),
        ({"ends": 3, "queries": 7}, "no room for 7 different patterns"),
    ],
)
def test_what_cannot_be_made_is_refused(parameters: dict[str, object], reason: str) -> None:
    with pytest.raises(GeneratorError, match=re.escape(reason)):
        workload_text("flat", parameters)


def test_the_listing_names_the_paper() -> None:
    assert Flat.describe().paper == "Gloria 8.3"
