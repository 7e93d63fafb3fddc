"""The multi-pattern graph: the paper's examples, and brute force."""

from itertools import combinations
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.graph import (
    CommonSubPattern,
    MultiPatternGraph,
    matchings,
    maximal_cliques,
)
from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, operands_of
from tests.algorithms.detection.mcep.planning.workloads import random_patterns, table_of


def types(table: SubPatternTable, pattern: int, mask: int) -> str:
    return "".join(table[pattern].elements[one].type for one in operands_of(mask))


def maximal_common(table: SubPatternTable, first: int, second: int) -> list[CommonSubPattern]:
    """The common sub-patterns of two patterns that are not part of a larger one."""
    found = sorted(set(matchings(table, first, second)), key=lambda one: (one.first, one.second))

    def within(sub: int, other: CommonSubPattern) -> bool:
        return any(table.of(first, part) == sub for part in range(1, other.first) if part & other.first == part)

    return [one for one in found if not any(within(one.sub, other) for other in found)]


def maximal(*texts: str) -> list[str]:
    """The types of the maximal common sub-patterns of two patterns."""
    table = table_of(*texts)
    common = maximal_common(table, 0, 1)
    assert all(table.of(0, one.first) == table.of(1, one.second) == one.sub for one in common)
    return sorted(types(table, 0, one.first) for one in common)


def test_a_common_subsequence() -> None:
    """Section 4.1: the maximal one is SEQ(A, C, D); SEQ(C, A) is in neither."""
    assert maximal("SEQ(A, B, C, D) WITHIN 10 s", "SEQ(A, E, C, D) WITHIN 20 s") == ["ACD"]


def test_conditions_in_conflict() -> None:
    """Appendix A: AND(A, B, C) with A.x < 10 and AND(A, D, C) with A.x >= 10 have only C in common.

    The text names the common types A and B, and AND(B); P2 has no B, so that C is meant.
    """
    assert maximal("A a AND B AND C WHERE a.x < 10", "A a AND D AND C WHERE a.x >= 10") == ["C"]


def test_two_maximal_ones() -> None:
    """Appendix A: SEQ(A, B) and SEQ(A, C) of SEQ(A, B, C) and SEQ(A, C, B)."""
    assert maximal("SEQ(A, B, C)", "SEQ(A, C, B)") == ["AB", "AC"]


def test_conditions_on_pairs_split_what_is_common() -> None:
    assert maximal("A a AND B AND C c WHERE a.x < c.x", "A a AND B AND C c WHERE a.x > c.x") == ["AB", "BC"]


def test_structures_in_conflict_leave_single_events() -> None:
    assert maximal("SEQ(A, B)", "A AND B") == ["A", "B"]
    assert maximal("SEQ(A, B)", "SEQ(A, B) WITHIN 5 events") == []
    assert maximal("SEQ(A, B)", "SEQ(C, D)") == []


def test_repeated_types() -> None:
    assert maximal("SEQ(A, B, A)", "SEQ(A, B)") == ["AB"]
    assert maximal("SEQ(A p, A q, B)", "SEQ(A p, B, A q)") == ["AA", "AB", "AB"]


def test_a_pattern_within_another() -> None:
    """Section 3.1: SEQ(A, B) is part of SEQ(A, B, C)."""
    table = table_of("SEQ(A, B, C)", "SEQ(A, B)")
    [common] = maximal_common(table, 0, 1)
    assert common.sub == table.whole(1)


@pytest.mark.parametrize("seed", range(60))
def test_all_maximal_ones_are_found(seed: int) -> None:
    """Against all pairs of sets of operands."""
    table = SubPatternTable(random_patterns(Random(seed), 2, 4, "ABC"))
    sets = [range(1, table[p].everything + 1) for p in (0, 1)]
    common = {(a, b) for a in sets[0] for b in sets[1] if table.of(0, a) == table.of(1, b)}
    subs = {table.of(0, a) for a, _ in common}

    def inside(sub: int, of: int) -> bool:
        return sub != of and any(
            table.of(0, b) == of and a & b == a and table.of(0, a) == sub for a in sets[0] for b in sets[0]
        )

    expected = {sub for sub in subs if not any(inside(sub, other) for other in subs)}
    assert {one.sub for one in maximal_common(table, 0, 1)} == expected


@pytest.mark.parametrize("seed", range(20))
def test_maximal_cliques(seed: int) -> None:
    random, size = Random(seed), 7
    joined = [pair for pair in combinations(range(size), 2) if random.random() < 0.6]
    neighbors = [sum(1 << b if a == v else 1 << a for a, b in joined if v in (a, b)) for v in range(size)]

    def is_clique(chosen: int) -> bool:
        return all(neighbors[v] | 1 << v | chosen == neighbors[v] | 1 << v for v in operands_of(chosen))

    cliques = [chosen for chosen in range(1, 1 << size) if is_clique(chosen)]
    expected = [one for one in cliques if not any(one != other and one & other == one for other in cliques)]
    assert sorted(maximal_cliques(neighbors)) == expected


def shared(graph: MultiPatternGraph) -> object:
    return graph.patterns_of, graph.common_of, graph.edges(), graph.edges(2)


@pytest.mark.parametrize("seed", range(10))
def test_removing_undoes_adding(seed: int) -> None:
    random = Random(seed)
    table = SubPatternTable(random_patterns(random, 8))
    some = random.sample(range(8), 5)
    graph = MultiPatternGraph(table, range(8))
    assert graph.edges()
    for pattern in set(range(8)) - set(some):
        graph.remove(pattern)
    assert shared(graph) == shared(MultiPatternGraph(table, sorted(some)))


@pytest.mark.parametrize("seed", range(20))
def test_the_tables_hold_every_edge(seed: int) -> None:
    table = SubPatternTable(random_patterns(Random(seed), 7))
    graph = MultiPatternGraph(table, range(7))
    found = {pair: maximal_common(table, *pair) for pair in combinations(range(7), 2)}
    for least in (1, 2):
        edges = [pair for pair, common in found.items() if any(c.first.bit_count() >= least for c in common)]
        assert graph.edges(least) == edges
    for (p, q), common in found.items():
        assert {one.sub for one in common} <= {sub for sub, _, _ in graph.common(p, q)}
        for sub, mine, other in graph.common(p, q):
            assert table.of(p, mine) == table.of(q, other) == sub


@pytest.mark.parametrize("more", [(), ("SEQ(D, E)",)], ids=["of as many", "of more"])
def test_of_several_places_of_a_sub_pattern_the_first_one_is_told(more: tuple[str, ...]) -> None:
    table = table_of("SEQ(A p, A q, B, D)", "SEQ(A, B)", *more)
    graph = MultiPatternGraph(table, range(2 + len(more)))
    whole, first = table.whole(1), 0b101
    assert (whole, first, 0b11) in graph.common(0, 1)
    assert (whole, 0b11, first) in graph.common(1, 0)


@pytest.mark.parametrize("seed", range(20))
def test_who_contains_a_sub_pattern(seed: int) -> None:
    table = SubPatternTable(random_patterns(Random(seed), 7))
    graph = MultiPatternGraph(table, range(7))
    for pattern in range(7):
        for mask in range(1, table[pattern].everything + 1):
            sub = table.of(pattern, mask)
            having = graph.containing(pattern, mask)
            assert all(table.of(other, there) == sub for other, there in having.items())
            masks = [range(1, table[other].everything + 1) for other in range(7)]
            assert set(having) == {
                other for other in range(7) if other == pattern or any(table.of(other, m) == sub for m in masks[other])
            }


@pytest.mark.parametrize("seed", range(20))
def test_random_choices_are_common(seed: int) -> None:
    random = Random(seed)
    table = SubPatternTable(random_patterns(random, 7))
    graph = MultiPatternGraph(table, range(7))
    sizes = set()
    for _ in range(100):
        for least, most, choice in (
            (1, 2, graph.random_pair(random, 1)),
            (2, 2, graph.random_pair(random, 2)),
            (2, 4, graph.random_vertex(random, 2, 4)),
        ):
            if choice is None:
                assert not graph.edges(least)
                continue
            sizes.add(len(choice.masks))
            numbers = [pattern for pattern, _ in choice.masks]
            assert len(set(numbers)) == len(numbers) <= most
            for pattern, mask in choice.masks:
                assert not mask if choice.sub < 0 else table.of(pattern, mask) == choice.sub
                assert mask.bit_count() >= least or choice.sub < 0
    assert 2 in sizes


def test_density() -> None:
    table = table_of("SEQ(A, B)", "SEQ(B, C)", "SEQ(C, A)", "SEQ(E, F)")
    graph = MultiPatternGraph(table, range(4))
    assert graph.edges() == [(0, 1), (0, 2), (1, 2)]
    assert graph.edges(2) == []
    assert graph.density == 2 * 3 / 16
    assert MultiPatternGraph(table).density == 0
