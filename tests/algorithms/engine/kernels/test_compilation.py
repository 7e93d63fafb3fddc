import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

import numba
import pytest
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from cepbench import algorithms
from cepbench.algorithms.engine.kernels import cells, compilation
from cepbench.algorithms.engine.kernels.compilation import (
    cache_folder,
    kernel,
    mark_compiled,
    sources,
    watched,
)
from cepbench.algorithms.engine.kernels.machine_code import on_demand
from cepbench.algorithms.trends import online

KERNELS = Path(compilation.__file__).parent


def test_every_change_of_a_source_has_a_folder_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "a.py"
    module.write_text("one = 1")
    before = cache_folder(module)
    assert cache_folder(module) == before
    module.write_text("two = 2")
    assert cache_folder(module) != before


def test_what_a_kernel_reads_at_second_hand_is_a_source_of_it_too() -> None:
    names = {source.name for source in sources(Path(online.__path__[0]) / "kernels" / "visits.py")}
    assert {"visits.py", "lifecycle.py", "predicates.py", "cells.py", "tables.py", "aggregates.py"} <= names
    assert "trend_hash.py" not in names
    assert "automaton.py" not in names


@pytest.mark.parametrize("name", [info.name for info in walk_packages(online.__path__, f"{online.__name__}.")])
def test_the_files_of_all_kernels_that_a_kernel_calls_are_sources_of_it(name: str) -> None:
    module = import_module(name)
    called = {
        Path(value.py_func.__code__.co_filename) for value in vars(module).values() if isinstance(value, Dispatcher)
    }
    assert module.__file__ is not None
    assert called <= set(sources(Path(module.__file__)))


def test_kernels_are_kept_with_their_sources() -> None:
    assert cache_folder(KERNELS / "cells.py").is_dir()
    assert Path(cells.__file__) in sources(KERNELS / "cells.py")


def test_kernels_for_types_that_are_gone_are_compiled_anew(tmp_path: Path) -> None:
    """The type is defined in a file that the kernel does not import, so a change of it has no folder of its own."""
    (tmp_path / "first.py").write_text(
        "from cepbench.algorithms.engine.kernels.compilation import kernel\n@kernel\ndef first(x):\n    return x[0]\n"
    )
    for name, hits in (("Old", 0), ("New", 0), ("New", 1)):
        (tmp_path / "pairs.py").write_text(f"from typing import NamedTuple\nclass {name}(NamedTuple):\n    x: int\n")
        code = (
            f"from first import first; from pairs import {name}\n"
            f"print(first({name}(7)), sum(first.stats.cache_hits.values()))"
        )
        python = [sys.executable, "-B", "-c", code]  # bytecode of the same second and size would be taken for this one
        ended = subprocess.run(python, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert ended.stdout.split() == ["7", str(hits)]


def test_only_what_python_calls_has_machine_code(tmp_path: Path) -> None:
    """Nor does it when it is read from disk, for another kernel that it is a part of."""
    (tmp_path / "parts.py").write_text(
        "from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel\n"
        "@inner\ndef called(x):\n    return x + 1\n"
        "@inlined\ndef copied(x):\n    return called(x) * 2\n"
        "@kernel\ndef first(x):\n    return called(x) + copied(x)\n"
        "@kernel\ndef second(x):\n    return called(x) - copied(x)\n"
    )
    code = (
        "import sys, parts\n"
        "made = lambda part: [one.library._made for one in part.overloads.values()]\n"
        "found = getattr(parts, sys.argv[1])(3)\n"
        "print(found, *(made(part) for part in (parts.called, parts.copied, parts.first, parts.second)))\n"
        "print(sum(parts.copied.stats.cache_hits.values()))"
    )
    for name, result, hits in (("first", 12, 0), ("second", -4, 1), ("second", -4, 0)):
        python = [sys.executable, "-c", code, name]
        ended = subprocess.run(python, cwd=tmp_path, capture_output=True, text=True)
        if ended.returncode:
            reason = ended.stderr.splitlines()[-1]
            pytest.fail(f"machine_code.py does not work with Numba {numba.__version__}: {reason}", pytrace=False)
        parts = [] if (name, hits) == ("second", 0) else [False]
        kernels = ([True], []) if name == "first" else ([], [True])
        assert ended.stdout == " ".join(map(str, (result, parts, parts, *kernels))) + f"\n{hits}\n"


def test_machine_code_on_demand_is_used_with_versions_of_numba_that_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    codegen = cpu_target.target_context.codegen()
    if type(codegen)._library_class is codegen._library_class:
        again = "if the tests of this file pass with it, add the version to `TRIED` of machine_code.py"
        pytest.fail(f"kernels are compiled more slowly with Numba {numba.__version__}: {again}", pytrace=False)
    monkeypatch.setattr(codegen, "_library_class", JITCodeLibrary)
    monkeypatch.setattr(numba, "__version__", "9.1.0")
    on_demand()
    assert codegen._library_class is JITCodeLibrary


def test_a_part_that_is_called_is_not_read_for_one_that_is_copied(tmp_path: Path) -> None:
    """A hit would be the code of the other: with the same text and types, they differ in how they are compiled."""
    (tmp_path / "parts.py").write_text(
        "from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel\n"
        "def more(x):\n    return x + 1\n"
        "parts = called, copied = inner(more), inlined(more)\n"
        "@kernel\ndef both(x):\n    return called(x) + copied(x)\n"
    )
    code = "from parts import both, parts; print(both(3), *(len(part.stats.cache_hits) for part in parts))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["8", "0", "0"]


def test_kernels_without_a_folder_are_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def double(x: int) -> int:
        return 2 * x

    monkeypatch.setattr("cepbench.algorithms.engine.kernels.compilation._KERNELS", [])
    packed = double.__code__.replace(co_filename=str(tmp_path / "cepbench.zip" / "double.py"))
    in_an_archive: Any = kernel(FunctionType(packed, {}))
    assert in_an_archive(4) == 8
    assert type(in_an_archive._cache).__name__ == "NullCache"
    assert list(tmp_path.iterdir()) == []


def test_only_kernels_of_this_project_are_reported() -> None:
    scope: dict[str, Any] = {}
    exec("def written_out(): return 1", scope)  # of no module

    def nearest(x: int) -> int:
        return x + 1

    reported: list[str] = []
    with watched(reported.append):
        njit(scope["written_out"])()
        nearest.__module__ = "cepbench.algorithms.trends.greta"
        njit(nearest)(1)
    assert reported == ["trends.greta.nearest"]


def test_no_module_of_python_imports_a_part_that_only_kernels_call() -> None:
    """A call of it would end the process: it has no way in from Python (`in_python` runs its text)."""
    modules = [info.name for info in walk_packages(algorithms.__path__, "cepbench.algorithms.")]
    found = [
        f"{name}.{part}"
        for name in modules
        if ".kernels" not in name
        for part, value in vars(import_module(name)).items()
        if isinstance(value, Dispatcher) and value.targetoptions.get("no_cpython_wrapper")
    ]
    assert len(modules) > 200
    assert found == []


def test_plain_python_wraps_around_and_divides_as_compiled_kernels_do(tmp_path: Path) -> None:
    (tmp_path / "wrapping.py").write_text(
        "import numpy as np\n"
        "from cepbench.algorithms.engine.kernels.compilation import in_python, inlined, inner, kernel, written_out\n"
        "@inlined\ndef more(x):\n    return x[0] + np.uint64(1)\n"
        "@inner\ndef less(x):\n    return x[1] - np.uint64(1)\n"
        "@written_out\ndef applied(part, x):\n    return part(x)\n"
        "@kernel\ndef both(x, y):\n"
        "    y[0] = y[0] / y[1]\n    return more(x), less(x), x[0] * x[0], applied(less, x), y[0]\n"
    )
    code = (
        "import numpy as np; from wrapping import both\n"
        "print(*map(int, both(np.array([2**64 - 1, 0], np.uint64), np.zeros(2))[:4]))"
    )
    for plain in "01":
        environment = {**os.environ, "NUMBA_DISABLE_JIT": plain}
        python = [sys.executable, "-W", "error", "-c", code]
        ended = subprocess.run(python, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert ended.stdout.split() == ["0", str(2**64 - 1), "1", str(2**64 - 1)]


def test_plain_python_is_not_marked_as_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    monkeypatch.setattr(compilation, "compiled_marker", lambda algorithm, arithmetic: marker)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    mark_compiled("cogra", "modular")
    assert not marker.exists()
    monkeypatch.setattr(numba.config, "DISABLE_JIT", False)
    mark_compiled("cogra", "modular")
    assert marker.exists()
