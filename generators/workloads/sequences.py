"""Workloads of sequence queries with a chosen degree of overlap."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, model_validator

from cepbench.generators.errors import GeneratorError
from cepbench.generators.randomness import column_random
from cepbench.generators.workloads.base import NOTHING, Names, WorkloadGenerator, check_braces, names_of, query_text

MAX_TYPES = 10**5
ATTEMPTS = 100
"""Random fillings of a pattern before its workload is refused as impossible."""
DRAWS = 1000
"""Draws of short patterns for one query of a pool before its workload is refused as impossible."""

OWN = -1

Pattern = list[int]
Used = dict[tuple[int, int], int]
"""Pairs of neighbors that occur in patterns, by core if they are at its ends, otherwise by `OWN`."""


def _types(value: object) -> int | tuple[str, ...]:
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MAX_TYPES:
            raise ValueError("out of range")
        return value
    names = names_of(value)
    if len(set(names)) < len(names) or not names:
        raise ValueError("a name is given twice")
    return names


Types = Annotated[
    int | tuple[str, ...], PlainValidator(_types), f"1 to {MAX_TYPES}, or different names separated by commas"
]


def _check_pool(length: int, part_length: int, pool: int, repeats: bool) -> None:
    """Raises `ValueError` for a pool from which no pattern of `length` types can be composed."""
    if length % part_length:
        raise ValueError(f"part_length = {part_length} does not divide length = {length}")
    if not repeats and length > part_length * pool:
        raise ValueError(
            f"length = {length} exceeds the {part_length * pool} places of a pool of {pool} short patterns of "
            f"{part_length}; use a larger pool or repeats"
        )


class SequencesParameters(BaseModel):
    """Defaults fit the e-commerce stream and queries of dissertation 25.1 (20 queries of length 10) and Figure 1.4."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(0, ge=0, description="seed of all randomness")
    queries: int = Field(20, ge=1, le=10**4, description="number of queries; fewer are a prefix of more")
    length: int = Field(10, ge=1, le=1000, description="event types per pattern")
    types: Types = Field(50, description="the alphabet: a number of types named prefix0, prefix1, ..., or their names")
    prefix: str = Field("Item", pattern=r"^[A-Za-z_]\w*$", description="names of numbered types without the number")
    patterns: Literal["cores", "routes", "pool"] = Field(
        "cores",
        description="cores: random types around a core; routes: runs of consecutive types, as on a road; pool: "
        "short patterns from a pool, one after another",
    )
    pool: int = Field(10, ge=1, le=10**4, description="short patterns of a pool")
    part_length: int = Field(5, ge=1, le=1000, description="types of a short pattern; it divides the length")
    overlap: float = Field(1.0, ge=0, le=1, description="share of the queries that contain a core")
    cores: int = Field(1, ge=1, le=10**4, description="cores; queries that have one take them in turn")
    core_length: int | None = Field(None, ge=2, le=1000, description="types of a core; by default half of the length")
    private: Literal["unique", "random"] = Field(
        "unique",
        description="types outside of cores; unique: no two queries share neighbors there; random: any",
    )
    repeats: bool = Field(False, description="whether a type may occur several times in a pattern")
    closure: Literal["none", "flat", "nested"] = Field(
        "none",
        description="of patterns around cores; flat: the first type of the core is under a Kleene plus; nested: so is "
        "the core, too; a query without a core has its closure where a core would be",
    )
    predicate: str = Field(
        NOTHING,
        description="a predicate of each query; {first}, {second} are the first types of its core; or none",
    )
    equivalence: Names = Field(("customer",), description="attributes that the events of a match share")
    group_by: Names = Field((), description="grouping attributes")
    within: str | None = Field("20 min", description="length of the windows; without one, the stream is one window")
    slide: str | None = Field("1 min", description="slide of the windows; without one, they do not overlap")
    aggregates: Names = Field(
        ("COUNT(*)",), description="aggregates that queries take in turn; {first}, {last} are types of the pattern"
    )

    @model_validator(mode="after")
    def _check(self) -> "SequencesParameters":
        if self.length > len(self.names) and not (self.repeats and self.patterns in ("cores", "pool")):
            raise ValueError(f"length = {self.length} exceeds the {len(self.names)} types; use more types or repeats")
        if self.patterns == "pool":
            _check_pool(self.length, self.part_length, self.pool, self.repeats)
        elif self.overlap > 0 and self.core > self.length:
            raise ValueError(f"core_length = {self.core} exceeds length = {self.length}")
        if (self.closure, self.predicate) != (NOTHING, NOTHING) and self.patterns != "cores":
            raise ValueError("closure and predicate are about cores; give patterns = cores")
        check_braces(self.aggregates, "first", "last")
        check_braces((self.predicate,), "first", "second")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The alphabet."""
        return tuple(f"{self.prefix}{n}" for n in range(self.types)) if isinstance(self.types, int) else self.types

    @property
    def core(self) -> int:
        """Types of a core."""
        return max(2, self.length // 2) if self.core_length is None else self.core_length


class Sequences(WorkloadGenerator[SequencesParameters]):
    """Sequence queries that share cores, runs along a road, or short patterns of a pool.

    `overlap` is the share of the queries that contain a core, evenly spread over the workload: a sequence of
    `core_length` types at a random place of the pattern. There are `cores` of them, taken in turn.

    `patterns = cores`: a core is a random sequence. The other places are filled with random types. With `private =
    unique`, two queries share neighboring types only within a core that both contain, or the core with the type right
    before or after it; so overlap 0 means that nothing can be shared, and overlap 1 that every query shares its core
    with all queries that contain it. With `private = random`, the other places overlap by chance as well.

    With a `closure`, all queries have the same shape, and those with a core share trends of it, not only sequences. Two
    queries whose closures begin with the same type may share that one type by chance.

    `patterns = routes`: types are segments of a ring road and a pattern is a run of consecutive ones, as in queries
    q1-q7 of dissertation Figure 1.3. A core is a stretch of the road, the cores evenly spread along it. Queries with
    the same core share at least that stretch, and more if their runs continue in the same direction. With `private =
    unique`, the run of a query without a core shares no two segments with any other query.

    `patterns = pool`: a pattern is `length / part_length` short patterns from a pool of `pool`, drawn at random
    (`_pool_patterns`); cores and `private` are not used.
    """

    name = "sequences"
    paper = "dissertation 1.1, 25.1"
    Parameters = SequencesParameters

    def queries(self) -> list[str]:
        """Generates queries one after another; longer workloads begin with the same queries."""
        return [self._query(number, pattern) for number, pattern in enumerate(self.patterns())]

    def patterns(self) -> list[tuple[str, ...]]:
        """The event types of each query's pattern."""
        p = self.parameters
        if p.patterns == "pool":
            patterns = _pool_patterns(p.seed, p.queries, p.length, len(p.names), p.pool, p.part_length, p.repeats)
        else:
            patterns = _routes(p) if p.patterns == "routes" else _around_cores(p)
        return [tuple(p.names[code] for code in pattern) for pattern in patterns]

    def _query(self, number: int, pattern: Sequence[str]) -> str:
        p = self.parameters
        aggregate = p.aggregates[number % len(p.aggregates)].format(first=pattern[0], last=pattern[-1])
        start = _core_start(p, column_random(p.seed, "query", number)) if p.patterns == "cores" else 0
        conditions = [f"[{', '.join(p.equivalence)}]"] if p.equivalence else []
        if p.predicate != NOTHING:
            conditions.append(p.predicate.format(first=pattern[start], second=pattern[start + 1]))
        return query_text(
            number,
            aggregate,
            ", ".join(_closed(p, pattern, start)),
            " AND ".join(conditions),
            p.group_by,
            p.within,
            p.slide,
        )


def _closed(p: SequencesParameters, pattern: Sequence[str], start: int) -> Sequence[str]:
    """The parts of a pattern whose core, or its replacement, begins at `start`."""
    if p.closure == NOTHING:
        return pattern
    before, core, after = pattern[:start], pattern[start : start + p.core], pattern[start + p.core :]
    parts = (f"{core[0]}+", *core[1:])
    return (*before, *(parts if p.closure == "flat" else (f"(SEQ({', '.join(parts)}))+",)), *after)


def _core_start(p: SequencesParameters, random: np.random.Generator) -> int:
    """The place at which the core of a query begins: the first one drawn for it."""
    return int(random.integers(max(p.length - p.core, 0), endpoint=True))


def _shared_core(p: SequencesParameters, number: int) -> int | None:
    """The core that query `number` contains, if any."""
    share = Fraction(str(p.overlap))
    before, after = int(number * share), int((number + 1) * share)
    return before % p.cores if after > before else None


def _around_cores(p: SequencesParameters) -> list[Pattern]:
    used: Used = {}
    cores = []
    for number in range(p.cores if p.overlap > 0 else 0):
        cores.append(_filled(p, column_random(p.seed, "core", number), [None] * p.core, used, OWN))
        used.update(dict.fromkeys(pairwise(cores[-1]), OWN))
    patterns = []
    for number in range(p.queries):
        random = column_random(p.seed, "query", number)
        places: list[int | None] = [None] * p.length
        core = _shared_core(p, number)
        if core is not None:
            start = _core_start(p, random)
            places[start : start + p.core] = cores[core]
        if p.private == "random":
            patterns.append(_filled(p, random, places, {}, OWN))
            continue
        patterns.append(_filled(p, random, places, used, OWN if core is None else core))
        for pair, ends in zip(pairwise(patterns[-1]), pairwise(places), strict=True):
            at_end = (ends[0] is None) != (ends[1] is None)
            used[pair] = used.get(pair, core) if core is not None and at_end else OWN
    return patterns


def _filled(
    p: SequencesParameters, random: np.random.Generator, places: Sequence[int | None], used: Used, core: int
) -> Pattern:
    """`places` with random types where there is None, without used pairs of neighbors.

    Only at an end of the query's `core` may there be a pair that another query has at an end of the same core.
    """
    fixed = {code for code in places if code is not None}
    for _ in range(ATTEMPTS):
        pattern: Pattern = []
        for place, code in enumerate(places):
            if code is None:
                behind_core = place > 0 and places[place - 1] is not None
                after = places[place + 1] if place + 1 < len(places) else None
                choices = [
                    choice
                    for choice in range(len(p.names))
                    if (p.repeats or (choice not in fixed and choice not in pattern))
                    and (not pattern or _free(used, (pattern[-1], choice), core if behind_core else OWN))
                    and (after is None or _free(used, (choice, after), core))
                ]
                if not choices:
                    break
                code = choices[int(random.integers(len(choices)))]
            pattern.append(code)
        else:
            return pattern
    raise GeneratorError(
        f"workload sequences: no room for {p.queries} queries of {p.length} out of {len(p.names)} types without common "
        f"neighbors; use more types, fewer queries, or private = random"
    )


def _free(used: Used, pair: tuple[int, int], core: int) -> bool:
    """Whether a pair is allowed, at an end of `core` or elsewhere (`OWN`)."""
    return pair not in used or used[pair] == core != OWN


def _routes(p: SequencesParameters) -> list[Pattern]:
    ring = len(p.names)
    slack = p.length - p.core  # maximum extension of a run beyond either end of its core
    shift = int(column_random(p.seed, "core", 0).integers(ring))
    cores = [shift + core * ring // p.cores for core in range(p.cores if p.overlap > 0 else 0)]
    taken = {place % ring for core in cores for place in range(core - slack, core + p.length - 1)}
    patterns = []
    for number in range(p.queries):
        random = column_random(p.seed, "query", number)
        core = _shared_core(p, number)
        if core is not None:
            start = cores[core] - int(random.integers(slack, endpoint=True))
        else:
            start = _free_start(p, random, taken if p.private == "unique" else set())
            taken.update(place % ring for place in range(start, start + p.length - 1))
        patterns.append([place % ring for place in range(start, start + p.length)])
    return patterns


def _free_start(p: SequencesParameters, random: np.random.Generator, taken: set[int]) -> int:
    """A place at which a run may begin so that it crosses no used border (border i is after segment i)."""
    ring = len(p.names)
    starts = [s for s in range(ring) if not any((s + step) % ring in taken for step in range(p.length - 1))]
    if not starts:
        raise GeneratorError(
            f"workload sequences: no room for {p.queries} routes of {p.length} out of {ring} segments without common "
            f"stretches; use more types, fewer queries, more overlap, or private = random"
        )
    return starts[int(random.integers(len(starts)))]


def _pool_patterns(
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
        for _ in range(DRAWS):
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
