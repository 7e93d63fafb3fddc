from itertools import combinations, pairwise
from typing import Any

import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.parameters import parse
from cepbench.generators.workloads.registry import workload_text
from cepbench.generators.workloads.sequences import Sequences
from cepbench.queries.workloads import parse_workload

Pairs = set[tuple[str, str]]


def patterns(**parameters: Any) -> list[tuple[str, ...]]:
    return Sequences(parse("sequences", Sequences.Parameters, parameters)).patterns()


def pairs(pattern: tuple[str, ...]) -> Pairs:
    return set(pairwise(pattern))


def stretches(pattern: tuple[str, ...], length: int) -> set[tuple[str, ...]]:
    return {pattern[start : start + length] for start in range(len(pattern) - length + 1)}


def cores(sequences: list[tuple[str, ...]], length: int) -> dict[tuple[str, ...], list[int]]:
    """Sequences of this length in several queries, with the queries."""
    holders: dict[tuple[str, ...], list[int]] = {}
    for number, pattern in enumerate(sequences):
        for stretch in stretches(pattern, length):
            holders.setdefault(stretch, []).append(number)
    return {stretch: numbers for stretch, numbers in holders.items() if len(numbers) > 1}


def test_defaults_of_the_dissertation() -> None:
    sequences = patterns()
    assert len(sequences) == 20
    assert {len(pattern) for pattern in sequences} == {10}
    assert {name for pattern in sequences for name in pattern} <= {f"Item{n}" for n in range(50)}
    assert all(len(set(pattern)) == 10 for pattern in sequences)


@pytest.mark.parametrize("parameters", [{}, {"patterns": "routes", "cores": 3}, {"private": "random", "overlap": 0.4}])
def test_a_workload_is_a_function_of_its_parameters(parameters: dict[str, Any]) -> None:
    text = workload_text("sequences", parameters)
    assert text == workload_text("sequences", parameters)
    assert text != workload_text("sequences", {**parameters, "seed": 1})
    fewer = workload_text("sequences", {**parameters, "queries": 7})
    assert text.startswith(fewer.rstrip("\n"))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("patterns_", "types"), [("cores", 50), ("routes", 300)])
def test_without_overlap_no_two_queries_have_neighbours_in_common(patterns_: str, types: int, seed: int) -> None:
    sequences = patterns(queries=25, overlap=0, patterns=patterns_, types=types, seed=seed)
    assert not [True for a, b in combinations(sequences, 2) if pairs(a) & pairs(b)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("overlap", "sharing"), [(0.25, 10), (0.5, 20), (1, 40)])
def test_the_wanted_share_of_queries_has_a_core(overlap: float, sharing: int, seed: int) -> None:
    sequences = patterns(queries=40, overlap=overlap, cores=2, core_length=6, types=60, seed=seed)
    shared = {stretch: numbers for stretch, numbers in cores(sequences, 6).items() if len(numbers) == sharing // 2}
    assert len(shared) == 2
    assert len({number for numbers in shared.values() for number in numbers}) == sharing
    for core, holders in shared.items():
        offsets = {sequences[number].index(core[0]) for number in holders}
        assert offsets <= set(range(5))
        assert len(offsets) > 1


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_in_common_belong_to_a_core_or_lie_at_its_ends(seed: int) -> None:
    sequences = patterns(queries=60, overlap=0.5, cores=3, core_length=4, types=50, seed=seed)
    shared = [stretch for stretch, numbers in cores(sequences, 4).items() if len(numbers) == 10]
    assert len(shared) == 3
    for left, right in combinations(sequences, 2):
        common_cores = [core for core in shared if core in stretches(left, 4) and core in stretches(right, 4)]
        common = pairs(left) & pairs(right)
        if not common_cores:
            assert not common
        for core in common_cores:
            assert pairs(core) <= common
            assert all(pair in pairs(core) or pair[1] == core[0] or pair[0] == core[-1] for pair in common)


def test_a_whole_pattern_may_be_a_core() -> None:
    sequences = patterns(queries=6, length=4, core_length=4, cores=2)
    assert sequences[0] == sequences[2] == sequences[4] != sequences[1] == sequences[3] == sequences[5]
    assert not pairs(sequences[0]) & pairs(sequences[1])


def test_random_places_share_by_chance() -> None:
    sequences = patterns(queries=60, overlap=0, private="random", types=20)
    assert any(pairs(a) & pairs(b) for a, b in combinations(sequences, 2))
    assert all(len(set(pattern)) == 10 for pattern in sequences)


def test_repeats() -> None:
    sequences = patterns(queries=30, length=12, types=5, repeats=True, private="random", core_length=2)
    assert {len(pattern) for pattern in sequences} == {12}
    assert any(a == b for pattern in sequences for a, b in pairwise(pattern))


@pytest.mark.parametrize("overlap", [0, 0.5, 1])
def test_routes_are_runs_of_consecutive_segments(overlap: float) -> None:
    sequences = patterns(patterns="routes", types=400, prefix="Segment", overlap=overlap, cores=4, core_length=5)
    for pattern in sequences:
        numbers = [int(name.removeprefix("Segment")) for name in pattern]
        assert all((b - a) % 400 == 1 for a, b in pairwise(numbers))
    sharing = [number for number in range(20) if int((number + 1) * overlap) > int(number * overlap)]
    for left, right in combinations(range(20), 2):
        common = pairs(sequences[left]) & pairs(sequences[right])
        sharers = left in sharing and right in sharing
        if sharers and sharing.index(left) % 4 == sharing.index(right) % 4:
            assert len(common) >= 4
        else:
            assert not common


@pytest.mark.parametrize(("closure", "shape"), [("flat", "{0}+, {1}"), ("nested", "(SEQ({0}+, {1}))+")])
def test_queries_with_a_core_share_its_closure(closure: str, shape: str) -> None:
    parameters = {"queries": 8, "length": 4, "core_length": 2, "overlap": 0.5, "types": 60, "closure": closure}
    less = "{first}.value < NEXT({first}).value"
    texts = Sequences(parse("sequences", Sequences.Parameters, {**parameters, "predicate": less})).queries()
    (core,) = cores(patterns(**parameters), 2)
    held = [text for text in texts if shape.format(*core) in text]
    assert len(held) == 4
    assert all(f"{core[0]}.value < NEXT({core[0]}).value" in text for text in held)
    assert all(text.count("+") == shape.count("+") for text in texts)
    parse_workload("\n\n".join(texts))


def test_closures_are_about_cores() -> None:
    with pytest.raises(GeneratorError, match="patterns = cores"):
        patterns(closure="flat", patterns="routes")
    with pytest.raises(GeneratorError, match=r"only {first} and {second} may occur in braces"):
        patterns(predicate="{third}.value > 1")


def test_routes_may_lead_from_the_last_segment_to_the_first() -> None:
    sequences = patterns(patterns="routes", types=10, length=10, queries=50, core_length=2, cores=10)
    assert any(pair == ("Item9", "Item0") for pattern in sequences for pair in pairwise(pattern))


def test_the_text_is_a_workload_file() -> None:
    text = workload_text(
        "sequences",
        {
            "queries": 4,
            "length": 3,
            "types": ["OakSt", "MainSt", "StateSt", "WestSt"],
            "private": "random",
            "core_length": 2,
            "equivalence": ["vehicle", "direction"],
            "group_by": "sector",
            "within": "10 min",
            "slide": "30 s",
            "aggregates": ["COUNT(*)", "COUNT({first}), SUM({last}.speed)"],
        },
    )
    queries = parse_workload(text)
    assert [query.name for query in queries] == ["q1", "q2", "q3", "q4"]
    assert queries[0].partition == ("sector", "vehicle", "direction")
    lines = text.split("\n\n")[1].splitlines()
    first, _, last = lines[2].removeprefix("PATTERN ").split(", ")
    assert lines == [
        "q2",
        f"RETURN sector, COUNT({first}), SUM({last}.speed)",
        lines[2],
        "SEMANTICS skip-till-any-match",
        "WHERE [vehicle, direction]",
        "GROUP-BY sector",
        "WITHIN 10 min SLIDE 30 s",
    ]


def test_clauses_may_be_left_out() -> None:
    parameters = {"queries": 1, "length": 2, "overlap": 0, "equivalence": [], "within": None}
    assert workload_text("sequences", parameters).splitlines()[3:] == ["SEMANTICS skip-till-any-match"]
    tumbling = workload_text("sequences", {**parameters, "within": "5 min", "slide": None})
    assert tumbling.splitlines()[4:] == ["WITHIN 5 min"]
    assert parse_workload(tumbling)[0].window is not None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"quries": 3}, "generator sequences has no parameter 'quries'; choose from aggregates, closure, core_length,"),
        ({"queries": 0}, "parameter queries = 0 is not allowed; give a whole number >= 1 and <= 10000"),
        ({"overlap": 1.5}, "parameter overlap = 1.5 is not allowed; give a number >= 0 and <= 1"),
        ({"types": 0}, "parameter types = 0 is not allowed; give 1 to 100000, or different names separated by commas"),
        ({"types": "A, B, A"}, "parameter types = 'A, B, A' is not allowed"),
        ({"types": "A,,B"}, "parameter types = 'A,,B' is not allowed"),
        ({"types": 5}, "length = 10 exceeds the 5 types; use more types or repeats"),
        ({"types": 5, "repeats": True, "patterns": "routes"}, "length = 10 exceeds the 5 types"),
        ({"core_length": 11}, "core_length = 11 exceeds length = 10"),
        ({"prefix": "a b"}, "parameter prefix = 'a b' is not allowed; give text"),
        ({"repeats": "perhaps"}, "parameter repeats = 'perhaps' is not allowed; give true or false"),
        (
            {"aggregates": ["SUM({middle}.x)"]},
            "'SUM({middle}.x)': only {first} and {last} may occur in braces",
        ),
        ({"aggregates": ["SUM({first.x})"]}, "only {first} and {last} may occur in braces"),
        ({"patterns": "loops"}, "parameter patterns = 'loops' is not allowed; give one of cores, routes"),
        (
            {"types": 12, "overlap": 0},
            "workload sequences: no room for 20 queries of 10 out of 12 types without common neighbors",
        ),
        (
            {"types": 50, "overlap": 0.5, "patterns": "routes"},
            "workload sequences: no room for 20 routes of 10 out of 50 segments without common stretches; use more",
        ),
    ],
)
def test_impossible_workloads_are_refused_in_one_line(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(GeneratorError) as refusal:
        workload_text("sequences", parameters)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_unknown_workload_generators_are_refused() -> None:
    with pytest.raises(GeneratorError, match="unknown workload generator 'squences'; choose one of sequences"):
        workload_text("squences", {})


def test_numbers_may_come_as_text() -> None:
    text = {"queries": "5", "types": "20", "overlap": "0.5", "repeats": "false", "aggregates": "COUNT(*)"}
    values = {"queries": 5, "types": 20, "overlap": 0.5, "repeats": False, "aggregates": ["COUNT(*)"]}
    assert workload_text("sequences", text) == workload_text("sequences", values)
