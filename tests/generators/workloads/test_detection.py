"""Workloads of detection queries: structure, conditions and common parts of their patterns."""

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
    return [*(part.type for part in pattern.elements), *(part.type for part in pattern.negated)]


def density(workload: tuple[DetectionPattern, ...]) -> float:
    return MultiPatternGraph(SubPatternTable(workload), range(len(workload))).density


def test_defaults_are_those_of_the_paper() -> None:
    workload = patterns()
    assert len(workload) == 100
    assert {len(types_of(pattern)) for pattern in workload} == {5}
    assert all(len(set(types_of(pattern))) == 5 for pattern in workload)
    assert 35 <= sum(pattern.ordered for pattern in workload) <= 65
    special = [
        pattern for pattern in workload if pattern.negated or any(element.kleene for element in pattern.elements)
    ]
    assert len(special) == 20
    # By turns, where it is a SEQ.
    assert 2 <= sum(bool(pattern.negated) for pattern in special) <= 8
    # Half of 5: two conditions, or three.
    counts = [len(pattern.conditions) for pattern in workload]
    assert set(counts) == {2, 3}
    assert np.mean(counts) == pytest.approx(2.5, abs=0.2)
    assert {condition.comparison.left.attribute for pattern in workload for condition in pattern.conditions} == {
        "difference"
    }
    assert {pattern.window for pattern in workload} == {15 * 60}
    assert len({name for pattern in workload for name in types_of(pattern)}) > 350


@pytest.mark.full
def test_a_negation_stands_between_others_and_is_not_compared() -> None:
    negating = [pattern for pattern in patterns(queries=400, special=1, conjunctions=0) if pattern.negated]
    assert 180 < len(negating) <= 200
    for pattern in negating:
        assert pattern.ordered
        assert [0 < negated.gap < 4 for negated in pattern.negated] == [True]
        assert len(pattern.elements) == 4


def test_events_of_a_closure_have_a_condition_of_their_own_if_asked() -> None:
    workload = patterns(closures="{kleene}.score < 0.2", special=0.5)
    kleene = [element for pattern in workload for element in pattern.elements if element.kleene]
    assert len(kleene) > 20
    for element in kleene:
        assert element.filters == frozenset({Relation(Term("score"), Op.LT, 0.2)})
    assert not any(element.filters for pattern in workload for element in pattern.elements if not element.kleene)


def test_sensors_compare_speed_and_vehicles_in_the_same_way() -> None:
    text = workload_text("detection", {"attributes": "speed,vehicles", "prefix": "P", "types": 449, "size": 3})
    workload = patterns(SENSORS, attributes="speed,vehicles", prefix="P", types=449, size=3)
    assert {len(pattern.conditions) for pattern in workload} == {2, 4}
    for line in text.splitlines():
        if line.startswith("WHERE"):
            parts = re.findall(r"(P\d+)\.(\w+) ([<>]) (P\d+)\.(\w+)", line)
            for (a, x, op, b, y), (c, z, operator, d, w) in zip(parts[::2], parts[1::2], strict=True):
                assert (a, op, b) == (c, operator, d)
                assert (x, y, z, w) == ("speed", "speed", "vehicles", "vehicles")


@pytest.mark.full
def test_sizes_vary_around_the_average() -> None:
    sizes = [len(types_of(pattern)) for pattern in patterns(queries=300, spread=2)]
    assert set(sizes) == {3, 4, 5, 6, 7}
    assert np.mean(sizes) == pytest.approx(5, abs=0.3)


def test_two_types_are_compared_alike_wherever_they_are() -> None:
    comparisons: dict[frozenset[str], set[str]] = {}
    for line in workload_text("detection", {"types": 6, "size": 4, "comparisons": "<,>,<=,>="}).splitlines():
        for a, op, b in re.findall(r"(C\d+)\.difference (\S+) (C\d+)\.difference", line):
            comparisons.setdefault(frozenset((a, b)), set()).add(f"{a}{op}{b}")
    assert len(comparisons) == 15
    assert {len(ways) for ways in comparisons.values()} == {1}
    assert len({re.sub(r"C\d+", "", way) for ways in comparisons.values() for way in ways}) == 4


@pytest.mark.parametrize(("asked", "cores"), [(0.1, 1), (0.5, 1), (1, 1), (0.25, 2), (0.2, 5)])
@pytest.mark.full
def test_the_multi_pattern_graph_is_as_dense_as_asked(asked: float, cores: int) -> None:
    workload = patterns(density=asked, cores=cores, private=True, special=0)
    # A pattern is no neighbour of itself, and numbers of patterns are whole.
    assert density(workload) == pytest.approx(asked, abs=0.04)
    if asked == 1:
        [common] = {frozenset.intersection(*(frozenset(types_of(pattern)) for pattern in workload))}
        assert len(common) == 3


@pytest.mark.full
def test_without_cores_nothing_but_chance_makes_patterns_neighbours() -> None:
    assert density(patterns(private=True)) == 0
    assert 0 < density(patterns()) < 0.05
    assert density(patterns(types=40)) > 0.3


def test_cores_are_shared_whole_and_come_at_any_place() -> None:
    workload = patterns(density=1, private=True, size=6, conjunctions=0, special=0.5)
    table = SubPatternTable(workload)
    graph = MultiPatternGraph(table, range(len(workload)))
    for first, second in list(combinations(range(20), 2))[::7]:
        assert max(members.bit_count() for _, members, _ in graph.common(first, second)) == 3
    common = frozenset.intersection(*(frozenset(types_of(pattern)) for pattern in workload))
    places = {tuple(i for i, element in enumerate(pattern.elements) if element.type in common) for pattern in workload}
    assert len(places) > 8
    assert not any(element.kleene for pattern in workload for element in pattern.elements if element.type in common)


def test_of_two_cores_each_is_shared_with_other_patterns() -> None:
    parameters = {"density": 0.3, "cores": 10, "cores_per_pattern": 2, "core_sizes": "2,3", "private": True, "size": 6}
    workload = patterns(special=0, **parameters)
    assert density(workload) == pytest.approx(0.3, abs=0.1)
    graph = MultiPatternGraph(SubPatternTable(workload), range(len(workload)))
    shared: dict[int, set[frozenset[str]]] = {}
    for first, second in graph.edges():
        common = frozenset(types_of(workload[first])) & frozenset(types_of(workload[second]))
        shared.setdefault(first, set()).add(common)
        shared.setdefault(second, set()).add(common)
    cores = {common for sets in shared.values() for common in sets if len(common) <= 3}
    assert {len(core) for core in cores} == {2, 3}
    assert len(cores) == 10
    # Both cores of a pattern, which are disjoint, and their union with the few that have the same two.
    assert all(len({common for common in sets if len(common) <= 3}) == 2 for sets in shared.values())
    assert 80 <= len(shared) <= 95


@pytest.mark.parametrize("difference", [0.0, 0.2, 0.6, 1.0])
@pytest.mark.full
def test_rates_in_a_pattern_differ_as_asked(difference: float) -> None:
    skew, count = 0.413, 2100
    rates = zipf_weights(count, skew)
    spread = rates[0] - rates[-1]
    measured = []
    for pattern in patterns(skew=skew, rate_difference=difference, special=0):
        pattern_rates = [rates[int(name[1:])] for name in types_of(pattern)]
        measured.append((max(pattern_rates) - min(pattern_rates)) / spread)
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
    assert {pattern.window for pattern in patterns(within="500 events")} == {500}
    assert all(pattern.scope.counts_events for pattern in patterns(within="500 events"))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"size": 3, "spread": 2}, "size = 3 less spread = 2 is below 2 types"),
        ({"size": 6, "types": 5}, "patterns of 6 types exceed the 5 types"),
        ({"comparisons": "<,~"}, "comparisons = <, ~: choose from"),
        ({"closures": "{other}.score < 1"}, "only {kleene} may occur in braces"),
        ({"rate_difference": 0.5}, "rate_difference needs the skew of the stream"),
        ({"density": 0.5, "core_sizes": 6}, "cores of 6 types in all exceed the least pattern of 5 types"),
        ({"density": 0.5, "cores_per_pattern": 2}, "cores of 6 types in all exceed the least pattern of 5 types"),
        ({"density": 0.5, "cores": 5, "cores_per_pattern": 2, "core_sizes": 2}, "5 cores are too few for patterns"),
        ({"density": 0.5, "cores": 3}, "density = 0.5 is impossible with 3 cores; use at most 2"),
        ({"private": True, "types": 50}, "no room for 100 patterns out of 50 types"),
    ],
)
def test_what_cannot_be_made_is_refused(parameters: dict[str, object], reason: str) -> None:
    with pytest.raises(GeneratorError, match=re.escape(reason)):
        workload_text("detection", parameters)


@pytest.mark.parametrize("cores", [{}, {"density": 0.3, "cores": 3}])
def test_independent_conditions_have_no_type_in_common(cores: dict[str, object]) -> None:
    workload = patterns(size=6, conditions=1, independent=True, **cores)
    pairs = [{frozenset((condition.left, condition.right)) for condition in pattern.conditions} for pattern in workload]
    assert all(len(conditions) == len(set().union(*conditions)) / 2 for conditions in pairs if conditions)
    assert max(len(conditions) for conditions in pairs) == 3
    dependent = [
        {frozenset((condition.left, condition.right)) for condition in pattern.conditions}
        for pattern in patterns(size=6, conditions=1)
    ]
    assert any(len(conditions) > len(set().union(*conditions)) / 2 for conditions in dependent)
