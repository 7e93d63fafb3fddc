"""Workloads with closures of a single type: simple and complex queries."""

import re
from collections import Counter

import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.journeys import CHAIN, ENDS
from cepbench.generators.workloads.flat import Flat
from cepbench.generators.workloads.registry import workload_text
from cepbench.queries.workloads import parse_workload


def lines_of(begin: str, **parameters: object) -> list[str]:
    text = workload_text("flat", parameters)
    parse_workload(text)
    return [line.removeprefix(begin).strip() for line in text.splitlines() if line.startswith(begin)]


def test_simple_queries_of_a_kleene_type_differ_at_their_end_only() -> None:
    patterns = lines_of("PATTERN")
    assert len(set(patterns)) == 100
    assert all(re.fullmatch(r"SEQ\(\w{3}\+, TOQ, \w{3}\)", pattern) for pattern in patterns)
    kleene = [pattern[4:7] for pattern in patterns]
    assert kleene == [name for name in CHAIN[1:11] for _ in range(10)]
    assert {pattern[-4:-1] for pattern in patterns} <= set(ENDS)
    assert set(lines_of("WHERE")) == {f"{name}.congestion = 0" for name in CHAIN[1:11]}


def test_complex_queries_have_private_types_and_differ_in_predicates() -> None:
    patterns = lines_of("PATTERN", complex=1)
    for pattern in patterns:
        _, second, *ends = re.findall(r"\w{3}", pattern.removeprefix("SEQ"))
        assert second == "TOQ"
        assert len(set(ends)) == 6
        assert set(ends) <= set(ENDS)
    counts = Counter(predicate.split(".")[1] for predicate in lines_of("WHERE", complex=1))
    assert len(counts) == 2
    assert min(counts.values()) > 30


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_queries_of_the_first_kleene_types_are_complex(share: float) -> None:
    lengths = [len(pattern.split(", ")) for pattern in lines_of("PATTERN", complex=share)]
    complex_queries = round(100 * share)
    assert lengths == [8] * complex_queries + [3] * (100 - complex_queries)


def test_other_streams_have_other_names() -> None:
    parameters = {"kleene": 3, "block": 2, "queries": 8, "prefix": "C", "predicates": ["{kleene}.volume > 3", "none"]}
    text = workload_text("flat", {**parameters, "complex": 1, "aggregate": "SUM({kleene}.volume)"})
    for number, query in enumerate(text.split("\n\n")):
        assert set(re.findall(r"C\d+(?=\.)", query)) == {f"C{1 + number // 2 % 3}"}


def test_smaller_workloads_are_the_beginning_of_larger_ones() -> None:
    few, many = (workload_text("flat", {"queries": n, "complex": 0.4}) for n in (11, 50))
    assert many.startswith(few.rstrip("\n"))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"chain": 10}, "10 Kleene types and the type after them exceed a chain of 10"),
        ({"ends": 5}, "a pattern of length 8 has 6 of only 5 ends"),
        ({"predicates": "{hub}.delay < 3"}, "only {kleene} may occur in braces"),
        ({"ends": 6, "queries": 7, "block": 7}, "no room for 7 different patterns"),
    ],
)
def test_what_cannot_be_made_is_refused(parameters: dict[str, object], reason: str) -> None:
    with pytest.raises(GeneratorError, match=re.escape(reason)):
        workload_text("flat", parameters)


def test_the_listing_names_the_paper() -> None:
    assert Flat.describe().paper == "Gloria 8.3"
