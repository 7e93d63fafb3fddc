#!/usr/bin/env bash
# Runs every experiment on Spark, and writes results/report.html, which grows with each of them.
# Arguments go to `cepbench run`: ./run_all.sh --profile smoke
# With --engines, installs Flink, DuckDB and CORE's engine first, and measures them: ./run_all.sh --engines greta-13.1
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

prepare_data
for word in "$@"; do
  [ "$word" != "--engines" ] || prepare_engines
done

# Paths among the arguments are relative to where the caller stands.
exec "$VENV/bin/cepbench" run --report --results "$ROOT/results" "$@"
