"""Workloads of Kleene queries that share a sub-pattern and differ in the types around it."""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cepbench.generators.randomness import column_random
from cepbench.generators.ridesharing import TYPES
from cepbench.generators.workloads.base import NOTHING, Names, WorkloadGenerator, check_braces, different, query_text


class KleeneParameters(BaseModel):
    """Defaults are those of the first workload of Hamlet 6.1, on the ridesharing stream."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(0, ge=0, description="seed of all randomness")
    queries: int = Field(50, ge=1, le=10**4, description="number of queries; fewer are a prefix of more")
    kleene: Names = Field(("Travel",), description="event types under a Kleene plus")
    leading: Literal["first", "turns"] = Field(
        "first",
        description="first type of a query's closures; first: the first of kleene; turns: each of kleene in turn",
    )
    kleene_length: int = Field(1, ge=1, le=100, description="most types under a Kleene plus in a query")
    types: Names = Field(TYPES[1:], description="event types around them")
    before: int = Field(2, ge=0, le=100, description="most types before")
    least_before: int = Field(1, ge=0, le=100, description="minimum number of types before, or before if that is less")
    after: int = Field(2, ge=0, le=100, description="most types after")
    aggregates: Names = Field(
        ("COUNT(*)",),
        description="aggregates that queries take in turn; {kleene} is a query's first Kleene type",
    )
    predicates: Names = Field((NOTHING,), description="predicates, in turn; {kleene} as above; none for no predicate")
    group_by: Names = Field((NOTHING,), description="grouping attributes, one in turn, or none")
    within: Names = Field(("5 min",), description="lengths of windows, in turn")
    slide: str | None = Field(None, description="slide of the windows; without one, they do not overlap")

    @model_validator(mode="after")
    def _check(self) -> "KleeneParameters":
        everything = (*self.kleene, *self.types)
        if len(set(everything)) < len(everything):
            raise ValueError("a type occurs twice among kleene and types")
        if self.leading == "turns" and self.kleene_length > 1:
            raise ValueError(
                f"leading = turns takes one Kleene type per query, not kleene_length = {self.kleene_length}"
            )
        if self.kleene_length > len(self.kleene):
            raise ValueError(f"kleene_length = {self.kleene_length} exceeds the {len(self.kleene)} types of kleene")
        if self.before + self.after > len(self.types):
            raise ValueError(f"before + after = {self.before + self.after} exceeds the {len(self.types)} types")
        check_braces((*self.aggregates, *self.predicates), "kleene")
        return self


class Kleene(WorkloadGenerator[KleeneParameters]):
    """Kleene queries with sub-patterns that many of them share, as in the workloads of Hamlet.

    A query is a sequence of up to `before` types, Kleene closures of the first 1 to `kleene_length` types of `kleene`,
    one after another, and up to `after` types, all drawn at random and different within a query. So queries of the
    *first* workload of Hamlet 6.1 differ only in the types around `Travel+`; those of the *second* one have several
    `aggregates`, `predicates`, `group_by` and `within`. These are used in turn, each list at its own pace, so that in a
    large workload all values are combined.

    In the second workload Kleene patterns have "length ranging from 1 to 3". The workloads that the authors published
    have one closure per query, of five types in turn, with at most one type before and one after it: `leading = turns`,
    `least_before = 0`, `before = after = 1`. Three closures in a row, `kleene_length = 3`, are another reading.
    """

    name = "kleene"
    paper = "Hamlet 6.1"
    Parameters = KleeneParameters

    def queries(self) -> list[str]:
        """Generates queries one after another; no two patterns are equal. Raises `GeneratorError` if there
        are too few.
        """
        drawn = [self._patterns(number) for number in range(self.parameters.queries)]
        patterns = different(self.name, drawn, "more types, or longer patterns")
        return [self._query(number, pattern) for number, pattern in enumerate(patterns)]

    def _query(self, number: int, pattern: str) -> str:
        p = self.parameters
        pace, chosen = 1, []
        for choices in (self._leads, p.aggregates, p.predicates, p.group_by, p.within):
            # Queries that are equal in all earlier lists are `pace` apart, and take turns in this one.
            chosen.append(choices[(number % pace + number // pace) % len(choices)])
            pace *= len(choices)
        first, aggregate, predicate, group, within = chosen
        return query_text(
            number,
            aggregate.format(kleene=first),
            pattern,
            "" if predicate == NOTHING else predicate.format(kleene=first),
            () if group == NOTHING else (group,),
            within,
            p.slide,
        )

    @property
    def _leads(self) -> Names:
        """The types with which closures begin; queries take them in turn."""
        p = self.parameters
        return p.kleene if p.leading == "turns" else p.kleene[:1]

    def _patterns(self, number: int) -> Iterator[str]:
        """Random patterns for query `number`, an infinite sequence."""
        p, random = self.parameters, column_random(self.parameters.seed, "query", number)
        begin = number % len(self._leads)
        while True:
            before = int(random.integers(min(p.least_before, p.before), p.before, endpoint=True))
            closures = int(random.integers(1, p.kleene_length, endpoint=True))
            after = int(random.integers(p.after, endpoint=True))
            around = [p.types[i] for i in random.permutation(len(p.types))[: before + after]]
            inner = (f"{name}+" for name in p.kleene[begin : begin + closures])
            yield ", ".join((*around[:before], *inner, *around[before:]))
