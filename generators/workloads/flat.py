"""Workloads of simple and complex queries with a Kleene closure of a single type, as in the last figure of Gloria."""

from collections.abc import Iterator
from fractions import Fraction

from pydantic import Field, model_validator

from cepbench.generators.randomness import column_random
from cepbench.generators.workloads.base import Names, WorkloadGenerator, check_braces, different
from cepbench.generators.workloads.chained import ChainedParameters, chained_query, drawn_ends

SIMPLE = 3
"""Types of a simple pattern, SEQ(A, B+, C)."""


class FlatParameters(ChainedParameters):
    """Defaults are those of Gloria 8.3 where it gives them: 100 queries, complex ones of length 8."""

    complex: float = Field(0.0, ge=0, le=1, description="share of complex queries; the others are simple")
    length: int = Field(8, ge=SIMPLE, le=100, description="event types of a complex pattern")
    kleene: int = Field(1, ge=1, le=1000, description="number of Kleene types: the first of the chain, taken in turn")
    aggregate: str = Field("COUNT(*)", description="aggregate of all queries; {kleene} is its Kleene type")
    predicates: Names = Field(
        ("{kleene}.congestion = 0", "{kleene}.delay < 60", "{kleene}.delay < 120", "{kleene}.delay < 240"),
        description="predicates: simple queries have the first, complex ones any, drawn; {kleene} as above",
    )

    @model_validator(mode="after")
    def _check(self) -> "FlatParameters":
        if self.kleene + self.length - SIMPLE > self.chain:
            raise ValueError(
                f"{self.kleene} Kleene types and {self.length - SIMPLE} after them exceed a chain of {self.chain}"
            )
        check_braces((self.aggregate, *self.predicates), "kleene")
        return self


class Flat(WorkloadGenerator[FlatParameters]):
    """Simple queries SEQ(A, B+, C) and longer complex ones that differ in predicates (Gloria 8.3).

    A *simple* query is a private type, the closure of a type, and another private type; all have the same predicate. A
    *complex* one has more types between the closure and its last type, `length` in all, which are the same for all
    complex queries with the same closure; their predicates are drawn from `predicates`. Closures are of the first
    `kleene` types of the chain, in turn, and the types after a closure are the next ones of the chain.

    The paper reports lengths and the number of queries; the authors did not publish these two workloads.
    """

    name = "flat"
    paper = "Gloria 8.3"
    Parameters = FlatParameters

    def queries(self) -> list[str]:
        """Generates simple and complex queries, evenly spread. Raises `GeneratorError` if there are too few types."""
        p = self.parameters
        patterns = different(self.name, list(map(self._patterns, range(p.queries))), "more ends or smaller blocks")
        return [self._query(number, pattern) for number, pattern in enumerate(patterns)]

    def _query(self, number: int, pattern: str) -> str:
        p = self.parameters
        kleene, random = p.names[number % p.kleene], column_random(p.seed, "clauses", number)
        predicate = p.predicates[int(random.integers(len(p.predicates))) if is_complex(p, number) else 0]
        aggregate = p.aggregate.format(kleene=kleene)
        return chained_query(p, number, random, aggregate, pattern, predicate.format(kleene=kleene))

    def _patterns(self, number: int) -> Iterator[str]:
        p = self.parameters
        begin = number % p.kleene
        after = p.names[begin + 1 : begin + 1 + p.length - SIMPLE] if is_complex(p, number) else ()
        for first, last in drawn_ends(p, number):
            yield f"SEQ({', '.join((first, f'{p.names[begin]}+', *after, last))})"


def is_complex(p: FlatParameters, number: int) -> bool:
    """Whether query `number` is a complex one; they are spread evenly."""
    share = Fraction(str(p.complex))
    return int((number + 1) * share) > int(number * share)
