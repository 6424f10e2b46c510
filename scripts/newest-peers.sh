#!/usr/bin/env bash
# The tests of LangGraph with the newest versions of LangChain and LangGraph that package.json allows, which is what a
# plain `npm install` gives people; the lock file holds older ones. In a temporary copy, on the embedded database.
#
#   scripts/newest-peers.sh [OPTIONS OF VITEST] [FILES]    default: how graphs stream, pause, go back and are typed
#
# Fails when the newest set cannot be installed: people could not install it either.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
repository=$PWD

# What depends on LangGraph's inside. The rest of test/langgraph depends on the database.
tests=(
  with-memory-visible with-memory-state with-memory-messages with-memory-interrupt with-memory-types
  with-memory-identity with-memory-agents memory-middleware hand-built-states default-scope recalled-in-checkpoints
  create-memory-supervisor checkpointer/owners checkpointer/conformance
)
has_files=false
for argument in "$@"; do [[ $argument == -* ]] || has_files=true; done
$has_files || set -- "$@" "${tests[@]/#/test/langgraph/}"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R src test scripts migrations examples graphs langgraph.json tsconfig*.json vitest.config.ts package.json "$copy"
cd "$copy"

# Without the lock file and the overrides; of the development tools only what these tests need.
node --input-type=module --eval '
  import { readFileSync, writeFileSync } from "node:fs";
  const { overrides, ...manifest } = JSON.parse(readFileSync("package.json", "utf8"));
  const { peerDependencies: peers, devDependencies: tools } = manifest;
  const unneeded = /^(@arethetypeswrong|@biomejs|dependency-cruiser|axe-core|knip|publint|@langchain\/langgraph-cli)/;
  const kept = Object.entries(tools).filter(([name]) => !unneeded.test(name));
  const newest = kept.map(([name, range]) => [name, name.includes("lang") ? (peers[name] ?? range) : range]);
  writeFileSync("package.json", JSON.stringify({ ...manifest, devDependencies: Object.fromEntries(newest) }));
'
if ! npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error; then
  echo "The newest peers cannot be installed together, or the registry cannot be reached." >&2
  exit 1
fi

printf 'With the newest peers:'
for peer in langgraph core langgraph-checkpoint langgraph-checkpoint-postgres; do
  printf ' @langchain/%s %s' "$peer" "$(node -p "require('./node_modules/@langchain/$peer/package.json').version")"
done
printf ' langchain %s\n' "$(node -p "require('./node_modules/langchain/package.json').version")"
[ "$(node -p "require('$repository/node_modules/@langchain/langgraph/package.json').version")" != \
  "$(node -p "require('./node_modules/@langchain/langgraph/package.json').version")" ] ||
  echo "These are those of the lock file."

echo '{ "extends": "./tsconfig.json", "include": ["src", "test/langgraph", "test/support"] }' >tsconfig.peers.json
npx tsc --noEmit --project tsconfig.peers.json
env -u DATABASE_URL npx vitest run "$@"
