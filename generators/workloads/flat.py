"""Workloads of simple and complex queries with a Kleene closure of a single type, as in the last figure of Gloria."""

from collections.abc import Iterator

from pydantic import Field, model_validator

from cepbench.generators.randomness import column_random
from cepbench.generators.workloads.base import Names, WorkloadGenerator, check_braces, different
from cepbench.generators.workloads.chained import ChainedParameters, chained_query

SIMPLE = 3
"""Types of a simple pattern, SEQ(A+, B, C)."""


class FlatParameters(ChainedParameters):
    """Defaults are those of the published workloads: 10 Kleene types with 10 queries each, complex ones of length 8."""

    complex: float = Field(0.0, ge=0, le=1, description="share of complex queries; the others are simple")
    length: int = Field(8, ge=SIMPLE, le=100, description="event types of a complex pattern")
    kleene: int = Field(10, ge=1, le=1000, description="number of Kleene types")
    block: int = Field(10, ge=1, le=10**4, description="consecutive queries with the same Kleene type")
    aggregate: str = Field("COUNT(*)", description="aggregate of all queries; {kleene} is its Kleene type")
    predicates: Names = Field(
        ("{kleene}.congestion = 0", "{kleene}.delay < 60"),
        description="predicates: simple queries have the first, complex ones any, drawn; {kleene} as above",
    )

    @model_validator(mode="after")
    def _check(self) -> "FlatParameters":
        if self.kleene + 1 > self.chain:
            raise ValueError(f"{self.kleene} Kleene types and the type after them exceed a chain of {self.chain}")
        if self.ends < self.length - 2:
            raise ValueError(f"a pattern of length {self.length} has {self.length - 2} of only {self.ends} ends")
        check_braces((self.aggregate, *self.predicates), "kleene")
        return self

    def kleene_number(self, number: int) -> int:
        """The Kleene type of query `number`, counted from 0."""
        return number // self.block % self.kleene

    def is_complex(self, number: int) -> bool:
        """Whether query `number` is a complex one: all those of the first Kleene types are."""
        return self.kleene_number(number) < round(self.complex * self.kleene)


class Flat(WorkloadGenerator[FlatParameters]):
    """Simple queries SEQ(A+, B, C) and longer complex ones that differ in predicates (Gloria 8.3).

    A query begins with the closure of its Kleene type, which `block` consecutive queries share; then comes the first
    type of the chain, the same for all queries. A *simple* query ends with a private type, and all simple ones have the
    same predicate. A *complex* one ends with `length` - 2 private types, and predicates are drawn from `predicates`.
    The queries of a Kleene type are all simple or all complex. Kleene types are the next ones of the chain.

    The workloads that the authors published have this structure: 10 Kleene types, 10 queries of each in any order,
    volumes above 30, or above 30 or 100 for complex queries, and windows of 5 to 20 minutes that slide by 5.
    """

    name = "flat"
    paper = "Gloria 8.3"
    Parameters = FlatParameters

    def queries(self) -> list[str]:
        """Generates the queries, Kleene type by Kleene type. Raises `GeneratorError` if there are too few types."""
        p = self.parameters
        patterns = different(self.name, list(map(self._patterns, range(p.queries))), "more ends or smaller blocks")
        return [self._query(number, pattern) for number, pattern in enumerate(patterns)]

    def _query(self, number: int, pattern: str) -> str:
        p = self.parameters
        kleene, random = self._kleene(number), column_random(p.seed, "clauses", number)
        predicate = p.predicates[int(random.integers(len(p.predicates))) if p.is_complex(number) else 0]
        aggregate = p.aggregate.format(kleene=kleene)
        return chained_query(p, number, random, aggregate, pattern, predicate.format(kleene=kleene))

    def _patterns(self, number: int) -> Iterator[str]:
        p = self.parameters
        count = p.length - 2 if p.is_complex(number) else 1
        random = column_random(p.seed, "ends", number)
        while True:
            ends = [p.names[p.chain + int(end)] for end in random.choice(p.ends, count, replace=False)]
            yield f"SEQ({', '.join((f'{self._kleene(number)}+', p.names[0], *ends))})"

    def _kleene(self, number: int) -> str:
        return self.parameters.names[1 + self.parameters.kleene_number(number)]
