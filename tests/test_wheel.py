"""The installed project: one package, which leaves foreign packages alone, needs nothing of the checkout, and writes to
the user's folders only."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from cepbench.metrics.results import Results, write_pack
from tests.plots.conftest import ONE, make_figure, make_record

ROOT = Path(__file__).resolve().parent.parent
FOREIGN = ("datasets", "events", "queries")
ASK = """
import sys
import cepbench, datasets, events
from cepbench import evaluate
import pandas as pd
assert datasets.OWNER == events.OWNER == "somebody else"
assert cepbench.__file__.startswith(sys.prefix), cepbench.__file__
frame = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "A", "B"]})
print(evaluate("RETURN COUNT(*) PATTERN SEQ(A+, B)", frame, "cogra")["COUNT(*)"].tolist())
print(cepbench.make("cet[detect=hybrid]").name, callable(cepbench.run), callable(cepbench.load_results))
from cepbench.checks import yield_checks
next(check for check in yield_checks(cepbench.make("cogra")) if str(check) == "semantics-any")()
from cepbench.experiments.overlay import Overlay, published
print(len(published(Overlay(file="gloria/bus-seq.csv", x="queries", y="gloria_ms")).points))
"""
QUERY = "RETURN COUNT(*) PATTERN SEQ(A, B)\n"
PLUGIN = """
from cepbench.algorithms.trends.cogra.algorithm import Cogra

class Mine(Cogra):
    name = "mine"
"""
EVENTS = "time,type\n1,A\n2,A\n3,B\n"
MAIN = "import sys; from cepbench.cli.main import main; sys.exit(main())"
COMMANDS = {
    "query -q query.sase -e events.csv -a cogra -o answer.csv": ["answer.csv"],
    "query -q query.sase -e events.csv -a mine --plugin mine.py -o mine.csv": ["mine.csv"],
    "advise -q query.sase -e events.csv -a cogra,gloria --budget 60s": [],
    "explain -q query.sase -e events.csv": [],
    "report run.tar.xz -o page.html": ["page.html", "page-figures"],
    "new own": ["own.yaml"],
    "run own.yaml --profile smoke --dry-run --plugin mine.py --set algorithms=[cogra,mine]": [],
}
"""Commands of an installed cepbench outside of the checkout, and the files that they may write there."""


@pytest.mark.full
def test_an_installed_wheel_answers_beside_foreign_packages(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", wheels, tracked_copy(tmp_path / "source")],
        check=True,
    )
    [wheel] = wheels.glob("*.whl")
    venv.create(tmp_path / "empty", symlinks=True)
    site = Path(f"{tmp_path}/empty/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages")
    for name in FOREIGN:
        (site / name).mkdir()
        (site / name / "__init__.py").write_text('OWNER = "somebody else"\n')
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], check=True)
    for name in FOREIGN:
        assert (site / name / "__init__.py").read_text() == 'OWNER = "somebody else"\n'
    # The dependencies are those of this environment: the test is about the origin of cepbench only.
    (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("site-packages")))
    ended = subprocess.run(
        [tmp_path / "empty" / "bin" / "python", "-c", ASK],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["[3]", "cet True True", "10"]
    work = tmp_path / "work"
    work.mkdir()
    inputs = {"query.sase": QUERY, "events.csv": EVENTS, "mine.py": PLUGIN}
    for name, text in inputs.items():
        (work / name).write_text(text)
    write_pack(work / "run.tar.xz", [Results(work, make_figure(panels=ONE), (make_record(),))], {})
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name in ("HOME", "TMPDIR"):
        environment[name] = str(tmp_path / name.lower())
        Path(environment[name]).mkdir()
    expected = {*inputs, "run.tar.xz"}
    for line, written in COMMANDS.items():
        command = [tmp_path / "empty" / "bin" / "python", "-c", MAIN, *line.split()]
        ended = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, f"{line}: {ended.stderr}"
        expected |= {*written}
        assert {file.name for file in work.iterdir() if file.name != "__pycache__"} == expected, line
    assert (work / "answer.csv").read_text().splitlines()[1] == "q1,0,,2,False"
    assert [*Path(environment["TMPDIR"]).iterdir()] == []


def tracked_copy(folder: Path) -> Path:
    """The files of the project without what a build leaves behind in it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    return folder
