"""The summary of an experiment at the end of a run."""

from pathlib import Path

from cepbench.experiments.planning import plan
from cepbench.experiments.sweep import _summary
from cepbench.metrics.record import Load
from cepbench.metrics.status import Status
from tests.experiments.files import write
from tests.experiments.records import record
from tests.pipeline.doubles import make


def test_noisy_and_empty_cells_are_reported(tmp_path: Path) -> None:
    [entry] = plan([str(write(tmp_path))], make_algorithm=make)
    late = record("slow", {"events": 200}, Status.TIMEOUT)
    cells = [record("slow", {"events": number}) for number in (100, 200, 300)]
    assert cells[0].realised is not None
    nothing = cells[0].realised.model_copy(update={"rows": 0})
    cells[0] = cells[0].model_copy(update={"load": Load(waited=0.2)})
    cells[1] = cells[1].model_copy(update={"load": Load(waited=0.1, stolen=0.5)})
    cells[2] = cells[2].model_copy(update={"load": Load(waited=0.01), "realised": nothing})
    assert _summary(entry, {str(n): cell for n, cell in enumerate([*cells, late])}, 3, 40.0).splitlines() == [
        "small-1.1: 4 cells: 3 ok, 1 timeout (3 run in 40 s)",
        "  2 of 4 noisy, slow at events 200 most: the worker lost 50% of its time to other work on the machine",
        "  1 of 4 without any match",
    ]
    assert "\n" not in _summary(entry, {"late": late}, 1, 40.0)
