"""Workloads of Kleene queries: shared parts, differing parts, and choices by turns."""

import itertools
import re

import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.workloads.kleene import Kleene
from cepbench.generators.workloads.registry import workload_text
from cepbench.queries.model import Aggregates, Query
from cepbench.queries.workloads import parse_workload


def queries_of(**parameters: object) -> list[Query]:
    return list(parse_workload(workload_text("kleene", parameters)))


def patterns_of(**parameters: object) -> list[list[str]]:
    lines = workload_text("kleene", parameters).splitlines()
    return [line.removeprefix("PATTERN ").split(", ") for line in lines if line.startswith("PATTERN ")]


def test_the_first_workload_differs_around_the_kleene_pattern_only() -> None:
    queries = queries_of(queries=40)
    patterns = patterns_of(queries=40)
    assert len(set(map(tuple, patterns))) == 40
    closures = [pattern.index("Travel+") for pattern in patterns]
    assert set(closures) == {1, 2}
    assert {len(pattern) - at - 1 for pattern, at in zip(patterns, closures, strict=True)} == {0, 1, 2}
    assert all(len(set(pattern)) == len(pattern) for pattern in patterns)
    assert len({(query.returns, query.window, query.predicates) for query in queries}) == 1


def test_smaller_workloads_are_the_beginning_of_larger_ones() -> None:
    few, many = workload_text("kleene", {"queries": 7}), workload_text("kleene", {"queries": 30})
    assert many.startswith(few.rstrip("\n"))
    assert workload_text("kleene", {"queries": 7, "seed": 1}) != few


def test_the_second_workload_has_all_kinds() -> None:
    aggregates = ["COUNT(*)", "SUM({kleene}.price), AVG({kleene}.price)", "MAX({kleene}.speed)"]
    predicates = ["none", "{kleene}.speed < 10", "[driver]"]
    parameters = {
        "queries": 120,
        "kleene": ["Travel", "Stop", "Wait"],
        "kleene_length": 3,
        "types": ["Request", "Pickup", "Dropoff", "Cancel", "Accept", "Decline"],
        "aggregates": aggregates,
        "predicates": predicates,
        "group_by": ["none", "district"],
        "within": ["5 min", "10 min", "15 min", "20 min"],
        "slide": "5 min",
    }
    queries = queries_of(**parameters)
    assert {sum(place.endswith("+") for place in pattern) for pattern in patterns_of(**parameters)} == {1, 2, 3}
    kinds = [
        {str(query.returns.items) for query in queries if isinstance(query.returns, Aggregates)},
        {str(query.predicates) for query in queries},
        {str(query.group_by) for query in queries},
        {str(query.window) for query in queries},
    ]
    assert [len(kind) for kind in kinds] == [3, 3, 2, 4]
    met = {
        (str(query.returns.items), str(query.predicates)) for query in queries if isinstance(query.returns, Aggregates)
    }
    assert met == set(itertools.product(kinds[0], kinds[1]))


@pytest.mark.parametrize(
    "sizes", [(1, 1, 2, 2), (1, 3, 2, 4), (5, 3, 2, 2)], ids=lambda sizes: "-".join(map(str, sizes))
)
def test_each_choice_meets_each_of_the_others(sizes: tuple[int, ...]) -> None:
    kleene, aggregates, predicates, windows = sizes
    parameters = {
        "queries": 240,
        "kleene": [f"K{n}" for n in range(kleene)],
        "leading": "turns",
        "aggregates": [f"SUM({{kleene}}.a{n})" for n in range(aggregates)],
        "predicates": [f"{{kleene}}.p < {n}" for n in range(predicates)],
        "within": [f"{n} min" for n in range(1, windows + 1)],
    }
    choices = []
    for text in workload_text("kleene", parameters).split("\n\n"):
        [closure] = re.findall(r"(K\d)\+", text)
        [total], [bound] = re.findall(rf"SUM\({closure}.(a\d)", text), re.findall(rf"{closure}.p < (\d)", text)
        [window] = re.findall(r"WITHIN (\d)", text)
        choices.append((closure, total, bound, window))
    for i, j in itertools.combinations(range(4), 2):
        assert len({(query[i], query[j]) for query in choices}) == sizes[i] * sizes[j]


def test_predicates_alternate_where_nothing_else_does() -> None:
    lines = workload_text(
        "kleene", {"queries": 20, "predicates": ["Travel.speed < 10", "Travel.speed < 20"]}
    ).splitlines()
    where = [line for line in lines if line.startswith("WHERE ")]
    assert where == ["WHERE Travel.speed < 10", "WHERE Travel.speed < 20"] * 10


def test_queries_lead_with_one_kleene_type_each_by_turns() -> None:
    parameters = {
        "queries": 50,
        "kleene": ["C0", "C1", "C2"],
        "leading": "turns",
        "types": [f"C{n}" for n in range(3, 40)],
        "before": 1,
        "least_before": 0,
        "after": 1,
        "aggregates": ["COUNT(*)", "SUM({kleene}.volume)", "AVG({kleene}.volume)"],
        "predicates": ["{kleene}.volume > 30", "{kleene}.volume > 50"],
    }
    patterns = patterns_of(**parameters)
    closures = [[name for name in pattern if name.endswith("+")] for pattern in patterns]
    assert closures == [[f"C{number % 3}+"] for number in range(50)]
    assert {len(pattern) for pattern in patterns} == {1, 2, 3}
    assert {pattern.index(name) for pattern, [name] in zip(patterns, closures, strict=True)} == {0, 1}
    lines = workload_text("kleene", parameters).splitlines()
    sums = [line for line in lines if "SUM(" in line]
    assert {line.partition("SUM(")[2] for line in sums} == {"C0.volume)", "C1.volume)", "C2.volume)"}
    where = [line.removeprefix("WHERE ").partition(".") for line in lines if line.startswith("WHERE ")]
    assert [name for name, _, _ in where] == [f"C{number % 3}" for number in range(50)]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (
            {"kleene": ["Travel", "Tip"], "types": ["Pay", "Stop"], "leading": "turns", "kleene_length": 2},
            "one Kleene type",
        ),
        ({"kleene": ["Travel", "Tip"]}, "a type occurs twice"),
        ({"kleene_length": 2}, "kleene_length = 2 exceeds the 1 types of kleene"),
        ({"before": 12, "after": 8}, r"before \+ after = 20 exceeds the 19 types"),
        ({"aggregates": ["SUM({first}.price)"]}, "only {kleene} may occur in braces"),
        ({"types": ["Tip"], "before": 1, "after": 0}, "no room for 50 different patterns"),
    ],
)
def test_what_cannot_be_made_is_refused(parameters: dict[str, object], reason: str) -> None:
    with pytest.raises(GeneratorError, match=reason):
        workload_text("kleene", parameters)


def test_the_listing_names_the_paper() -> None:
    assert Kleene.describe().paper == "Hamlet 6.1"
