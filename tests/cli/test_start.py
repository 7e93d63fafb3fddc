"""The start of commands: a query loads what it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

QUERY = "RETURN COUNT(*) PATTERN SEQ(A+, B)"
LOADED = """
import json, sys
from cepbench.cli.main import cepbench
cepbench.main(sys.argv[1:], standalone_mode=False)
print(json.dumps(sorted(sys.modules)))
"""


def test_a_query_imports_neither_spark_nor_drawing_nor_other_algorithms(tmp_path: Path) -> None:
    (tmp_path / "q.sase").write_text(QUERY)
    (tmp_path / "e.csv").write_text("time,type\n1,A\n2,B\n")
    command = ["query", "-q", str(tmp_path / "q.sase"), "-e", str(tmp_path / "e.csv"), "-a", "greta", "--format", "csv"]
    ran = subprocess.run(
        (sys.executable, "-c", LOADED, *command),
        env={**os.environ, "NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    *answer, modules = ran.stdout.splitlines()
    assert len(answer) == 2
    loaded = json.loads(modules)
    packages = {name.partition(".")[0] for name in loaded}
    assert "numba" in packages
    assert not packages & {"pyspark", "matplotlib", "seaborn"}
    assert "scipy.linalg" not in loaded
    families = {name.split(".")[2] for name in loaded if name.startswith("cepbench.algorithms.")}
    assert "trends" in families
    assert not families & {"construction", "detection", "external", "sequences"}
