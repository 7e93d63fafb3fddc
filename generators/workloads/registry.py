"""All workload generators, by name."""

from collections.abc import Mapping
from typing import Any

from cepbench.events.errors import choices
from cepbench.generators.errors import GeneratorError
from cepbench.generators.parameters import parse
from cepbench.generators.workloads.base import WorkloadGenerator
from cepbench.generators.workloads.detection import Detection
from cepbench.generators.workloads.flat import Flat
from cepbench.generators.workloads.gloria import GloriaWorkload
from cepbench.generators.workloads.kleene import Kleene
from cepbench.generators.workloads.sequences import Sequences

WORKLOADS: tuple[type[WorkloadGenerator[Any]], ...] = (Sequences, Kleene, GloriaWorkload, Flat, Detection)


def workload_class(name: str) -> type[WorkloadGenerator[Any]]:
    """The workload generator of that name, or a `GeneratorError` that lists all names."""
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    names = (workload.name for workload in WORKLOADS)
    raise GeneratorError(f"unknown workload generator {name!r}; {choices(name, names)}")


def workload_text(name: str, parameters: Mapping[str, Any]) -> str:
    """The workload file of a generator with `parameters` (others have their defaults)."""
    workload = workload_class(name)
    return workload(parse(name, workload.Parameters, parameters)).text()
