#!/usr/bin/env bash
# Citus on 127.0.0.1: a coordinator and two workers, built from source, beside the server of scripts/postgres.sh.
# Trust authentication on loopback: never for anything that matters.
set -euo pipefail

readonly SUITE=trixie VERSION=17 # as in scripts/postgres.sh
readonly ROOT=${MNEMOGRAPH_CITUS_DIR:-/opt/mnemograph/citus$VERSION}
readonly COORDINATOR=24320 WORKERS="24321 24322"
readonly DATABASE=app
readonly DEVELOPMENT=postgresql-server-dev-$VERSION,gcc,make,flex,libkrb5-dev,libselinux1-dev,libssl-dev,libxslt1-dev,libpam0g-dev,libreadline-dev,libicu-dev,liblz4-dev,libzstd-dev

usage() {
  cat <<USAGE
Usage: CITUS_SOURCE=DIR scripts/citus.sh start
       scripts/citus.sh stop|status|url|remove

  start    build Citus if need be (some minutes), start the three servers, print the coordinator's URL
  stop     stop them
  status   print "running URL" (exit 0) or "stopped" (exit 1)
  url      print the coordinator's URL
  remove   stop them, and delete their data and the build

  CITUS_SOURCE  a checkout of github.com/citusdata/citus at a release's tag, such as v14.0.1

All of it is in $ROOT (MNEMOGRAPH_CITUS_DIR), a Debian made with debootstrap. Needs root.
The coordinator listens on port $COORDINATOR, the workers on ${WORKERS/ / and }.
Exit 3: there can be no such servers on this machine.
USAGE
}

say() { echo "citus.sh: $*" >&2; }

unavailable() {
  say "no Citus on this machine: $*"
  exit 3
}

# Descriptor 9 is the lock: a server that inherited it would hold it for life.
inside() {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 chroot "$ROOT" "$@" 9>&-
}

as_postgres() { inside setpriv --reuid postgres --regid postgres --clear-groups "$@"; }

# --- the build --------------------------------------------------------------------------------------------

readonly MOUNTS="proc dev dev/shm"

mount_root() {
  local point
  for point in $MOUNTS; do
    mountpoint -q "$ROOT/$point" || mount --bind "/$point" "$ROOT/$point" || unavailable "/$point cannot be bind-mounted into $ROOT."
  done
}

# Left mounted, the host's /dev would go with a careless rm -rf of the directory.
unmount_root() {
  local point
  for point in $(printf '%s\n' $MOUNTS | tac); do
    if mountpoint -q "$ROOT/$point"; then umount "$ROOT/$point"; fi
  done
}

make_root() {
  local partial=$ROOT.partial point
  command -v debootstrap >/dev/null || unavailable "debootstrap is not installed."
  say "making $ROOT (Debian $SUITE, PostgreSQL $VERSION, pgvector, a compiler)"
  for point in proc sys dev; do
    if mountpoint -q "$partial/$point"; then umount --recursive "$partial/$point"; fi
  done
  rm -rf --one-file-system "$partial"
  # Made beside its place and renamed: what an interrupted run leaves must not pass for a whole one.
  debootstrap --variant=minbase --include="postgresql-$VERSION,postgresql-$VERSION-pgvector,$DEVELOPMENT" \
    "$SUITE" "$partial" >&2 9>&- || unavailable "debootstrap failed (see above)."
  mv "$partial" "$ROOT"
}

build() {
  [ -f "${CITUS_SOURCE:-}/configure" ] || unavailable "CITUS_SOURCE names no checkout of Citus."
  say "building Citus from $CITUS_SOURCE"
  rm -rf "$ROOT/usr/src/citus"
  cp -r "$CITUS_SOURCE" "$ROOT/usr/src/citus"
  # Else the copy's times have it made again, by autoconf.
  touch "$ROOT/usr/src/citus/configure" "$ROOT/usr/src/citus/src/include/citus_config.h.in"
  inside bash -c "cd /usr/src/citus && ./configure --quiet --without-libcurl --without-lz4 --without-zstd &&
    nice -n 10 make --quiet -j2 with_llvm=no extension && make --quiet with_llvm=no install-extension" >&2 ||
    unavailable "Citus does not build (see above)."
}

# --- the servers ------------------------------------------------------------------------------------------

data_of() { echo "/var/lib/mnemograph-citus/$1"; }

is_running() { as_postgres "/usr/lib/postgresql/$VERSION/bin/pg_ctl" -D "$(data_of "$1")" status >/dev/null 2>&1; }

run_sql() { as_postgres psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --host 127.0.0.1 --port "$1" --dbname "$2" --command "$3" >&2; }

has_database() {
  as_postgres psql --no-psqlrc --tuples-only --host 127.0.0.1 --port "$1" --dbname postgres \
    --command "select datname from pg_database where datname = '$DATABASE'" | grep -q "$DATABASE"
}

# A worker that the coordinator knows refuses even `create extension if not exists`.
ensure_extension() {
  run_sql "$1" "$DATABASE" "do \$\$ begin
    if not exists (select from pg_extension where extname = '$2') then create extension $2; end if;
  end \$\$"
}

create_server() {
  local data=$1
  rm -rf "$ROOT$data"
  inside install -d -o postgres -g postgres -m 700 "$data"
  as_postgres "/usr/lib/postgresql/$VERSION/bin/initdb" -D "$data" --username postgres --auth trust --locale C.UTF-8 >&2
  cat >>"$ROOT$data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
wal_level = logical
shared_preload_libraries = 'citus'
citus.enable_schema_based_sharding = on
citus.enable_unsafe_triggers = on
citus.allow_nested_distributed_execution = on
citus.enable_statistics_collection = off
SETTINGS
}

start() {
  local port worker
  [ -x "$ROOT/usr/lib/postgresql/$VERSION/bin/postgres" ] || make_root
  mount_root
  [ -e "$ROOT/usr/share/postgresql/$VERSION/extension/citus.control" ] || build
  for port in $COORDINATOR $WORKERS; do
    [ -e "$ROOT$(data_of "$port")/PG_VERSION" ] || create_server "$(data_of "$port")"
    is_running "$port" || as_postgres "/usr/lib/postgresql/$VERSION/bin/pg_ctl" -D "$(data_of "$port")" \
      --options "-p $port" --log "$(data_of "$port")/server.log" --wait --silent start </dev/null >&2
  done
  for port in $WORKERS $COORDINATOR; do
    has_database "$port" || run_sql "$port" postgres "create database $DATABASE"
    ensure_extension "$port" citus
    ensure_extension "$port" vector
  done
  run_sql "$COORDINATOR" "$DATABASE" "select citus_set_coordinator_host('127.0.0.1', $COORDINATOR)"
  for worker in $WORKERS; do
    run_sql "$COORDINATOR" "$DATABASE" "select citus_add_node('127.0.0.1', $worker)"
  done
  print_url
}

stop() {
  local port
  [ -d "$ROOT" ] || return 0
  for port in $COORDINATOR $WORKERS; do
    if is_running "$port"; then
      as_postgres "/usr/lib/postgresql/$VERSION/bin/pg_ctl" -D "$(data_of "$port")" --mode fast --silent stop >&2
    fi
  done
  unmount_root
}

print_url() { echo "postgresql://postgres@127.0.0.1:$COORDINATOR/$DATABASE"; }

status() {
  if [ -d "$ROOT" ] && is_running "$COORDINATOR"; then
    echo "running $(print_url)"
  else
    echo stopped
    exit 1
  fi
}

url() { print_url; }

remove() {
  stop
  rm -rf --one-file-system "$ROOT"
}

# --- the command line -------------------------------------------------------------------------------------

case "${1:-}" in
  start | stop | status | remove)
    [ "$(id -u)" = 0 ] || unavailable "chroot needs root."
    mkdir -p "$(dirname "$ROOT")"
    exec 9>"$(dirname "$ROOT")/.citus.lock"
    flock 9
    "$1"
    ;;
  url) url ;;
  help | -h | --help) usage ;;
  *) usage >&2 && exit 2 ;;
esac
