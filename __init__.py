"""cepbench: the algorithms of Complex Event Processing behind one interface, checked and compared.

    >>> import pandas as pd
    >>> from cepbench import evaluate
    >>> events = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "B", "B"]})
    >>> evaluate("RETURN COUNT(*) PATTERN SEQ(A, B)", events, "cogra")["COUNT(*)"].tolist()
    [2]

- `bench`: algorithms on the same queries and events, ranked; `advise`: which one to use, after short trials.
- `capabilities`: what each algorithm can evaluate, and why it refuses the rest; `list_algorithms`: all of them, with
  their parameters.
- `verify`: an algorithm against the oracle on random cases.
- `compare`: the ratios of two results folders; `plot`: drawings of one, or of a result of `bench` or `advise`.
- `evaluate`: the answer of queries on a DataFrame, a file or an event store; `help(cepbench.evaluate)` has the columns.
- `run`: experiments on Spark, as `cepbench run`; `load_results`: their figures, verdicts and records.
- `explain`: why queries have no match, or which events they match.
- `load_frame`: their records as a table.
- `Reading`: how your files are read: which columns are time and type, how times are written.
- `stream`: queries on a live stream, on Spark, with each row written once (docs/live.md).
- `make`: the algorithm of a specification such as `cet[detect=hybrid]`.

All raise `CepbenchError` (`cepbench.events.errors`) with a message of one line. docs/query-language.md defines the
language, docs/semantics.md the answers, and docs/measurement.md the metrics.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cepbench.algorithms.registry import list_algorithms, make
    from cepbench.events.reading import Reading
    from cepbench.experiments.advise import advise
    from cepbench.experiments.bench import bench
    from cepbench.experiments.sweep import run
    from cepbench.metrics.results import load_results
    from cepbench.metrics.table import load_frame
    from cepbench.pipeline.in_process import evaluate
    from cepbench.pipeline.live.stream import stream
    from cepbench.plots.compare import compare
    from cepbench.plots.plot import plot
    from cepbench.verification.capabilities import capabilities
    from cepbench.verification.explaining.explain import explain
    from cepbench.verification.verify import verify

__all__ = [
    "Reading",
    "advise",
    "bench",
    "capabilities",
    "compare",
    "evaluate",
    "explain",
    "list_algorithms",
    "load_frame",
    "load_results",
    "make",
    "plot",
    "run",
    "stream",
    "verify",
]

_MODULES = {
    "Reading": "cepbench.events.reading",
    "advise": "cepbench.experiments.advise",
    "bench": "cepbench.experiments.bench",
    "capabilities": "cepbench.verification.capabilities",
    "compare": "cepbench.plots.compare",
    "evaluate": "cepbench.pipeline.in_process",
    "explain": "cepbench.verification.explaining.explain",
    "list_algorithms": "cepbench.algorithms.registry",
    "load_frame": "cepbench.metrics.table",
    "load_results": "cepbench.metrics.results",
    "make": "cepbench.algorithms.registry",
    "plot": "cepbench.plots.plot",
    "run": "cepbench.experiments.sweep",
    "stream": "cepbench.pipeline.live.stream",
    "verify": "cepbench.verification.verify",
}


def __getattr__(name: str) -> Any:
    """A public name, imported on first use: a worker that writes a stream needs no algorithm."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("cepbench")
    raise AttributeError(f"module 'cepbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))


if not Path(__file__).is_file():  # a worker of a cluster, which imports from the zip file that came with the job
    from cepbench.pipeline.packages import unpacked

    __path__ = [str(unpacked())]
    for _name in [name for name in sys.modules if name.startswith("cepbench.")]:
        del sys.modules[_name]
