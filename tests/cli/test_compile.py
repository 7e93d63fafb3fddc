"""`cepbench compile`: the first query finds its kernels."""

import subprocess
import sys

import numba
import pytest

from cepbench.algorithms.engine.kernels.compilation import compiled_marker

MODULE = (sys.executable, "-m", "cepbench.cli.main")


class Here:
    """An executor without processes."""

    def __init__(self, *settings):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    map = staticmethod(map)


def run(*arguments):
    return subprocess.run((*MODULE, *map(str, arguments)), capture_output=True, text=True, check=True)


@pytest.mark.full
def test_a_query_after_it_compiles_nothing(query_file, event_file):
    # Where the kernels are on disk already, this takes seconds instead of a minute.
    compiled = run("compile", "cogra")
    assert (compiled.stdout, compiled.stderr) == ("", "")
    assert run("query", "-a", "cogra", "-q", query_file, "-e", event_file).stderr == ""


@pytest.mark.full
def test_a_compiled_algorithm_is_marked(cepbench):
    assert cepbench("compile", "cogra").status == 0
    assert compiled_marker("cogra", "modular").exists()
    assert compiled_marker("cogra", "modular") != compiled_marker("cogra", "float")
    assert not compiled_marker("nothing", "modular").exists()


def test_each_arithmetic_has_kernels_of_its_own(cepbench, monkeypatch):
    done = []
    monkeypatch.setattr("cepbench.cli.compile.ProcessPoolExecutor", Here)
    monkeypatch.setattr("cepbench.pipeline.warmup.warm_up_common", lambda made, arithmetic: done.append(arithmetic))
    assert cepbench("compile", "--arithmetic", "float").status == 0
    assert set(done) == {"float"}
    assert cepbench("compile", "--arithmetic", "both").status == 0
    assert set(done) == {"modular", "float"}


def test_plain_python_is_not_compiled(cepbench, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    refused = cepbench("compile", "cogra")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "NUMBA_DISABLE_JIT=1" in refused.err


def test_only_algorithms_that_there_are(cepbench):
    refused = cepbench("compile", "cogra", "nothing")
    assert refused.status == 2
    assert "unknown algorithm 'nothing'" in refused.err
