"""The engine of CORE's authors (PyPI `pycer`), in addition to our own implementation `core`."""

from __future__ import annotations

from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Executor, Plan, UnsupportedQuery
from cepbench.algorithms.engine.evaluator import Evaluator
from cepbench.algorithms.engine.per_query import IndependentQueries
from cepbench.algorithms.external.core_engine.engine import current, missing
from cepbench.algorithms.external.core_engine.evaluator import EngineEvaluator
from cepbench.algorithms.external.core_engine.translation import unsupported
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Query


class CoreEngine(Algorithm):
    """The engine of CORE, in C++, in a process with its own interpreter: an optional extra.

    `CEPBENCH_CORE_PYTHON` (or `python3.13`) is an interpreter that has `pycer`. The engine works offline: it receives
    all events of a key at the end of the stream. `details.engine_seconds` are the seconds of its process, without its
    start and the overhead of a call without events; throughput also includes the transport of events and matches.

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
        """What CEQL cannot express; every query if the engine is not installed."""
        return unsupported(query) or missing()

    def executor(self, plan: Plan) -> Executor:
        """Collects the events of each query."""
        return IndependentQueries(plan.workload, _no_windows, EngineEvaluator, load=current)


def _no_windows(query: CompiledQuery, part: Part, window: Window) -> Evaluator:
    raise UnsupportedQuery(f"query {query.query.name}: CORE's engine detects matches within a span of their own")
