"""Algorithms outside of cepbench: the example of the guide in a folder of its own."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pandas as pd
import pytest
from numba.core.errors import TypingError

from cepbench.algorithms import plugins
from cepbench.algorithms.base import WrongRows
from cepbench.algorithms.plugins import WrongPlugin, plugin_algorithms, use
from cepbench.algorithms.registry import UnknownAlgorithm, algorithms, make
from cepbench.algorithms.trends.cogra.algorithm import Cogra
from cepbench.pipeline.in_process import evaluate

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "adding-an-algorithm.md").read_text()
COUNTING = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0]

EXPERIMENT = """
id: own-1
figure: "1"
paper: none
title: An algorithm of one's own
departures: []
stream: {generator: uniform, parameters: {rate: 10, events: 40, seed: 1, types: 2}}
workload: RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 2 seconds
axes: {run: [1]}
algorithms: [counting, cogra]
measurements: [time]
repeat: 0
limits: {seconds: 60}
plot:
  x: {name: run, label: Run}
  panels: [{metric: latency_mean, label: Latency, unit: s}]
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file outside of the checkout; forgotten at the end."""
    monkeypatch.setenv(plugins.VARIABLE, "")
    for name in [name for name in sys.modules if name.startswith("cepbench.algorithms.plugins.")]:
        monkeypatch.delitem(sys.modules, name)
    file = tmp_path / "own_counting.py"
    file.write_text(COUNTING)
    return file


def run(
    plugin: Path, *arguments: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cepbench.cli.main", *map(str, arguments)]
    return subprocess.run(command, cwd=plugin.parent, env=environment, capture_output=True, text=True, timeout=300)


def listed(ended: subprocess.CompletedProcess[str]) -> list[str]:
    """The names in a listing; its other columns have the words of docstrings."""
    return [line.split()[0] for line in ended.stdout.splitlines()]


def test_a_file_is_an_algorithm_like_others(plugin: Path) -> None:
    assert "counting" not in [kind.name for kind in algorithms()]
    use([plugin])
    use([plugin])
    assert [kind.name for kind in algorithms()].count("counting") == 1
    assert type(make("counting")).__module__ == "cepbench.algorithms.plugins.own_counting"
    assert list(plugins.digests()) == ["own_counting.py"]


@pytest.mark.full
def test_commands_take_a_file(plugin: Path) -> None:
    (plugin.parent / "q.sase").write_text("RETURN COUNT(*) PATTERN SEQ(A+, B)")
    (plugin.parent / "e.csv").write_text("time,type\n1,A\n2,A\n3,B\n")
    ended = run(
        plugin, "query", "-q", "q.sase", "-e", "e.csv", "-a", "counting", "--plugin", plugin.name, "--format", "csv"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[1].split(",")[3] == "3"
    ended = run(plugin, "verify", "-a", "counting", "--plugin", plugin, "--cases", "20")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "counting" in listed(run(plugin, "algorithms", "--plugin", plugin))


@pytest.mark.full
def test_contract_tests_take_a_file(plugin: Path) -> None:
    tests = f"{ROOT}/tests/contract/test_checks.py"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", "counting", tests]
    environment = {**os.environ, plugins.VARIABLE: str(plugin)}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert int(re.findall(r"(\d+) passed", ended.stdout)[0]) > 20


@pytest.mark.full
def test_a_package_checks_itself_outside_of_the_checkout(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)  # options of this project, as --shuffle
    package = plugin.parent / "my_cep"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "counting.py").write_text(COUNTING)
    [checks] = [block for block in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL) if "yield_checks" in block]
    (plugin.parent / "test_contract.py").write_text(checks)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "test_contract.py"]
    ended = subprocess.run(command, cwd=plugin.parent, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert int(re.findall(r"(\d+) passed", ended.stdout)[0]) > 30


@pytest.mark.apart
@pytest.mark.full
def test_a_figure_has_an_own_algorithm(plugin: Path) -> None:
    (plugin.parent / "own-1.yaml").write_text(EXPERIMENT)
    ended = run(plugin, "run", "own-1.yaml", "--plugin", plugin, "--profile", "smoke", "--results", "results")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    ended = run(plugin, "plot", "--results", "results")
    assert ended.returncode == 0, ended.stderr
    assert "counting" in "".join(file.read_text() for file in plugin.parent.glob("results/**/*.json"))
    assert "own_counting.py" in "".join(file.read_text() for file in plugin.parent.glob("results/**/*.json"))


@pytest.mark.full
def test_kernels_of_a_file_are_compiled(plugin: Path) -> None:
    ended = run(plugin, "compile", "counting", "--plugin", plugin)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    ended = run(plugin, "compile", "counting")
    assert ended.returncode == 2
    assert "unknown algorithm 'counting'" in ended.stderr


@pytest.mark.full
def test_an_installed_package_has_algorithms(plugin: Path) -> None:
    package, place = plugin.parent / "my-cep", plugin.parent / "site"
    (package / "my_cep").mkdir(parents=True)
    (package / "my_cep" / "__init__.py").touch()
    (package / "my_cep" / "counting.py").write_text(COUNTING)
    settings = next(block for block in re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL) if plugins.GROUP in block)
    backend = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    (package / "pyproject.toml").write_text(f'{backend}{settings}[tool.setuptools]\npackages = ["my_cep"]\n')
    build = "from setuptools.build_meta import build_wheel; print(build_wheel('..'))"
    built = subprocess.run([sys.executable, "-c", build], cwd=package, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    # A wheel is a zip file of what is to lie in a folder of packages.
    shutil.unpack_archive(plugin.parent / built.stdout.splitlines()[-1], place, "zip")
    (plugin.parent / "q.sase").write_text("RETURN COUNT(*) PATTERN SEQ(A+, B)")
    (plugin.parent / "e.csv").write_text("time,type\n1,A\n2,A\n3,B\n")
    environment = {**os.environ, "PYTHONPATH": str(place)}
    assert "counting" not in listed(run(plugin, "algorithms"))
    assert "counting" in listed(run(plugin, "algorithms", environment=environment))
    command = ("query", "-q", "q.sase", "-e", "e.csv", "-a", "counting", "--format", "csv")
    ended = run(plugin, *command, environment=environment)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[1].split(",")[3] == "3"


NAMED = 'name, paper, part_executor = "counting", "Poppe 2018 (dissertation), Section 15.1", staticmethod(Counters)'
UNNAMED = 'paper, part_executor = "Poppe 2018", staticmethod(Counters)'
WITHOUT = 'name, paper = "counting", "Poppe 2018"'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("x = 1\n", "no class of an algorithm", id="no class"),
        pytest.param(
            "1 / 0\n",
            "cannot be loaded: own_counting.py, line 1, `1 / 0`: ZeroDivisionError: division by zero",
            id="raises",
        ),
        pytest.param(
            "x = 1\n1 +\n", "cannot be loaded: own_counting.py, line 2: SyntaxError: invalid syntax", id="syntax"
        ),
        pytest.param(
            "from cepbench.algorithms.running.evaluator import Evaluator\n",
            "line 1, `from cepbench.algorithms.running.evaluator import Evaluator`: ModuleNotFoundError: No module "
            "named 'cepbench.algorithms.running'; its modules are in `cepbench.algorithms.engine` now",
            id="an import that moved",
        ),
        pytest.param(
            COUNTING.replace("    def state(self)", "    def size(self)"),
            "class Counters has no `state`",
            id="no state",
        ),
        pytest.param(
            COUNTING.replace("    def unsupported(self, query)", "    def refuses(self, query)"),
            "class Counting has no `unsupported`",
            id="no reason",
        ),
        pytest.param(COUNTING.replace(NAMED, UNNAMED), "class Counting has no `name`", id="no name"),
        pytest.param(
            f"{COUNTING}\n    pool = None\n", "class Counting has `pool`, which is `operator` now", id="renamed"
        ),
        pytest.param(
            COUNTING.replace(NAMED, WITHOUT),
            "class Counting has neither `part_executor` nor `part_operator`",
            id="no evaluator",
        ),
        pytest.param(
            "from cepbench.algorithms.base import Algorithm\n\n\nclass Idle(Algorithm):\n"
            f"    {WITHOUT}\n\n    def unsupported(self, query):\n        return None\n",
            "class Idle has neither `executor` nor `operator`",
            id="no executor",
        ),
    ],
)
def test_wrong_files(plugin: Path, content: str, message: str) -> None:
    plugin.write_text(content)
    with pytest.raises(WrongPlugin, match=re.escape(message)):
        use([plugin])


EVENTS = pd.DataFrame({"time": [1, 2, 3], "type": ["A", "A", "B"]})
PROCESS = "        return self.rows(max(self.now, events.watermark or 0))\n"
KERNEL = """
@kernel
def twice(x):
    return x + undefined
"""


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        pytest.param(
            COUNTING.replace(PROCESS, "        return self.rows(undefined)\n"),
            NameError,
            "own_counting.py, line 19, in process, `return self.rows(undefined)`: NameError: "
            "name 'undefined' is not defined",
            id="raises",
        ),
        pytest.param(
            COUNTING.replace(PROCESS, "        return self.window.first_at(None)\n"),
            TypeError,
            "own_counting.py, line 19, in process, `return self.window.first_at(None)`: TypeError: ",
            id="a wrong call of cepbench",
        ),
        pytest.param(
            f"from cepbench.algorithms.engine.kernels.compilation import kernel\n{COUNTING}{KERNEL}".replace(
                PROCESS, "        return twice(1)\n"
            ),
            TypingError,
            "own_counting.py, line 20, in process, `return twice(1)`: TypingError: Failed in nopython mode pipeline",
            id="a kernel",
        ),
    ],
)
def test_errors_of_an_algorithm_have_their_place(
    plugin: Path, content: str, error: type[Exception], message: str
) -> None:
    plugin.write_text(content)
    use([plugin])
    with pytest.raises(error) as raised:
        evaluate("RETURN COUNT(*) PATTERN SEQ(A+, B)", EVENTS, "counting")
    assert plugins.described(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("value", "called"),
    [("{0: 1}", "a value of type dict"), ("1", "a value of type int"), ("[None]", "a value of type list")],
)
def test_an_executor_of_a_part_returns_rows(plugin: Path, value: str, called: str) -> None:
    plugin.write_text(COUNTING.replace(PROCESS, f"        return {value}\n"))
    use([plugin])
    message = f"own_counting.py, line 15: `Counters.process` returned {called} instead of rows by "
    with pytest.raises(WrongRows, match=re.escape(message)):
        evaluate("RETURN COUNT(*) PATTERN SEQ(A+, B)", EVENTS, "counting")


def test_an_executor_returns_rows(plugin: Path) -> None:
    executor = """
    def executor(self, plan):
        return Silent()


class Silent(Executor):
    def process(self, events):
        return None

    def finish(self):
        return {}

    def state(self):
        return StateSize()
"""
    plugin.write_text(
        COUNTING.replace(NAMED, WITHOUT)
        .replace("(IndependentAlgorithm)", "(Algorithm)")
        .replace("import Executor", "import Algorithm, Executor")
        + executor
    )
    use([plugin])
    message = r"own_counting.py, line \d+: `Silent.process` returned None instead of rows by the index of their query"
    with pytest.raises(WrongRows, match=message):
        evaluate("RETURN COUNT(*) PATTERN SEQ(A+, B)", EVENTS, "counting")


def test_errors_of_cepbench_have_no_place(plugin: Path) -> None:
    use([plugin])
    assert plugins.described(ValueError("no\nmore")) == "ValueError: no"


def test_names_are_not_taken_twice(plugin: Path) -> None:
    plugin.write_text(COUNTING.replace('"counting"', '"greta"'))
    use([plugin])
    with pytest.raises(UnknownAlgorithm, match="two algorithms are called 'greta'"):
        make("cogra")


def test_files_of_one_name_are_refused(plugin: Path) -> None:
    namesake = plugin.parent / "other" / plugin.name
    namesake.parent.mkdir()
    namesake.write_text(COUNTING)
    use([plugin])
    with pytest.raises(WrongPlugin, match="of the same name"):
        use([namesake])


def test_entry_points(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_points", plugins._points.__wrapped__)  # which are read once otherwise
    point = EntryPoint("mine", "cepbench.algorithms.trends.cogra.algorithm:Cogra", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == "cepbench.algorithms" else [])
    assert plugin_algorithms() == (Cogra,)
    wrong = EntryPoint("mine", "os:path", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [wrong])
    with pytest.raises(WrongPlugin, match="os:path: no class of an algorithm"):
        plugin_algorithms()
