#!/usr/bin/env bash
# The suites that must pass on Citus as on a plain server: scripts/citus-tests.sh [OPTIONS OF VITEST] [FILES]
# Without CITUS_SOURCE (see scripts/citus.sh) and without a running cluster it skips them. It stops what it started.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! scripts/citus.sh status >/dev/null; then
  if [ ! -f "${CITUS_SOURCE:-}/configure" ]; then
    echo "test:citus: skipped: CITUS_SOURCE names no checkout of github.com/citusdata/citus."
    exit 0
  fi
  trap 'scripts/citus.sh stop' EXIT
  scripts/citus.sh start >/dev/null
fi
DATABASE_URL=$(scripts/citus.sh url) npx vitest run --config vitest.citus.config.ts "$@"
