#!/usr/bin/env bash
# Runs the quick tests. Arguments go to pytest: ./run_tests.sh -k window
# With --all, runs every test, as CI does; some start a Spark cluster on this machine: ./run_tests.sh --all
# With --bounds, runs the contract of all algorithms with kernels that check their indices: ./run_tests.sh --bounds
# With --plain, runs a part of that contract with kernels as plain Python: ./run_tests.sh --plain
# With --engines, installs Flink, DuckDB and CORE's engine first, so that their tests run, too:
# ./run_tests.sh --engines tests/algorithms/external
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

cd -- "$ROOT"
waiting=1
case "${1:-}" in
  --all)
    waiting=2
    prepare_kernels float # which neither experiments nor quick tests need
    prepare_classes
    ;;
  --bounds)
    # These kernels are compiled, and kept, apart from the others; their first compilation takes minutes.
    NUMBA_CACHE_DIR="$VENV/bounds/$(sources | cut -d " " -f 1)" # Numba looks at a kernel, not at those that it calls
    export NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR
    set -- tests/contract "${@:2}"
    ;;
  --plain)
    # Neither the random cases that take longest nor the many conditions, which tables of the parser decide.
    export NUMBA_DISABLE_JIT=1
    set -- tests/contract/test_checks.py -k "test_contract and not (pair or local- or time-)" "${@:2}"
    ;;
  --engines)
    prepare_engines
    shift
    ;;
esac
# More processes than cores: some tests wait, for Spark or for the processes that they start. None replaces
# one that died: pytest-xdist would wait forever for the rest of its group. The test during which it died fails.
exec "$PYTHON" -m pytest --numprocesses "$(($(getconf _NPROCESSORS_ONLN) + waiting))" --maxprocesses 4 --dist loadgroup \
  --no-loadscope-reorder --max-worker-restart 0 "$@"
