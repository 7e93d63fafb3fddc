#!/usr/bin/env bash
# Runs the tests. Arguments go to pytest: ./run_tests.sh -k window
# Those that start a cluster on this machine take minutes: ./run_tests.sh -m cluster
# With --flink, installs Flink first, so that its tests run, too: ./run_tests.sh --flink tests/algorithms/flink
# With --mutants, runs them on code that was changed on purpose: ./run_tests.sh --mutants --sample 10 [NAME...]
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

cd -- "$ROOT"
prepare_kernels float # which experiments do not need
if [ "${1:-}" = "--flink" ]; then
  prepare_flink
  shift
fi
if [ "${1:-}" = "--mutants" ]; then
  exec "$PYTHON" -m tests.mutants "${@:2}"
fi
# One process more than cores: some tests wait, for Spark or for the processes that they start.
exec "$PYTHON" -m pytest --numprocesses "$(($(getconf _NPROCESSORS_ONLN) + 1))" --maxprocesses 4 --dist worksteal \
  -m "not cluster" "$@"
