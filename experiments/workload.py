"""The queries of an experiment: text, a file, variants of a text, or a generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from cepbench.events.errors import choices
from cepbench.experiments.claims import Scalar
from cepbench.experiments.errors import ExperimentError
from cepbench.experiments.templates import axes_in, substituted
from cepbench.generators.workloads.registry import workload_text
from cepbench.metrics.record import Strict

if TYPE_CHECKING:
    from cepbench.experiments.schema import Experiment

SUFFIX = ".sase"
AxisValues = Annotated[list[Scalar], Field(min_length=1)]
Values = dict[str, AxisValues]


def check_zip(axes: Mapping[str, Any], together: Values) -> None:
    """Raises `ValueError` for axes that advance together and are not equally long, or are also in `axes`."""
    lengths = {name: len(values) for name, values in together.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"zip: axes advance together and must be equally long, but {counts}")
    for name in axes.keys() & together.keys():
        raise ValueError(f"zip: axis {name!r} is also in axes")


def combined(axes: Values, together: Values) -> Iterator[dict[str, Any]]:
    """The product of `axes`, each combination with every value tuple of `together`."""
    zipped = [dict(zip(together, values, strict=True)) for values in zip(*together.values(), strict=True)]
    for values in product(*axes.values()):
        for paired in zipped or [{}]:
            yield {**dict(zip(axes, values, strict=True)), **paired}


class Steps(Strict):
    """The values `from`, `from + step`, ... up to `to`, which is included."""

    start: int | float = Field(alias="from")
    to: int | float
    step: int | float = 1

    @model_validator(mode="after")
    def _not_empty(self) -> Steps:
        if self.step == 0 or (self.to - self.start) / self.step < 0:
            raise ValueError(f"there are no values from {self.start} to {self.to} in steps of {self.step}")
        return self

    def values(self) -> list[Scalar]:
        """All values; as decimal numbers, so that 0.1, 0.2, 0.3 are written as these."""
        start, to, step = (Decimal(str(number)) for number in (self.start, self.to, self.step))
        exact = [start + number * step for number in range(int((to - start) / step) + 1)]
        return [int(value) if value == int(value) else float(value) for value in exact]


def _listed(value: Any) -> Any:
    """Steps as the list of their values."""
    return Steps.model_validate(value).values() if isinstance(value, Mapping) else value


Variants = dict[str, Annotated[AxisValues, BeforeValidator(_listed)]]


class OwnWorkload(Strict):
    """Queries of your own: a `text`, or a `file` beside that of the experiment. In both, `${axis}` is an axis.

    With `variants`, the text is repeated with each combination of their values in place of `${name}`; those of `zip`
    are paired one by one. `count` (a number, or an axis) keeps the first ones.
    """

    text: str | None = None
    file: str | None = None
    variants: Variants = Field(default_factory=dict)
    zip: Variants = Field(default_factory=dict)
    count: int | str | None = None

    @model_validator(mode="after")
    def _consistent(self) -> OwnWorkload:
        if (self.text is None) == (self.file is None):
            raise ValueError("give one of file, text and generator")
        check_zip(self.variants, self.zip)
        if self.count is not None and not self.varied:
            raise ValueError("count: there are no variants to count")
        return self

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of what the variants replace."""
        return (*self.variants, *self.zip)


class GeneratedWorkload(Strict):
    """A workload of `generators.workloads`; cells store its text."""

    generator: str
    parameters: dict[str, Scalar | list[Scalar] | None] = Field(default_factory=dict)


def _no_file(value: Any) -> Any:
    """The text of a workload, unless it is only the name of a file."""
    if isinstance(value, str) and value.strip().endswith(SUFFIX) and len(value.split()) == 1:
        raise ValueError(f"{value.strip()!r} is a file, not a query; write {{file: {value.strip()}}}")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    generated = isinstance(value, GeneratedWorkload) or (isinstance(value, Mapping) and "generator" in value)
    return "generator" if generated else "own"


WORKLOADS = {
    "text": "",
    "generator": "a generator has parameters",
    "own": "expected file or text, perhaps with variants, zip and count; or generator",
}
"""The kinds of workloads, by the tag that pydantic puts into the place of a mistake, with their fields in words."""

Workload = Annotated[
    Annotated[str, BeforeValidator(_no_file), Tag("text")]
    | Annotated[GeneratedWorkload, Tag("generator")]
    | Annotated[OwnWorkload, Tag("own")],
    Discriminator(_kind),
]


def workload_at(experiment: Experiment, values: Mapping[str, Any]) -> str:
    """The text of the workload for these values of the axes. Raises `ExperimentError`."""
    workload = experiment.workload
    if isinstance(workload, str):
        return str(substituted(workload, values, "workload"))
    if isinstance(workload, GeneratedWorkload):
        parameters = {name: value for name, value in workload.parameters.items() if value is not None}
        return workload_text(workload.generator, substituted(parameters, values, "workload.parameters"))
    if workload.text is not None:
        text = workload.text
    else:
        text = _content(experiment, str(substituted(workload.file, values, "workload.file")))
    if not workload.varied:
        return str(substituted(text, values, "workload"))
    named = axes_in(text)
    for name in workload.varied:
        if name in values:
            raise ExperimentError(f"{experiment.id}: workload.variants: {name!r} is also an axis; rename one of them")
        if name not in named:
            raise ExperimentError(
                f"{experiment.id}: workload.variants: ${{{name}}} is not in the text; "
                f"{choices(name, sorted(named - {*values}))}"
            )
    variants = [
        {**values, **substituted(variant, values, "workload.variants")}
        for variant in combined(workload.variants, workload.zip)
    ]
    if workload.count is not None:
        count = substituted(workload.count, values, "workload.count")
        if not isinstance(count, int) or not 1 <= count <= len(variants):
            raise ExperimentError(
                f"{experiment.id}: workload.count: there are {len(variants)} variants; "
                f"expected a whole number from 1 to {len(variants)}, not {count!r}"
            )
        variants = list(islice(variants, count))
    return "\n\n".join(str(substituted(text, variant, "workload")).strip() for variant in variants) + "\n"


def workload_axes(experiment: Experiment) -> set[str]:
    """The axes that the workload names, those in its files included."""
    workload = experiment.workload
    if isinstance(workload, str):
        return axes_in(workload)
    named = axes_in(workload.model_dump())
    if not isinstance(workload, OwnWorkload):
        return named
    if workload.file is not None:
        varying = {axis: experiment.values_of(axis) for axis in sorted(axes_in(workload.file))}
        for values in combined(varying, {}):
            named |= axes_in(_content(experiment, str(substituted(workload.file, values, "workload.file"))))
    return named - ({*workload.varied} - {*experiment.axis_names})


def _content(experiment: Experiment, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "not a text file in UTF-8"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    raise ExperimentError(f"{experiment.id}: workload.file: {file}: {reason}") from None
