"""`cepbench compile`: the first query finds its kernels."""

import subprocess
import sys

import pytest

from cepbench.algorithms.engine.kernels.compilation import common_marker

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
def test_only_all_algorithms_together_are_marked(tmp_path, monkeypatch, cepbench):
    marker = tmp_path / "marker"
    monkeypatch.setattr("cepbench.algorithms.engine.kernels.compilation.common_marker", lambda: marker)
    assert cepbench("compile", "cogra").status == 0
    assert not marker.exists()
    assert common_marker() != marker


def test_each_arithmetic_has_kernels_of_its_own(cepbench, monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr("cepbench.cli.compile.ProcessPoolExecutor", Here)
    monkeypatch.setattr("cepbench.pipeline.warmup.warm_up_common", lambda made, arithmetic: done.append(arithmetic))
    marker = tmp_path / "marker"
    monkeypatch.setattr("cepbench.algorithms.engine.kernels.compilation.common_marker", lambda: marker)
    assert cepbench("compile", "--arithmetic", "float").status == 0
    assert (set(done), marker.exists()) == ({"float"}, False)  # workers are preloaded with the other ones
    assert cepbench("compile", "--arithmetic", "both").status == 0
    assert (set(done), marker.exists()) == ({"modular", "float"}, True)


def test_only_algorithms_that_there_are(cepbench):
    refused = cepbench("compile", "cogra", "nothing")
    assert refused.status == 2
    assert "unknown algorithm 'nothing'" in refused.err
