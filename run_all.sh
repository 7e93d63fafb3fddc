#!/usr/bin/env bash
# Runs every experiment on Spark, then draws the figures and writes results/report.html.
# Arguments go to `cepbench run`: ./run_all.sh --profile smoke
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

cd -- "$ROOT"
exec "$PYTHON" -m cli.main run --report "$@"
