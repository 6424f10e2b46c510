#!/usr/bin/env bash
# The tests on a busy machine: four endless loops run beside them. A test that bounds wall-clock
# time fails here, and on the machine of whoever tries the project first.
#   npm run test:busy [-- OPTIONS OF VITEST]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

loops=()
trap 'kill "${loops[@]}" 2>/dev/null' EXIT
trap 'exit 1' INT TERM HUP
for _ in 1 2 3 4; do
  node --eval 'for (;;);' &
  loops+=("$!")
done
npm test -- "$@"
