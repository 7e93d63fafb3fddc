"""Workloads of detection queries: their structure, their conditions, and what they have in common."""

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.detection.mcep.planning.graph import MultiPatternGraph
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, SubPatternTable, patterns_of
from cepbench.algorithms.registry import make
from cepbench.generators.errors import GeneratorError
from cepbench.generators.randomness import zipf_weights
from cepbench.generators.registry import from_spec
from cepbench.generators.workloads.registry import workload_text
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Op, Relation, Term
from cepbench.queries.workloads import parse_workload

STOCK = from_spec("stock", {"companies": 2100, "typed_by": "company", "differences": True})
SENSORS = from_spec("sensors", {})


def patterns(stream: Any = STOCK, **parameters: object) -> tuple[DetectionPattern, ...]:
    queries = parse_workload(workload_text("detection", parameters))
    assert all(make("sase").unsupported(query) is None for query in queries)
    return patterns_of(compile_workload(queries, stream.schema(), "modular"))


def types_of(pattern: DetectionPattern) -> list[str]:
    return [*(one.type for one in pattern.elements), *(one.type for one in pattern.negated)]


def density(found: tuple[DetectionPattern, ...]) -> float:
    return MultiPatternGraph(SubPatternTable(found), range(len(found))).density


def test_defaults_are_those_of_the_paper() -> None:
    found = patterns()
    assert len(found) == 100
    assert {len(types_of(pattern)) for pattern in found} == {5}
    assert all(len(set(types_of(pattern))) == 5 for pattern in found)
    assert 35 <= sum(pattern.ordered for pattern in found) <= 65
    special = [one for one in found if one.negated or any(element.kleene for element in one.elements)]
    assert len(special) == 20
    # By turns, where it is a SEQ.
    assert 2 <= sum(bool(one.negated) for one in special) <= 8
    # Half of 5: two conditions, or three.
    counts = [len(pattern.conditions) for pattern in found]
    assert set(counts) == {2, 3}
    assert np.mean(counts) == pytest.approx(2.5, abs=0.2)
    assert {condition.comparison.left.attribute for one in found for condition in one.conditions} == {"difference"}
    assert {one.window for one in found} == {15 * 60}
    assert len({name for one in found for name in types_of(one)}) > 350


@pytest.mark.full
def test_a_negation_stands_between_others_and_is_not_compared() -> None:
    found = [one for one in patterns(queries=400, special=1, conjunctions=0) if one.negated]
    assert 180 < len(found) <= 200
    for one in found:
        assert one.ordered
        assert [0 < negated.gap < 4 for negated in one.negated] == [True]
        assert len(one.elements) == 4


def test_events_of_a_closure_have_a_condition_of_their_own_if_asked() -> None:
    found = patterns(closures="{kleene}.score < 0.2", special=0.5)
    kleene = [element for one in found for element in one.elements if element.kleene]
    assert len(kleene) > 20
    for element in kleene:
        assert element.filters == frozenset({Relation(Term("score"), Op.LT, 0.2)})
    assert not any(element.filters for one in found for element in one.elements if not element.kleene)


def test_sensors_compare_speed_and_vehicles_in_the_same_way() -> None:
    text = workload_text("detection", {"attributes": "speed,vehicles", "prefix": "P", "types": 449, "size": 3})
    found = patterns(SENSORS, attributes="speed,vehicles", prefix="P", types=449, size=3)
    assert {len(one.conditions) for one in found} == {2, 4}
    for line in text.splitlines():
        if line.startswith("WHERE"):
            parts = re.findall(r"(P\d+)\.(\w+) ([<>]) (P\d+)\.(\w+)", line)
            for (a, x, op, b, y), (c, z, other, d, w) in zip(parts[::2], parts[1::2], strict=True):
                assert (a, op, b) == (c, other, d)
                assert (x, y, z, w) == ("speed", "speed", "vehicles", "vehicles")


@pytest.mark.full
def test_sizes_vary_around_the_average() -> None:
    sizes = [len(types_of(pattern)) for pattern in patterns(queries=300, spread=2)]
    assert set(sizes) == {3, 4, 5, 6, 7}
    assert np.mean(sizes) == pytest.approx(5, abs=0.3)


def test_two_types_are_compared_alike_wherever_they_are() -> None:
    found: dict[frozenset[str], set[str]] = {}
    for line in workload_text("detection", {"types": 6, "size": 4, "comparisons": "<,>,<=,>="}).splitlines():
        for a, op, b in re.findall(r"(C\d+)\.difference (\S+) (C\d+)\.difference", line):
            found.setdefault(frozenset((a, b)), set()).add(f"{a}{op}{b}")
    assert len(found) == 15
    assert {len(ways) for ways in found.values()} == {1}
    assert len({re.sub(r"C\d+", "", way) for ways in found.values() for way in ways}) == 4


@pytest.mark.parametrize(("wanted", "cores"), [(0.1, 1), (0.5, 1), (1, 1), (0.25, 2), (0.2, 5)])
@pytest.mark.full
def test_the_multi_pattern_graph_is_as_dense_as_asked(wanted: float, cores: int) -> None:
    found = patterns(density=wanted, cores=cores, private=True, special=0)
    # A pattern is no neighbour of itself, and numbers of patterns are whole.
    assert density(found) == pytest.approx(wanted, abs=0.04)
    if wanted == 1:
        [common] = {frozenset.intersection(*(frozenset(types_of(one)) for one in found))}
        assert len(common) == 3


@pytest.mark.full
def test_without_cores_nothing_but_chance_makes_patterns_neighbours() -> None:
    assert density(patterns(private=True)) == 0
    assert 0 < density(patterns()) < 0.05
    assert density(patterns(types=40)) > 0.3


def test_cores_are_shared_whole_and_come_at_any_place() -> None:
    found = patterns(density=1, private=True, size=6, conjunctions=0, special=0.5)
    table = SubPatternTable(found)
    graph = MultiPatternGraph(table, range(len(found)))
    for first, second in list(combinations(range(20), 2))[::7]:
        assert max(mine.bit_count() for _, mine, _ in graph.common(first, second)) == 3
    common = frozenset.intersection(*(frozenset(types_of(one)) for one in found))
    places = {tuple(i for i, element in enumerate(one.elements) if element.type in common) for one in found}
    assert len(places) > 8
    assert not any(element.kleene for one in found for element in one.elements if element.type in common)


@pytest.mark.parametrize("difference", [0.0, 0.2, 0.6, 1.0])
@pytest.mark.full
def test_rates_in_a_pattern_differ_as_asked(difference: float) -> None:
    skew, count = 0.413, 2100
    rates = zipf_weights(count, skew)
    spread = rates[0] - rates[-1]
    measured = []
    for one in patterns(skew=skew, rate_difference=difference, special=0):
        own = [rates[int(name[1:])] for name in types_of(one)]
        measured.append((max(own) - min(own)) / spread)
    # The fastest types are far apart from one another, so a span may be wider where it begins with them.
    assert np.median(measured) == pytest.approx(difference, abs=0.12)
    assert min(measured) >= difference - 0.12


def test_smaller_workloads_are_the_beginning_of_larger_ones() -> None:
    for parameters in ({}, {"density": 0.3, "private": True}, {"density": 0.3, "skew": 0.4, "rate_difference": 0.5}):
        few, many = (workload_text("detection", {"queries": n, **parameters}) for n in (11, 50))
        assert many.startswith(few.rstrip("\n"))


def test_seeds_differ_and_a_seed_does_not() -> None:
    assert workload_text("detection", {"seed": 1}) == workload_text("detection", {"seed": 1})
    assert workload_text("detection", {"seed": 1}) != workload_text("detection", {"seed": 2})


def test_spans_may_count_events() -> None:
    assert {one.window for one in patterns(within="500 events")} == {500}
    assert all(one.scope.counts_events for one in patterns(within="500 events"))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"size": 3, "spread": 2}, "size = 3 less spread = 2 is below 2 types"),
        ({"size": 6, "types": 5}, "patterns of 6 types exceed the 5 types"),
        ({"comparisons": "<,~"}, "comparisons = <, ~: choose from"),
        ({"closures": "{other}.score < 1"}, "only {kleene} may occur in braces"),
        ({"rate_difference": 0.5}, "rate_difference needs the skew of the stream"),
        ({"density": 0.5, "core_size": 6}, "core_size = 6 exceeds the least pattern of 5 types"),
        ({"density": 0.5, "cores": 3}, "density = 0.5 is impossible with 3 cores; use at most 2"),
        ({"private": True, "types": 50}, "no room for 100 patterns out of 50 types"),
    ],
)
def test_what_cannot_be_made_is_refused(parameters: dict[str, object], reason: str) -> None:
    with pytest.raises(GeneratorError, match=re.escape(reason)):
        workload_text("detection", parameters)


@pytest.mark.parametrize("cores", [{}, {"density": 0.3, "cores": 3}])
def test_independent_conditions_have_no_type_in_common(cores: dict[str, object]) -> None:
    found = patterns(size=6, conditions=1, independent=True, **cores)
    pairs = [{frozenset((condition.left, condition.right)) for condition in one.conditions} for one in found]
    assert all(len(own) == len(set().union(*own)) / 2 for own in pairs if own)
    assert max(len(own) for own in pairs) == 3
    dependent = [
        {frozenset((condition.left, condition.right)) for condition in one.conditions}
        for one in patterns(size=6, conditions=1)
    ]
    assert any(len(own) > len(set().union(*own)) / 2 for own in dependent)
