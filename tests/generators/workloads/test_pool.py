from typing import Any

import pytest

from cepbench.generators.errors import GeneratorError
from cepbench.generators.parameters import parse
from cepbench.generators.workloads.registry import workload_text
from cepbench.generators.workloads.sequences import Sequences
from cepbench.queries.workloads import parse_workload


def patterns(**parameters: Any) -> list[tuple[str, ...]]:
    fields = {"patterns": "pool", **parameters}
    return Sequences(parse("sequences", Sequences.Parameters, fields)).patterns()


def batched(pattern: tuple[str, ...], length: int) -> list[tuple[str, ...]]:
    return [pattern[start : start + length] for start in range(0, len(pattern), length)]


def parts(sequences: list[tuple[str, ...]], length: int) -> set[tuple[str, ...]]:
    return {part for pattern in sequences for part in batched(pattern, length)}


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize(("pool", "part_length", "length"), [(5, 5, 10), (12, 2, 10), (3, 4, 4), (8, 3, 6)])
def test_patterns_are_put_together_from_the_pool(pool: int, part_length: int, length: int, repeats: bool) -> None:
    sequences = patterns(queries=200, length=length, pool=pool, part_length=part_length, types=60, repeats=repeats)
    assert {len(pattern) for pattern in sequences} == {length}
    assert len(parts(sequences, part_length)) == pool
    for place in range(length // part_length):
        drawn = {batched(pattern, part_length)[place] for pattern in sequences}
        assert len(drawn) == pool


def test_without_repeats_no_type_occurs_twice_in_a_pattern() -> None:
    sequences = patterns(queries=100, length=15, pool=9, part_length=5, types=20)
    assert all(len(set(pattern)) == 15 for pattern in sequences)
    dealt = patterns(queries=100, length=10, pool=5, part_length=5, types=25)
    assert len({name for part in parts(dealt, 5) for name in part}) == 25


def test_with_repeats_types_and_short_patterns_may_come_again() -> None:
    sequences = patterns(queries=100, length=6, pool=2, part_length=3, types=5, repeats=True)
    assert any(pattern[:3] == pattern[3:] for pattern in sequences)
    assert any(
        len(set(part)) < 3
        for seed in range(5)
        for part in parts(patterns(queries=50, length=3, pool=9, part_length=3, types=4, repeats=True, seed=seed), 3)
    )


@pytest.mark.parametrize("repeats", [False, True])
def test_fewer_queries_are_a_beginning(repeats: bool) -> None:
    text = workload_text("sequences", {"patterns": "pool", "repeats": repeats})
    assert text == workload_text("sequences", {"patterns": "pool", "repeats": repeats})
    assert text != workload_text("sequences", {"patterns": "pool", "repeats": repeats, "seed": 1})
    fewer = workload_text("sequences", {"patterns": "pool", "repeats": repeats, "queries": 7})
    assert text.startswith(fewer.rstrip("\n"))
    assert len(parse_workload(text)) == 20


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ({"part_length": 3}, "part_length = 3 does not divide length = 10"),
        ({"part_length": 20}, "part_length = 20 does not divide length = 10"),
        ({"pool": 1}, "length = 10 exceeds the 5 places of a pool of 1 short patterns of 5"),
        ({"pool": 0}, "pool"),
        ({"part_length": 0}, "part_length"),
        ({"length": 60, "types": 50}, "length = 60 exceeds the 50 types"),
        ({"length": 50, "pool": 1000}, "found no pattern of 50 different types in a pool of 1000 short patterns"),
    ],
)
def test_refused(fields: dict[str, Any], reported: str) -> None:
    with pytest.raises(GeneratorError) as error:
        patterns(**fields)
    assert reported in str(error.value)
    assert "\n" not in str(error.value)
