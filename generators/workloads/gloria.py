"""Workloads of sequences and nested Kleene closures that the queries of a block share, as in Gloria."""

from collections.abc import Iterator
from fractions import Fraction

from pydantic import Field, model_validator

from cepbench.generators.randomness import column_random
from cepbench.generators.workloads.base import Names, WorkloadGenerator, check_braces, different
from cepbench.generators.workloads.chained import ChainedParameters, chained_query

INNERMOST = 2
"""Least types of the innermost of nested closures."""


class GloriaParameters(ChainedParameters):
    """Defaults are those of the SEQ workloads that the authors of Gloria published, on the bus stream."""

    block: int = Field(20, ge=1, le=10**4, description="queries of a block, which share sub-patterns")
    kleene: float = Field(0.0, ge=0, le=1, description="share of Kleene queries in a block; 0: SEQ, 1: Kleene workload")
    length: int = Field(4, ge=1, le=100, description="event types of a shared SEQ sub-pattern")
    kleene_length: int = Field(10, ge=1, le=100, description="event types of a shared Kleene sub-pattern")
    layers: int = Field(1, ge=1, le=20, description="closures of a shared Kleene sub-pattern, one in the other")
    aggregates: Names = Field(
        ("COUNT(*)", "SUM({hub}.delay)", "AVG({hub}.delay)"),
        description="aggregates: the first one, or any of the others, for each block and kind; {hub} is the first type",
    )
    counting: float = Field(0.4, ge=0, le=1, description="probability of the first")
    predicate: str = Field("{hub}.congestion = 0", description="predicate of all queries; {hub} as above; or none")

    @model_validator(mode="after")
    def _check(self) -> "GloriaParameters":
        least = 2 * (self.layers - 1) + INNERMOST
        if self.layers > 1 and self.kleene_length < least:
            raise ValueError(
                f"layers = {self.layers} take a kleene_length of {least} or more, not {self.kleene_length}"
            )
        if self.reach > self.chain:
            raise ValueError(
                f"the last of {self.blocks} blocks reaches type {self.reach} of a chain of {self.chain}; use larger "
                f"blocks, shorter sub-patterns or a longer chain"
            )
        check_braces((*self.aggregates, self.predicate), "hub")
        return self

    @property
    def blocks(self) -> int:
        """Blocks of the workload, the last one may be cut."""
        return -(-self.queries // self.block)

    @property
    def reach(self) -> int:
        """Types of the chain that the last block needs."""
        lengths = [self.length] if self.kleene < 1 else []
        lengths += [self.kleene_length + 1] if self.kleene > 0 else []
        return self.blocks - 1 + max(lengths)


class GloriaWorkload(WorkloadGenerator[GloriaParameters]):
    """Blocks of SEQ and Kleene queries that share a sub-pattern, as in the published workloads of Gloria.

    All sub-patterns that queries share begin with the same type, the hub, and continue with the next types of a chain:
    those of block 0 with the types 1, 2, ..., those of block 1 with 2, 3, ... So every query has the hub, and
    sub-patterns of different blocks overlap as well. In a block,

    - SEQ queries are a private type, the `length` shared types, and another private type;
    - Kleene queries, the share `kleene` of them, are the closure of the `kleene_length` shared types, the next type of
      the chain, and a private type. With `layers`, closures are nested: each but the innermost has its first and last
      type around the next one, as in SEQ(A, SEQ(B, C)+, D)+.

    Private types are drawn from `ends`, different ones within a block if there are enough, and no two patterns are
    equal. Windows are drawn per query. Queries of a block and kind have one aggregate, the first one, or mix the
    others.

    The published SEQ workloads have blocks of 10 queries on taxi trips, and of 20 on buses (a file that is named for n
    queries has 2n), the Kleene workloads 10 blocks of 10 queries, the mixed ones blocks of 12 with 2 Kleene queries
    (length 10, 2 layers), and those in which the share of Kleene queries varies 10 blocks of 10. All group by line,
    have one predicate, on the hub, and windows of 5 to 20 minutes that slide by 5. Their queries come in any order;
    here they are ordered by block.
    """

    name = "gloria"
    paper = "Gloria 8.1"
    Parameters = GloriaParameters

    def queries(self) -> list[str]:
        """Generates queries block by block. Raises `GeneratorError` if there are too few types for
        different patterns.
        """
        p = self.parameters
        patterns = different(self.name, list(map(self._patterns, range(p.queries))), "more ends or smaller blocks")
        return [self._query(number, pattern) for number, pattern in enumerate(patterns)]

    def _query(self, number: int, pattern: str) -> str:
        p = self.parameters
        hub, random = p.names[0], column_random(p.seed, "clauses", number)
        alike = 2 * (number // p.block) + is_kleene(p, number % p.block)
        counts = column_random(p.seed, "aggregates", alike).random() < p.counting
        others = p.aggregates[1:] or p.aggregates
        aggregate = p.aggregates[0] if counts else others[int(random.integers(len(others)))]
        return chained_query(p, number, random, aggregate.format(hub=hub), pattern, p.predicate.format(hub=hub))

    def _patterns(self, number: int) -> Iterator[str]:
        p = self.parameters
        block, place = divmod(number, p.block)

        def shared(length: int) -> tuple[str, ...]:
            return (p.names[0], *p.names[block + 1 : block + length])

        for first, last in _ends(p, block, place):
            if is_kleene(p, place):
                after = p.names[block + p.kleene_length]
                yield f"SEQ({closure(shared(p.kleene_length), p.layers)}, {after}, {last})"
            else:
                yield f"SEQ({', '.join((first, *shared(p.length), last))})"


def _ends(p: GloriaParameters, block: int, place: int) -> Iterator[tuple[str, str]]:
    """Pairs of different types for the ends of a query, endlessly; the first pairs of a block are disjoint."""
    pairs = column_random(p.seed, "block", block).permutation(p.ends)[: p.ends // 2 * 2].reshape(-1, 2)
    random = column_random(p.seed, "ends", block * p.block + place)
    chosen = pairs[place] if place < len(pairs) else random.choice(p.ends, 2, replace=False)
    while True:
        first, last = chosen
        yield p.names[p.chain + int(first)], p.names[p.chain + int(last)]
        chosen = random.choice(p.ends, 2, replace=False)


def is_kleene(p: GloriaParameters, place: int) -> bool:
    """Whether the query at `place` of its block is a Kleene query; they are evenly spread, and the last one is at the
    end.
    """
    share = Fraction(str(p.kleene)).limit_denominator(p.block)
    return int((place + 1) * share) > int(place * share)


def closure(types: tuple[str, ...], layers: int) -> str:
    """`layers` nested Kleene closures of these types, all but the innermost with a type at either side of the next."""
    if layers > 1:
        return f"SEQ({types[0]}, {closure(types[1:-1], layers - 1)}, {types[-1]})+"
    return f"SEQ({', '.join(types)})+" if len(types) > 1 else f"{types[0]}+"
