#!/usr/bin/env bash
# Runs the tests. Arguments go to pytest: ./run_tests.sh -k window
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/scripts/setup.sh"

cd -- "$ROOT"
exec "$PYTHON" -m pytest "$@"
