"""The interface of workload generators: the text of a workload file as a pure function of parameters and seed."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import BaseModel, PlainValidator

from cepbench.generators.errors import GeneratorError
from cepbench.generators.parameters import Parameter, parameters_of

P = TypeVar("P", bound=BaseModel)

NOTHING = "none"
"""Means no predicate, no grouping attribute or no closure, also in lists of them."""
ATTEMPTS = 100
"""Draws of a pattern before a workload is refused as impossible."""


@dataclass(frozen=True)
class WorkloadParameters:
    """The entry of a workload generator in a listing."""

    name: str
    paper: str
    summary: str
    parameters: tuple[Parameter, ...]


class WorkloadGenerator(ABC, Generic[P]):
    """Queries that are similar in what they share. A subclass declares `name`, `paper`, `Parameters`."""

    name: ClassVar[str]
    paper: ClassVar[str]
    Parameters: ClassVar[type[BaseModel]]

    def __init__(self, parameters: P) -> None:
        self.parameters = parameters

    @abstractmethod
    def queries(self) -> list[str]:
        """The text of each query; those of a smaller workload are the first ones of a larger one."""

    def text(self) -> str:
        """The workload file: a function of the parameters alone."""
        return "\n\n".join(self.queries()) + "\n"

    @classmethod
    def describe(cls) -> WorkloadParameters:
        """The generator for a listing."""
        summary = (cls.__doc__ or "").strip().split("\n", 1)[0]
        return WorkloadParameters(cls.name, cls.paper, summary, parameters_of(cls.Parameters))


def names_of(value: object) -> tuple[str, ...]:
    """Names separated by commas, or a list of them. Raises `ValueError` for anything else."""
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(name, str) and name.strip() for name in words):
        raise ValueError("not a list of names")
    return tuple(name.strip() for name in words)


Names = Annotated[tuple[str, ...], PlainValidator(names_of), "names separated by commas, or a list of them"]


def check_braces(texts: Names, *names: str) -> None:
    """Raises `ValueError` if a text names anything but `names` in braces."""
    for text in texts:
        try:
            text.format(**dict.fromkeys(names, ""))
        except (AttributeError, IndexError, KeyError, ValueError):
            allowed = " and ".join(f"{{{name}}}" for name in names)
            raise ValueError(f"{text!r}: only {allowed} may occur in braces") from None


def different(workload: str, patterns: Sequence[Iterator[str]], remedy: str) -> list[str]:
    """The first pattern of each iterator that differs from all earlier ones.

    Raises `GeneratorError`, with a `remedy`, if there is none.
    """
    kept: dict[str, None] = {}
    for drawn in patterns:
        fresh = next((pattern for pattern in islice(drawn, ATTEMPTS) if pattern not in kept), None)
        if fresh is None:
            raise GeneratorError(f"workload {workload}: no room for {len(patterns)} different patterns; use {remedy}")
        kept[fresh] = None
    return list(kept)


def query_text(
    number: int,
    aggregate: str,
    pattern: str,
    where: str = "",
    group_by: Sequence[str] = (),
    within: str | None = None,
    slide: str | None = None,
) -> str:
    """Query `q<number + 1>` with these clauses; empty clauses are left out."""
    lines = [
        f"q{number + 1}",
        f"RETURN {', '.join((*group_by, aggregate))}",
        f"PATTERN {pattern}",
        "SEMANTICS skip-till-any-match",
    ]
    if where:
        lines.append(f"WHERE {where}")
    if group_by:
        lines.append(f"GROUP-BY {', '.join(group_by)}")
    if within:
        lines.append(f"WITHIN {within}" + (f" SLIDE {slide}" if slide else ""))
    return "\n".join(lines)
