#!/usr/bin/env bash
# Installs Debian's Chromium, which the tests of the inspector's page need, where there is none; prints where it is.
# Without it those tests are skipped, and say so.
#
#   CHROMIUM   another browser of that kind; default /usr/bin/chromium
set -euo pipefail
chromium=${CHROMIUM:-/usr/bin/chromium}
if [ -x "$chromium" ]; then
  echo "$chromium"
  exit
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "There is no Chromium at $chromium, and this is not root on Debian: the tests of the inspector's page are skipped." >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends chromium >&2 || {
  echo "Chromium cannot be installed: the tests of the inspector's page are skipped." >&2
  exit 1
}
echo "$chromium"
