"""The interface of workload generators: the text of a workload file as a pure function of parameters and seed."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import BaseModel, PlainValidator

from cepbench.generators.parameters import Parameter, parameters_of

P = TypeVar("P", bound=BaseModel)

NOTHING = "none"
"""Means no predicate, no grouping attribute or no closure, also in lists of them."""


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
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) and name.strip() for name in given):
        raise ValueError("not a list of names")
    return tuple(name.strip() for name in given)


Names = Annotated[tuple[str, ...], PlainValidator(names_of), "names separated by commas, or a list of them"]


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
