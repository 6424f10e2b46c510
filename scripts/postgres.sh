#!/usr/bin/env bash
# A real PostgreSQL with pgvector on 127.0.0.1, without Docker: for tests, benchmarks and development.
# Trust authentication on loopback: never for anything that matters.
set -euo pipefail

readonly SUITE=trixie # the first Debian that packages pgvector
readonly SUITE_VERSION=17
readonly OLDEST_VERSION=14
# Below the range from which the kernel takes ports of outgoing connections (32768 and up): one of those may hold any port of
# it, and while a server is away, a client that tries again may even be connected with itself.
readonly MAIN_PORT=24317
readonly CHROOT=${MNEMOGRAPH_POSTGRES_DIR:-/opt/mnemograph/postgres17}

usage() {
  cat <<USAGE
Usage: scripts/postgres.sh start|stop|restart|status|url [--name NAME] [--port PORT]
       scripts/postgres.sh client PROGRAM [ARGUMENT...]

  start    make the server if need be, start it, print its URL
  stop     stop it; a server with a name other than main is deleted as well
  restart  stop it fast, as a deployment would, and start it again; print its URL
  status   print "running URL" (exit 0) or "stopped" (exit 1)
  url      print its URL
  client   run a program of that PostgreSQL, such as pg_dump or psql: an older pg_dump refuses its servers

  --name   a server of its own, with its own data (default: main)
  --port   its port (default: $MAIN_PORT for main, any free one for others)

It uses an installed PostgreSQL with pgvector, else one in $CHROOT
(MNEMOGRAPH_POSTGRES_DIR), which it makes with debootstrap. Needs root.
Exit 3: there can be no such server on this machine.
USAGE
}

say() { echo "postgres.sh: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

unavailable() {
  say "no PostgreSQL with pgvector on this machine: $*"
  say "With Docker, use the pgvector/pgvector:pg17 image instead: docker compose up --detach --wait"
  say "and DATABASE_URL=postgresql://postgres:postgres@127.0.0.1:5432/postgres (see docker-compose.yml)."
  exit 3
}

# --- where the server lives -------------------------------------------------------------------------------

# Newest version under the given root that has both server and pgvector; empty when there is none.
version_under() {
  local control version best=""
  [ -x "$1/usr/bin/pg_ctlcluster" ] || return 0
  for control in "$1"/usr/share/postgresql/*/extension/vector.control; do
    [ -e "$control" ] || continue
    version=${control#"$1"/usr/share/postgresql/}
    version=${version%%/*}
    [ -x "$1/usr/lib/postgresql/$version/bin/postgres" ] || continue
    [ "$version" -ge "$OLDEST_VERSION" ] || continue
    if [ -z "$best" ] || [ "$version" -gt "$best" ]; then best=$version; fi
  done
  echo "$best"
}

# Sets PLACE ("host", "chroot" or "none") and VERSION.
find_place() {
  PLACE=host VERSION=$(version_under "")
  [ -z "$VERSION" ] || return 0
  PLACE=chroot VERSION=$(version_under "$CHROOT")
  [ -z "$VERSION" ] || return 0
  PLACE=none
}

# Descriptor 9 is the lock: a server that inherited it would hold it for life.
inside() {
  local environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8)
  if [ "$PLACE" = chroot ]; then
    env -i "${environment[@]}" chroot "$CHROOT" "$@" 9>&-
  else
    (cd / && env -i "${environment[@]}" "$@" 9>&-)
  fi
}

path_inside() {
  if [ "$PLACE" = chroot ]; then echo "$CHROOT$1"; else echo "$1"; fi
}

# /dev/shm is usually a mount of its own, which binding /dev leaves out.
readonly MOUNTS="proc dev dev/shm"

mount_chroot() {
  local point
  for point in $MOUNTS; do
    mountpoint -q "$CHROOT/$point" || mount --bind "/$point" "$CHROOT/$point" ||
      unavailable "/$point cannot be bind-mounted into $CHROOT (a container without CAP_SYS_ADMIN?)."
  done
}

# Left mounted, the host's /dev would go with a careless rm -rf of the directory.
unmount_chroot() {
  local point
  [ "$PLACE" = chroot ] || return 0
  if inside pg_lsclusters --no-header 2>/dev/null | grep -qw online; then return 0; fi
  for point in $(printf '%s\n' $MOUNTS | tac); do
    if mountpoint -q "$CHROOT/$point"; then umount "$CHROOT/$point" || true; fi
  done
}

make_chroot() {
  local partial=$CHROOT.partial
  if [ -d "$CHROOT" ] && ! rmdir "$CHROOT" 2>/dev/null; then
    fail "$CHROOT exists, but holds no PostgreSQL with pgvector. Remove it, or set MNEMOGRAPH_POSTGRES_DIR."
  fi
  if ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || unavailable "none is installed, and debootstrap needs Debian or Ubuntu."
    say "installing debootstrap"
    # One unreachable source among many fails the update, but rarely the installation.
    apt-get update -q >&2 9>&- || true
    DEBIAN_FRONTEND=noninteractive apt-get install -qy debootstrap >&2 9>&- ||
      unavailable "debootstrap could not be installed (see above)."
  fi
  say "making $CHROOT (Debian $SUITE, PostgreSQL $SUITE_VERSION, pgvector); this takes a minute"
  discard_partial "$partial"
  mkdir -p "$(dirname "$partial")"
  # Made beside its place and renamed: what an interrupted run leaves must not pass for a whole one.
  if ! debootstrap --variant=minbase \
    --include="postgresql-$SUITE_VERSION,postgresql-$SUITE_VERSION-pgvector" "$SUITE" "$partial" >&2 9>&-; then
    tail -n 5 "$partial/debootstrap/debootstrap.log" >&2 2>/dev/null || true
    unavailable "debootstrap failed (see above)."
  fi
  mv "$partial" "$CHROOT"
}

discard_partial() {
  local point
  [ -d "$1" ] || return 0
  for point in proc sys dev; do
    if mountpoint -q "$1/$point"; then umount --recursive "$1/$point"; fi
  done
  rm -rf --one-file-system "$1"
}

need_place() {
  [ "$PLACE" != none ] || make_chroot
  find_place
  [ "$PLACE" != none ] || fail "$CHROOT was made, but PostgreSQL or pgvector is missing in it."
  [ "$PLACE" = host ] || mount_chroot
}

# --- the server -------------------------------------------------------------------------------------------

# Our settings, written last: a cluster without them is the rest of an interrupted run.
settings_file() { path_inside "/etc/postgresql/$VERSION/$CLUSTER/conf.d/mnemograph.conf"; }

cluster_exists() { [ "$PLACE" != none ] && [ -e "$(settings_file)" ]; }

is_running() { cluster_exists && inside pg_ctlcluster "$VERSION" "$CLUSTER" status >/dev/null 2>&1; }

# Read from the file, so that url needs neither root nor the chroot.
port_of_cluster() {
  sed -n 's/^port *= *\([0-9]*\).*/\1/p' "$(path_inside "/etc/postgresql/$VERSION/$CLUSTER/postgresql.conf")"
}

print_url() { echo "postgresql://postgres@127.0.0.1:$(port_of_cluster)/postgres"; }

create_cluster() {
  local output port=()
  [ -z "$PORT" ] || port=(--port "$PORT")
  if [ -d "$(path_inside "/etc/postgresql/$VERSION/$CLUSTER")" ]; then drop_cluster; fi
  # Without a locale the encoding would be SQL_ASCII; start-conf keeps the host from starting it at boot.
  output=$(inside pg_createcluster "$VERSION" "$CLUSTER" "${port[@]}" --locale C.UTF-8 --encoding UTF8 \
    --start-conf manual 2>&1) || fail "pg_createcluster failed: $output"
  cat >"$(path_inside "/etc/postgresql/$VERSION/$CLUSTER/pg_hba.conf")" <<HBA
local all all              trust
host  all all 127.0.0.1/32 trust
HBA
  cat >"$(settings_file)" <<SETTINGS
listen_addresses = '127.0.0.1'
max_connections = 200
fsync = on
SETTINGS
}

# A settings file that pg_dropcluster does not know would keep it from removing the directory.
drop_cluster() {
  rm -f "$(settings_file)"
  inside pg_dropcluster --stop "$VERSION" "$CLUSTER"
}

start() {
  need_place
  cluster_exists || create_cluster
  if [ -n "$PORT" ] && [ "$PORT" != "$(port_of_cluster)" ]; then
    if is_running; then fail "$NAME already runs on port $(port_of_cluster); stop it first."; fi
    inside pg_conftool "$VERSION" "$CLUSTER" set port "$PORT"
  fi
  is_running || control start
  wait_until_ready
  print_url
}

# Debian's wrapper would otherwise hand over to systemd, which a chroot does not have.
control() {
  if ! inside pg_ctlcluster --skip-systemctl-redirect "$VERSION" "$CLUSTER" "$@" </dev/null >&2; then
    tail -n 10 "$(path_inside "/var/log/postgresql/postgresql-$VERSION-$CLUSTER.log")" >&2 || true
    fail "pg_ctlcluster $1 failed (see above)."
  fi
}

wait_until_ready() {
  local port attempt
  port=$(port_of_cluster)
  for attempt in $(seq 300); do
    if inside pg_isready -q -h 127.0.0.1 -p "$port"; then return 0; fi
    sleep 0.2
  done
  fail "$NAME does not accept connections on port $port after $((attempt / 5)) s."
}

stop() {
  cluster_exists || return 0
  if is_running; then control stop -m fast; fi
  [ "$NAME" = main ] || drop_cluster
  unmount_chroot
}

restart() {
  if is_running; then control stop -m fast; fi
  start
}

status() {
  if is_running; then
    echo "running $(print_url)"
  else
    echo stopped
    exit 1
  fi
}

url() {
  cluster_exists || fail "there is no server $NAME yet: scripts/postgres.sh start."
  print_url
}

# --- the command line -------------------------------------------------------------------------------------

COMMAND=${1:-} NAME=main PORT=""
if [ "$COMMAND" = client ]; then
  shift
  find_place
  [ "$PLACE" != none ] || fail "there is no PostgreSQL here yet: scripts/postgres.sh start."
  inside "/usr/lib/postgresql/$VERSION/bin/$1" "${@:2}"
  exit
fi
case "$COMMAND" in
  start | stop | restart | status | url) shift ;;
  help | -h | --help) usage && exit ;;
  *) usage >&2 && exit 2 ;;
esac
while [ $# -gt 0 ]; do
  case "$1 ${2:-}" in
    "--name "[a-z]*) NAME=$2 ;;
    "--port "[0-9]*) PORT=$2 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift 2
done
[[ $NAME =~ ^[a-z][a-z0-9_]*$ ]] || fail "a name is made of a-z, 0-9 and _: $NAME"
[ -n "$PORT" ] || [ "$NAME" != main ] || [ "$COMMAND" != start ] || PORT=$MAIN_PORT
# The prefix keeps clear of clusters that the machine has for other purposes, and of the package's own main.
CLUSTER=mnemograph_$NAME

find_place
if [ "$COMMAND" != url ]; then
  [ "$(id -u)" = 0 ] || unavailable "PostgreSQL's cluster tools and chroot need root."
fi
case "$COMMAND" in
  start | stop | restart)
    # Two test runs may start at once; making the chroot and the cluster is not for two.
    mkdir -p "$(dirname "$CHROOT")"
    exec 9>"$(dirname "$CHROOT")/.postgres.lock"
    flock 9
    find_place
    ;;
esac
"$COMMAND"
