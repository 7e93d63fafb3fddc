"""The engine of CORE's authors (PyPI `pycer`), in addition to our own implementation `core`."""

from __future__ import annotations

from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.compose import detecting_per_key
from cepbench.algorithms.external.core_engine.engine import missing
from cepbench.algorithms.external.core_engine.executor import EngineExecutor
from cepbench.algorithms.external.core_engine.translation import unsupported
from cepbench.queries.model import Query


class CoreEngine(Algorithm):
    """The engine of CORE, in C++, in a process with its own interpreter (docs/engines.md).

    The engine works offline: it receives all events of a key at the end of the stream. `details.engine_seconds` are the
    seconds of its process, without its start and the overhead of a call without events; throughput also includes the
    transport of events and matches.

    References
    ----------
    Bucchi, Grez, Quintana, Riveros, Vansummeren: CORE: a Complex Event Recognition Engine. PVLDB 15(9), 2022.
    """

    name: ClassVar[str] = "core-engine"
    counts_matches: ClassVar[bool] = True
    paper: ClassVar[str] = "Bucchi et al., PVLDB 2022; pycer 0.1.6"
    enumerates: ClassVar[bool] = True
    detects: ClassVar[bool] = True
    narrow: ClassVar[bool] = True
    starts: ClassVar[bool] = True

    @classmethod
    def missing(cls) -> str | None:
        return missing()

    def unsupported(self, query: Query) -> str | None:
        """Queries that CEQL cannot express; every query if the engine is not installed."""
        return unsupported(query) or missing()

    def operator(self, plan: Plan) -> Operator:
        """Collects the events of each query and key."""
        return detecting_per_key(plan.workload, EngineExecutor)
