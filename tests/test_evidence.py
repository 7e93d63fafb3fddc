"""Pages of the documentation about a run, from a tiny pack and from the pack in the repository."""

from pathlib import Path
from typing import Any

import pytest

from cepbench.experiments.load import belonging, experiments, load
from cepbench.metrics.figure import Verdict
from cepbench.metrics.record import Summary
from cepbench.metrics.results import Results, write_pack
from cepbench.metrics.status import Status
from tests.plots.conftest import ONE, make_figure, make_record
from tests.scripts import script_module

ROOT = Path(__file__).parents[1]
PACK = ROOT / "docs" / "headline.tar.xz"
TABLE = """\
| figure | profile | minutes | memory | cells | verdicts |
| --- | --- | --- | --- | --- | --- |
| `greta-13.1` | headline | 1.5 | 250 MB of 4 GB | 2 ok, 1 timeout | 2 {verdict} |
| `mine` | headline | 0.0 | not measured | none | none |

In all: 1.5 minutes, 3 cells, 2 {verdict}.
"""


@pytest.fixture(scope="module")
def script() -> Any:
    return script_module("evidence")


def test_the_pages_are_those_of_the_pack_in_the_repository(script: Any) -> None:
    figures = script.loaded(PACK)
    assert {results.figure.profile for results in figures} == {"headline"}
    claiming = {name for name, path in experiments().items() if load(path, "headline").claims}
    named = (ROOT / "docs" / "artifact.md").read_text(encoding="utf-8").rpartition("Not in the pack: ")[2]
    assert claiming <= {results.figure.experiment for results in figures} | set(named.rstrip(".\n").split(", "))
    assert not [r for results in figures for r in results.records if r.status in (Status.WRONG, Status.ERROR)]
    for name, text in script.texts(PACK).items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"run: python scripts/evidence.py {PACK.name}"
    assert all((ROOT / name).is_file() for name in script.pictures(PACK))


def test_a_figure_has_its_finding_in_a_line(tmp_path: Path, script: Any) -> None:
    figure = make_figure()
    assert script.finding(Results(tmp_path, figure, (make_record(),))) == (
        "1 of 3 claims holds. GRETA outperforms SASE. Ours: 312 times at events per window 100000, holds."
    )
    bare = figure.model_copy(update={"claims": ()})
    assert script.finding(Results(tmp_path, bare, (make_record(),))) == "1 cells of 3 algorithms."


def test_the_page_has_a_row_per_figure_and_what_is_missing(tmp_path: Path, script: Any) -> None:
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
    figures = [
        Results(tmp_path, make_figure(panels=ONE, claims=claims), cells),
        Results(tmp_path, make_figure(panels=ONE, id="99", experiment="mine", claims=()), ()),
    ]
    pages = script.texts(write_pack(tmp_path / "tiny.tar.xz", figures, {}))
    page = pages["docs/artifact.md"]
    assert "**GRETA · Poppe 2018, Figure 13.1** GRETA aggregates trends along" in pages["README.md"]
    assert "\n\n- *holds* 2 of 2: " in pages["README.md"]
    assert f"| GRETA · Poppe 2018, Figure 13.1 | 1 | 1.5 | 2 {verdict} |" in page
    assert "two cores and 4 GB for a worker" in page
    assert TABLE.format(verdict=verdict) in page
    assert "measured on AMD EPYC, 2 cores, 8 GB |" in page
    assert "| commit 0123456 |" in page
    assert "cepbench run greta-13.1 --profile headline " in page
    [missing] = [line for line in page.splitlines() if line.startswith("Not in the pack: ")]
    assert missing.count(", ") + 1 == len(belonging("headline")) - 1
    assert "greta-13.1," not in missing
    claim = claims[0]
    assert f"| {claim.text} ({claim.source}) | {claim.expected} |" in pages["docs/evidence.md"]


def test_the_page_has_what_fails_with_its_numbers_and_the_rules_at_its_end(tmp_path: Path, script: Any) -> None:
    pages = script.texts(write_pack(tmp_path / "tiny.tar.xz", [Results(tmp_path, make_figure(panels=ONE), ())], {}))
    page = pages["docs/evidence.md"]
    assert "1 do not hold, and 1 are undecided. Of the 1, 1 is unexplained." in " ".join(pages["README.md"].split())
    assert "<summary>More numbers on 1 claim</summary>" in page
    assert "| Memory of GRETA is linear. | state of GRETA at events per window 1000: 42 kB |" in page
    assert page.index("## Rules that changed") > page.index("More numbers")
