"""`cepbench compile`: the first query finds its kernels."""

import os
import subprocess
import sys

MODULE = (sys.executable, "-m", "cepbench.cli.main")


def test_a_query_after_it_compiles_nothing(tmp_path, query_file, event_file):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}

    def run(*arguments):
        command = (*MODULE, *map(str, arguments))
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    compiled = run("compile", "cogra")
    assert (compiled.stdout, compiled.stderr) == ("", "")
    assert not list((tmp_path / "kernels").glob("common-*")), "not all are compiled"
    assert run("query", "-a", "cogra", "-q", query_file, "-e", event_file).stderr == ""


def test_only_algorithms_that_there_are(cepbench):
    refused = cepbench("compile", "cogra", "nothing")
    assert refused.status == 2
    assert "unknown algorithm 'nothing'" in refused.err
