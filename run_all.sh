#!/usr/bin/env bash
# Runs every experiment on Spark, and writes results/report.html, which grows with each of them.
# Arguments go to `cepbench run`: ./run_all.sh --profile smoke
# With --flink, installs Flink first and measures it, too: ./run_all.sh --flink greta-13.1
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

if [ "${1:-}" = "--flink" ]; then
  prepare_flink
  set -- --with flink "${@:2}"
fi

# Paths among the arguments are relative to where the caller stands.
exec "$VENV/bin/cepbench" run --report --results "$ROOT/results" "$@"
