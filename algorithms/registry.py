"""The registered algorithms, and specification strings such as `cet[detect=hybrid, memory=64MiB]`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.plugins import plugin_algorithms
from cepbench.events.errors import CepbenchError, choices

CLASSES = {
    "sase": "construction.sase.algorithm.Sase",
    "greta": "trends.greta.Greta",
    "cogra": "trends.cogra.algorithm.Cogra",
    "cet": "construction.cet.algorithm.Cet",
    "aseq": "sequences.aseq.algorithm.ASeq",
    "sharon": "sequences.sharon.algorithm.Sharon",
    "spass": "sequences.spass.algorithm.Spass",
    "hamlet": "trends.hamlet.algorithm.Hamlet",
    "gloria": "trends.gloria.algorithm.Gloria",
    "mcep": "detection.mcep.algorithm.Mcep",
    "core": "detection.core.algorithm.Core",
    "flink": "external.flink.algorithm.Flink",
    "duckdb": "external.duckdb.algorithm.DuckDB",
    "core-engine": "external.core_engine.algorithm.CoreEngine",
}
"""The classes by name. They are imported on first use: with their kernels, all take as long as a short query."""

ENGINES = tuple(name for name, place in CLASSES.items() if place.startswith("external."))
"""Engines that others wrote. Each needs an installation of its own."""

if TYPE_CHECKING:
    ALGORITHMS: tuple[type[Algorithm], ...]

_SPECIFICATION = re.compile(r"\s*([\w-]+)\s*(?:\[(.*)\])?\s*", re.DOTALL)

_BETWEEN = re.compile(r",(?![^\[]*\])")
"""A comma outside of brackets."""


class UnknownAlgorithm(CepbenchError):
    """A specification names an unknown algorithm or an unknown parameter."""


def __getattr__(name: str) -> Any:
    if name == "ALGORITHMS":
        return tuple(map(_kind, CLASSES))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _kind(name: str) -> type[Algorithm]:
    module, _, class_name = CLASSES[name].rpartition(".")
    kind: type[Algorithm] = getattr(import_module(f"cepbench.algorithms.{module}"), class_name)
    return kind


def algorithms() -> tuple[type[Algorithm], ...]:
    """All algorithms, plug-ins last. Raises `UnknownAlgorithm` if two algorithms have the same name."""
    return (*map(_kind, CLASSES), *_plugins())


def _plugins() -> tuple[type[Algorithm], ...]:
    kinds = plugin_algorithms()
    names = [*CLASSES, *(kind.name for kind in kinds)]
    for name in names:
        if names.count(name) > 1:
            raise UnknownAlgorithm(f"two algorithms are called {name!r}; a plug-in needs a name of its own")
    return kinds


def make(specification: str) -> Algorithm:
    """Creates the algorithm of a specification.

    `cepbench algorithms` lists the names and parameters.

    Parameters
    ----------
    specification
        `name` or `name[parameter=value, ...]`. Parameters that are not given have their defaults.

    Returns
    -------
    Algorithm
        The algorithm with these parameters.

    Raises
    ------
    UnknownAlgorithm
        The name or a parameter is unknown; the message lists the choices.
    CepbenchError
        A parameter does not allow the given value.

    Examples
    --------
    >>> from cepbench import make
    >>> make("cet[detect=time, memory=64MB]").name
    'cet'
    """
    found = _SPECIFICATION.fullmatch(specification)
    plugins = {kind.name: kind for kind in _plugins()}
    if found is None or found[1] not in {*CLASSES, *plugins}:
        named = specification.partition("[")[0].strip()
        raise UnknownAlgorithm(f"unknown algorithm {specification!r}; {choices(named, sorted([*CLASSES, *plugins]))}")
    algorithm = plugins.get(found[1]) or _kind(found[1])
    given = _parameters(specification, found[2] or "")
    allowed = parameters(algorithm)
    for name in given:
        if name not in allowed:
            values = f"it has {', '.join(allowed)}" if allowed else "it has none"
            raise UnknownAlgorithm(f"{algorithm.name} has no parameter {name!r}; {values}")
    return algorithm(**given)


def chosen(specifications: str | Iterable[str]) -> tuple[str, ...]:
    """Splits comma-separated lists, expands `all`, and checks every specification. Raises `UnknownAlgorithm`.

    >>> chosen(["greta, cet[detect=time, memory=64MB]"])
    ('greta', 'cet[detect=time, memory=64MB]')
    """
    given = [specifications] if isinstance(specifications, str) else specifications
    found: list[str] = []
    for name in listed(given) or ["all"]:
        if name == "all":
            found += [kind.name for kind in algorithms()]
        else:
            make(name)
            found.append(name)
    return tuple(dict.fromkeys(found))


def listed(texts: Iterable[str]) -> list[str]:
    """The specifications in lists that are separated by commas, in their order, unchecked."""
    return [name.strip() for text in texts for name in _BETWEEN.split(text) if name.strip()]


def list_algorithms() -> list[dict[str, Any]]:
    """List the algorithms.

    Returns
    -------
    list of dict
        Each with `name`, `parameters` (with defaults), `summary`, `paper` and `available`, which is "yes" or the reason
        why the algorithm cannot run on this machine.

    Examples
    --------
    >>> from cepbench import list_algorithms
    >>> [one["name"] for one in list_algorithms()][:3]
    ['sase', 'greta', 'cogra']
    """
    return [
        {
            "name": algorithm.name,
            "parameters": parameters(algorithm),
            "summary": (algorithm.__doc__ or "").strip().split("\n", 1)[0],
            "paper": algorithm.paper,
            "available": algorithm.missing() or "yes",
        }
        for algorithm in algorithms()
    ]


def parameters(algorithm: type[Algorithm]) -> dict[str, Any]:
    """The parameters of an algorithm with their defaults."""
    signature = inspect.signature(algorithm)
    return {name: p.default for name, p in signature.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD}


def _parameters(specification: str, text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals or not name or not value:
            raise UnknownAlgorithm(f"{specification!r}: write parameters as name=value, not {item!r}")
        if name in given:
            raise UnknownAlgorithm(f"{specification!r}: parameter {name!r} is given twice")
        given[name] = value
    return given
