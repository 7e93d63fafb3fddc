"""Workloads of detection queries with pairwise conditions, some of which share a sub-pattern, as in MCEP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import sqrt
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from cepbench.generators.errors import GeneratorError
from cepbench.generators.randomness import column_random, hashed_uniform, zipf_weights
from cepbench.generators.workloads.base import Names, WorkloadGenerator, check_braces

LEAST_SIZE = 2
NOTHING = "none"
CHOICE = 3
"""The fewest cores of a structure from which patterns take two: each then meets different others."""
ROOM = 3
"""A range of rates has at least this many times as many types as a pattern, for every difference of rates."""


def _sizes(value: object) -> object:
    """Numbers separated by commas, or a number, as a tuple."""
    return value.split(",") if isinstance(value, str) else (value,) if isinstance(value, int) else value


Sizes = Annotated[tuple[Annotated[int, Field(ge=LEAST_SIZE, le=30)], ...], Field(min_length=1), BeforeValidator(_sizes)]


class DetectionParameters(BaseModel):
    """Defaults are those of MCEP 6.1, on the stock stream with companies as types and differences of prices."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(0, ge=0, description="seed of all randomness")
    queries: int = Field(100, ge=1, le=10**4, description="number of queries; fewer are a prefix of more")
    types: int = Field(
        2100, ge=LEAST_SIZE, le=10**5, description="first types of the stream, of which patterns are made"
    )
    prefix: str = Field("C", pattern=r"^[A-Za-z_]\w*$", description="names of types without their number")
    size: int = Field(5, ge=LEAST_SIZE, le=30, description="average number of event types of a pattern")
    spread: int = Field(0, ge=0, le=10, description="maximum deviation of a pattern's size from the average")
    conjunctions: float = Field(0.5, ge=0, le=1, description="share of AND patterns; the others are SEQ")
    special: float = Field(0.2, ge=0, le=1, description="share of patterns with a NOT or a Kleene plus, in turn")
    conditions: float = Field(
        0.5, ge=0, le=2, description="pairs of types that conditions compare, per type of a pattern"
    )
    attributes: Names = Field(("difference",), description="attributes that a condition compares, all in the same way")
    comparisons: Names = Field(("<", ">"), description="comparisons of conditions, drawn for each pair of types")
    independent: bool = Field(
        False,
        description="whether no type of a pattern is in two compared pairs, so that conditions are independent; there "
        "are at most half as many pairs as types then",
    )
    closures: str = Field(
        NOTHING, description="a condition on each event of a Kleene type, {kleene}, so that it binds few; or none"
    )
    within: str = Field("15 min", description="span of a match, or a number of events such as 1000 events")
    density: float | None = Field(
        None,
        gt=0,
        le=1,
        description="share of the workload with which a pattern shares a core, on average; by default no cores",
    )
    cores: int = Field(1, ge=1, le=1000, description="cores; patterns that have one take them in turn")
    core_sizes: Sizes = Field((3,), description="types of a core, one of which is drawn for each")
    cores_per_pattern: int = Field(
        1, ge=1, le=2, description="cores of a pattern that has any; of two, each is shared with other patterns"
    )
    private: bool = Field(False, description="whether patterns share no type outside of their core")
    skew: float = Field(0.0, ge=0, le=5, description="Zipf exponent of the stream's types in the order of their names")
    rate_difference: float | None = Field(
        None,
        ge=0,
        le=1,
        description="difference of rates in a pattern as a share of the largest in the stream; by default any types",
    )

    @model_validator(mode="after")
    def _check(self) -> DetectionParameters:
        if self.size - self.spread < LEAST_SIZE:
            raise ValueError(f"size = {self.size} less spread = {self.spread} is below {LEAST_SIZE} types")
        if self.size + self.spread > self.types:
            raise ValueError(f"patterns of {self.size + self.spread} types exceed the {self.types} types")
        if not set(self.comparisons) <= {"<", "<=", ">", ">=", "=", "!="}:
            raise ValueError(f"comparisons = {', '.join(self.comparisons)}: choose from <, <=, >, >=, =, !=")
        check_braces((self.closures,), "kleene")
        if self.rate_difference is not None and not self.skew:
            raise ValueError("rate_difference needs the skew of the stream; without skew rates do not differ")
        if self.density is not None:
            shared = self.cores_per_pattern * max(self.core_sizes)
            if shared > self.size - self.spread:
                raise ValueError(
                    f"cores of {shared} types in all exceed the least pattern of {self.size - self.spread} types"
                )
            if self.sharing > 1:
                raise ValueError(
                    f"density = {self.density} is impossible with {self.cores} cores; use at most "
                    f"{int(self.cores_per_pattern**2 / self.density)}"
                )
            if self.cores_per_pattern > 1 and min(map(len, self.cores_by_structure)) < CHOICE:
                raise ValueError(
                    f"{self.cores} cores are too few for patterns with two: SEQ and AND patterns need {CHOICE} each"
                )
        return self

    @property
    def sharing(self) -> float:
        """The share of patterns with a core.

        In a workload in which each of k cores is in the share s, a pattern with c cores shares one with about c s of
        all others; so the mean share is about k s^2, and the share with cores is k s / c.
        """
        return 0.0 if self.density is None else sqrt(self.density * self.cores) / self.cores_per_pattern

    @cached_property
    def cores_by_structure(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the cores of SEQ and of AND patterns; without the structure that no core has."""
        kinds = [[n for n in range(self.cores) if _is_one(self.conjunctions, n) == kind] for kind in (False, True)]
        return tuple(tuple(numbers) for numbers in kinds if numbers)


@dataclass(frozen=True)
class _Core:
    """Types that patterns share, in their order, with the compared pairs of them."""

    ordered: bool
    types: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    span: tuple[int, ...]


class Detection(WorkloadGenerator[DetectionParameters]):
    """Detection queries (WITHIN ... PER MATCH) with pairwise conditions, as in MCEP 6.1 and Appendix D.

    A pattern is a SEQ or an AND of `size` different types, plus or minus `spread`. About `conditions` times its size,
    pairs of types are compared by their `attributes`: the comparison is drawn once for each pair of types, for all
    patterns, so that patterns with both types may share the condition. The share `special` has a NOT (in a SEQ, between
    others) or a Kleene plus; a negated type is one of `size`, and is not compared. A Kleene plus binds any of 2^n sets
    of n events: except in short spans its events need their own condition (`closures`).

    Two conditions that share a type hold together more or less often than the product of their selectivities, which
    cost models assume. With `independent`, there are none.

    With `density`, some patterns contain a core: `core_sizes` types of one structure with the same conditions, at
    random places. Patterns with a core are evenly spread, and so many that a pattern shares its core with the share
    `density` of the workload on average: the density of the multi-pattern graph, as far as cores cause it (Appendix D).
    With `private`, nothing else is shared, so that both are equal except for the pattern itself. With two
    `cores_per_pattern`, a pattern shares either core with other patterns, so that no common prefix has both.

    With `rate_difference`, a pattern's types are in a range of rates that is as wide as that share of the largest
    difference, or slightly wider if it has too few types; the fastest and the slowest of the range are in the pattern,
    or in its core. The paper normalizes by its largest difference of 45 events per second. Rates are known from `skew`:
    that of the stream, whose first type must be the most frequent one (`ranks=named`).
    """

    name = "detection"
    paper = "MCEP 6.1, Appendix D"
    Parameters = DetectionParameters

    def queries(self) -> list[str]:
        """Generates one query after another. Raises `GeneratorError` if there are too few types for private ones."""
        p = self.parameters
        taken: set[int] = set()
        cores = [self._core(number, taken) for number in range(p.cores if p.density is not None else 0)]
        return [self._query(number, cores, taken) for number in range(p.queries)]

    def _core(self, number: int, taken: set[int]) -> _Core:
        p, random = self.parameters, column_random(self.parameters.seed, "core", number)
        span = self._span(random)
        size = p.core_sizes[int(random.integers(len(p.core_sizes)))]
        types = self._drawn(random, span, size, self._ends(span), taken)
        taken.update(types)
        pairs = list(combinations(types, 2))
        shuffled = [pairs[i] for i in random.permutation(len(pairs))]
        ordered = not _is_one(p.conjunctions, number)
        return _Core(ordered, types, self._compatible(shuffled, int(p.conditions * size)), span)

    def _query(self, number: int, cores: Sequence[_Core], taken: set[int]) -> str:
        p, random = self.parameters, column_random(self.parameters.seed, "query", number)
        size = int(random.integers(p.size - p.spread, p.size + p.spread, endpoint=True))
        chosen = self._cores_of(_before(p.sharing, number), cores) if cores and _is_one(p.sharing, number) else ()
        if chosen:
            ordered, core_types = chosen[0].ordered, tuple(code for core in chosen for code in core.types)
            excluded = {*core_types, *(taken if p.private else ())}
            fresh = self._drawn(random, chosen[0].span, size - len(core_types), (), excluded)
        else:
            ordered, core_types = not bool(random.random() < p.conjunctions), ()
            span = self._span(random)
            fresh = self._drawn(random, span, size, self._ends(span), taken if p.private else set())
        if p.private:
            taken.update(fresh)
        # Types of a core keep their order, at random places.
        free, place_of = random.permutation(size), dict[int, int]()
        for core in chosen:
            places, free = np.sort(free[: len(core.types)]), free[len(core.types) :]
            place_of |= dict(zip(places.tolist(), core.types, strict=True))
        types = list(fresh)
        for place, code in sorted(place_of.items()):
            types.insert(place, code)
        special = _is_one(p.special, number)
        inner = [code for code in types[1:-1] if code not in core_types]
        negated = kleene = None
        if special and ordered and inner and not _before(p.special, number) % 2:
            negated = inner[int(random.integers(len(inner)))]
        elif special:
            others = [code for code in types if code not in core_types] or types
            kleene = others[int(random.integers(len(others)))]
        pairs = self._pairs(random, [code for code in types if code != negated], chosen, size)
        return self._text(number, ordered, types, negated, kleene, pairs)

    def _cores_of(self, number: int, cores: Sequence[_Core]) -> tuple[_Core, ...]:
        """The cores of the pattern that is number `number` among those with cores."""
        p = self.parameters
        if p.cores_per_pattern == 1:
            return (cores[number % p.cores],)
        alike = next(numbers for numbers in p.cores_by_structure if number % p.cores in numbers)
        # In each turn of the cores, the second one is farther from the first.
        step = 1 + number // p.cores % (len(alike) - 1)
        return tuple(cores[alike[(alike.index(number % p.cores) + i) % len(alike)]] for i in (0, step))

    def _pairs(
        self, random: np.random.Generator, types: Sequence[int], cores: Sequence[_Core], size: int
    ) -> list[tuple[int, int]]:
        """The pairs that a pattern compares, those of its cores first."""
        first = [pair for core in cores for pair in core.pairs]
        unshared = [
            (a, b) for a, b in combinations(types, 2) if not any(a in core.types and b in core.types for core in cores)
        ]
        wanted = int(self.parameters.conditions * size + random.random())
        shuffled = [unshared[i] for i in random.permutation(len(unshared))]
        return list(self._compatible([*first, *shuffled], max(len(first), wanted)))

    def _compatible(self, pairs: Sequence[tuple[int, int]], most: int) -> tuple[tuple[int, int], ...]:
        """The first pairs, `most` of them; with `independent`, of those that share no type with an earlier one."""
        if not self.parameters.independent:
            return tuple(pairs[:most])
        kept: list[tuple[int, int]] = []
        for pair in pairs:
            if len(kept) < most and not any(code in pair for chosen in kept for code in chosen):
                kept.append(pair)
        return tuple(kept)

    def _text(
        self,
        number: int,
        ordered: bool,
        types: Sequence[int],
        negated: int | None,
        kleene: int | None,
        pairs: Sequence[tuple[int, int]],
    ) -> str:
        p = self.parameters
        operands = [
            f"NOT {p.prefix}{code}" if code == negated else f"{p.prefix}{code}{'+' if code == kleene else ''}"
            for code in types
        ]
        pattern = f"SEQ({', '.join(operands)})" if ordered else " AND ".join(operands)
        lines = [f"q{number + 1}", "RETURN MATCHES", f"PATTERN {pattern}"]
        conditions = [part for pair in pairs for part in self._compared(pair)]
        if kleene is not None and p.closures != NOTHING:
            conditions.append(p.closures.format(kleene=f"{p.prefix}{kleene}"))
        if conditions:
            lines.append(f"WHERE {' AND '.join(conditions)}")
        return "\n".join([*lines, f"WITHIN {p.within} PER MATCH"])

    def _compared(self, pair: tuple[int, int]) -> list[str]:
        """The comparisons of two types, the same in all patterns."""
        p, (low, high) = self.parameters, sorted(pair)
        drawn = hashed_uniform(p.seed, "comparison", np.array([low * p.types + high], dtype=np.int64))[0]
        comparison = p.comparisons[int(drawn * len(p.comparisons))]
        return [f"{p.prefix}{low}.{name} {comparison} {p.prefix}{high}.{name}" for name in p.attributes]

    def _span(self, random: np.random.Generator) -> tuple[int, ...]:
        """The types that a pattern may have, the fastest first."""
        p = self.parameters
        if p.rate_difference is None:
            return tuple(range(p.types))
        rates = self._rates()
        fastest = int(random.integers(int((rates >= p.rate_difference).sum())))
        # One more than the last within the difference: `rates` fall.
        stop = int(np.searchsorted(-rates, p.rate_difference - rates[fastest], side="right"))
        stop = max(stop, fastest + ROOM * (p.size + p.spread))
        first = max(0, min(fastest, p.types - ROOM * (p.size + p.spread)))
        return tuple(range(first, min(stop, p.types)))

    def _rates(self) -> NDArray[np.float64]:
        """The rate of each type above that of the slowest, as a share of the largest difference, float64[types]."""
        rates = zipf_weights(self.parameters.types, self.parameters.skew)
        shares: NDArray[np.float64] = (rates - rates[-1]) / (rates[0] - rates[-1])
        return shares

    def _ends(self, span: Sequence[int]) -> tuple[int, ...]:
        """The types that a pattern must have for its difference of rates."""
        return () if self.parameters.rate_difference is None else (span[0], span[-1])

    def _drawn(
        self, random: np.random.Generator, span: Sequence[int], count: int, needed: Sequence[int], without: set[int]
    ) -> tuple[int, ...]:
        """`count` different types of a range in random order, the needed ones and none of `without`."""
        first = [code for code in needed if code not in without]
        free = [code for code in span if code not in without and code not in first]
        if len(first) + len(free) < count:
            p = self.parameters
            raise GeneratorError(
                f"workload detection: no room for {p.queries} patterns out of {p.types} types without common ones; use "
                f"more types, fewer queries, or private = false"
            )
        places = random.permutation(len(free))[: count - len(first)]
        chosen = [*first[:count], *(free[i] for i in places)]
        return tuple(chosen[i] for i in random.permutation(len(chosen)))


def _before(share: float, number: int) -> int:
    """The number of queries before query `number` in an evenly spread share of the workload."""
    return int(number * Fraction(str(share)))


def _is_one(share: float, number: int) -> bool:
    """Whether query `number` is in that share."""
    return _before(share, number + 1) > _before(share, number)
