"""The matrix of what each algorithm can evaluate, by its `unsupported`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.registry import UnknownAlgorithm, algorithms, make
from cepbench.metrics.capabilities import Capabilities, Capability
from cepbench.queries.model import Query
from cepbench.queries.workloads import parse_workload
from cepbench.verification.language_suite import SUITE, Asked


def capabilities(specifications: Iterable[str] = (), asked: Sequence[Asked] = SUITE) -> Capabilities:
    """Report what algorithms can evaluate, and why they refuse the rest.

    Parameters
    ----------
    specifications
        Algorithms such as `greta` or `cet[detect=time]`; by default all, with their default parameters.
    asked
        Workloads, each with a group and a name; by default one for each feature of the language.

    Returns
    -------
    Capabilities
        The reasons of each algorithm for each workload. A workload is refused if one of its queries is, for the reason
        of the first one.

    Raises
    ------
    UnknownAlgorithm
        For an unknown specification.
    QueryError
        For an invalid workload.

    Examples
    --------
    >>> from cepbench import capabilities
    >>> sorted(capabilities(["greta"]).refusals("greta"))
    """
    names = tuple(dict.fromkeys(specifications)) or tuple(kind.name for kind in algorithms())
    instances = {name: make(name) for name in names}
    absent = {name: reason for name, algorithm in instances.items() if (reason := algorithm.missing()) is not None}
    rows = []
    for group, name, workload in asked:
        queries = parse_workload(workload)
        reasons = {spec: reason for spec, algorithm in instances.items() if (reason := _refusal(algorithm, queries))}
        rows.append(Capability(group, name, workload, reasons))
    return Capabilities(names, tuple(rows), absent)


def measured_capabilities(measured: Iterable[str]) -> Capabilities:
    """Capabilities of all algorithms, and of `measured` specifications that differ from their algorithm.

    Unknown specifications, such as those of a plug-in that is not loaded, are left out.
    """
    plain = tuple(kind.name for kind in algorithms())
    wide = capabilities((*plain, *(name for name in measured if _exists(name))))
    shown = [name for name in wide.algorithms if name in plain or _differs(wide, name)]
    return Capabilities(tuple(shown), wide.rows, {name: wide.absent[name] for name in shown if name in wide.absent})


def _refusal(algorithm: Algorithm, queries: Sequence[Query]) -> str | None:
    """The reason why an algorithm cannot evaluate a query, whether or not the algorithm can run on this machine."""
    reasons = [reason for query in queries if (reason := algorithm.refusal(query)) is not None]
    return next((reason for reason in reasons if reason != algorithm.missing()), None)


def _exists(specification: str) -> bool:
    try:
        make(specification)
    except UnknownAlgorithm:
        return False
    return True


def _differs(matrix: Capabilities, name: str) -> bool:
    plain = name.partition("[")[0].strip()
    return any(row.reasons.get(name) != row.reasons.get(plain) for row in matrix.rows)
