"""The page about the artifact, from a tiny pack."""

import importlib.util
from pathlib import Path

from cepbench.experiments.load import experiments
from cepbench.metrics.figure import Verdict
from cepbench.metrics.packing import write_pack
from cepbench.metrics.record import Status, Summary
from cepbench.metrics.results import Results
from tests.plots.conftest import ONE, make_figure, make_record

SCRIPT = Path(__file__).parents[1] / "scripts" / "artifact.py"
TABLE = """\
| figure | profile | minutes | memory | cells | verdicts |
| --- | --- | --- | --- | --- | --- |
| `greta-13.1` | headline | 1.5 | 250 MB of 4 GB | 2 ok, 1 timeout | 2 {verdict} |
| `mine` | headline | 0.0 | not measured | none | none |

In all: 1.5 minutes, 3 cells, 2 {verdict}.
"""


def test_the_page_has_a_row_per_figure_and_what_is_missing(tmp_path: Path) -> None:
    specification = importlib.util.spec_from_file_location("artifact", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    origin = {"cpu": "AMD EPYC", "cores": 2, "memory_bytes": 8 * 10**9, "commit": "0123456789"}
    cells = tuple(
        make_record(name, status=status, seconds=30.0, limit_bytes=4 * 10**9, provenance=origin, summary=summary)
        for name, status, summary in (
            ("greta", Status.OK, Summary(process_peak=250_000_000)),
            ("cogra", Status.OK, Summary(process_peak=1000)),
            ("sase", Status.TIMEOUT, Summary()),
        )
    )
    verdict = next(iter(Verdict))
    claims = tuple(claim.model_copy(update={"verdict": verdict}) for claim in make_figure().claims[:2])
    found = [
        Results(tmp_path, make_figure(panels=ONE, claims=claims), cells),
        Results(tmp_path, make_figure(panels=ONE, id="99", experiment="mine", claims=()), ()),
    ]
    page = script.artifact(write_pack(tmp_path / "tiny.tar.xz", found, {}))
    assert TABLE.format(verdict=verdict) in page
    assert "Measured on AMD EPYC, 2 cores, 8 GB, commit 0123456.\n" in page
    assert "cepbench run greta-13.1 --profile headline " in page
    [missing] = [line for line in page.splitlines() if line.startswith("Not in the pack: ")]
    assert missing.count(", ") + 1 == len(experiments()) - 1
    assert "greta-13.1," not in missing
