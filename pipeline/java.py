"""Checks Spark's Java before Spark starts, so that a failure is one line."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from cepbench.events.errors import CepbenchError

OLDEST = 17
ADVICE = f"Spark needs Java {OLDEST} or newer; set JAVA_HOME; query and generate need none without --master"


def check_java() -> int:
    """The major version of the Java that Spark will start (`JAVA_HOME`, or `PATH`). Raises `CepbenchError`."""
    java = _java()
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CepbenchError(f"Java at {java} does not start ({error}); {ADVICE}") from None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if found is None:
        raise CepbenchError(f"Java at {java} does not report its version; {ADVICE}")
    if int(found[1]) < OLDEST:
        raise CepbenchError(f"Java at {java} is version {found[1]}; {ADVICE}")
    return int(found[1])


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise CepbenchError(f"Java is missing: JAVA_HOME is {home}, which has no bin/java; {ADVICE}")
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise CepbenchError(f"Java is missing: no java on PATH; {ADVICE}")
    return found
