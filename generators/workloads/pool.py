"""Patterns composed of short ones from a pool, as in the generator that the authors of Sharon published."""

from cepbench.generators.errors import GeneratorError
from cepbench.generators.randomness import column_random

ATTEMPTS = 1000
"""Draws of short patterns for one query before its workload is refused as impossible."""


def check_pool(length: int, part_length: int, pool: int, repeats: bool) -> None:
    """Raises `ValueError` for a pool from which no pattern of `length` types can be composed."""
    if length % part_length:
        raise ValueError(f"part_length = {part_length} does not divide length = {length}")
    if not repeats and length > part_length * pool:
        raise ValueError(
            f"length = {length} exceeds the {part_length * pool} places of a pool of {pool} short patterns of "
            f"{part_length}; use a larger pool or repeats"
        )


def pool_patterns(
    seed: int, queries: int, length: int, types: int, pool: int, part_length: int, repeats: bool
) -> list[list[int]]:
    """Patterns of `length` types (codes from 0), each a run of short patterns drawn from a pool.

    With `repeats`, as published (github.com/olgapoppe/Sharon, PatternGenerator): each type of a short pattern and each
    short pattern of a query is drawn independently, so that a type may occur several times in a pattern. Without, as
    the papers assume it (dissertation 22.2): short patterns are dealt from a shuffled alphabet, which is shuffled again
    when it runs out, and a query draws again until none of its types repeats. Raises `GeneratorError` if it never does.
    """
    parts = _pool(seed, types, pool, part_length, repeats)
    patterns = []
    for number in range(queries):
        random = column_random(seed, "query", number)
        for _ in range(ATTEMPTS):
            drawn = random.choice(pool, length // part_length, replace=repeats)
            pattern = [code for part in drawn for code in parts[part]]
            if repeats or len(set(pattern)) == length:
                break
        else:
            raise GeneratorError(
                f"workload sequences: found no pattern of {length} different types in a pool of {pool} short patterns "
                f"out of {types} types; use more types, a smaller pool, or repeats"
            )
        patterns.append(pattern)
    return patterns


def _pool(seed: int, types: int, pool: int, part_length: int, repeats: bool) -> list[list[int]]:
    """The short patterns; a smaller pool is a beginning of a larger one."""
    random = column_random(seed, "pool", 0)
    if repeats:
        return [random.integers(types, size=part_length).tolist() for _ in range(pool)]
    parts: list[list[int]] = []
    deck: list[int] = []
    for _ in range(pool):
        if len(deck) < part_length:
            deck = random.permutation(types).tolist()
        parts.append(deck[:part_length])
        deck = deck[part_length:]
    return parts
