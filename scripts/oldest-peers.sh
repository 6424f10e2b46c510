#!/usr/bin/env bash
# Tests with the oldest version of each peer that package.json allows; the lock file holds the newest. Of AI SDK 7 and
# pg-boss 12 as well, beside 6 and 10. In a temporary copy, on the embedded database.
#
#   scripts/oldest-peers.sh [OPTIONS OF VITEST] [FILES]    default: how graphs stream, pause, go back and are typed, and
#                                                          what depends on other peers
#
# Fails when the oldest set cannot be installed: package.json would promise what nobody can have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What depends on LangGraph's inside. The rest of test/langgraph depends on the database.
tests=(
  with-memory-visible with-memory-state with-memory-messages with-memory-interrupt with-memory-types
  with-memory-identity with-memory-agents memory-middleware hand-built-states default-scope recalled-in-checkpoints
  create-memory-supervisor checkpointer/owners checkpointer/conformance checkpointer/delta-channels
  checkpointer/failed-writes ways
)
has_files=false
for argument in "$@"; do [[ $argument == -* ]] || has_files=true; done
others=(ai-sdk http/server http/callers mcp/streamable-http jobs/pg-boss-versions events/spans events/metrics)
$has_files || set -- "$@" "${tests[@]/#/test/langgraph/}" "${others[@]/#/test/}"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R src test scripts migrations examples graphs docs langgraph.json tsconfig*.json vitest.config.ts package.json "$copy"
cd "$copy"

# Without the lock file; of the development tools only what these tests need.
node --input-type=module --eval '
  import { readFileSync, writeFileSync } from "node:fs";
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const { peerDependencies: peers, devDependencies: tools } = manifest;
  const unneeded = /^(@arethetypeswrong|@biomejs|dependency-cruiser|axe-core|knip|publint|@langchain\/langgraph-cli)/;
  const kept = Object.entries(tools).filter(([name]) => !unneeded.test(name));
  // The oldest of the first major version; of the second, where an alias has the first.
  const oldestOf = (name, at = 0) => peers[name]?.split(" || ").at(at).replace(/^\D+/, "").split(" ")[0];
  const aliases = { "ai-6": "ai", "pg-boss-10": "pg-boss" };
  const oldest = kept.map(([name, range]) => {
    // Each release of its SDK takes a few releases of the API.
    if (/^@opentelemetry\/(sdk|context)/.test(name)) return [name, "^2.0.0"];
    if (aliases[name]) return [name, `npm:${aliases[name]}@${oldestOf(aliases[name])}`];
    return [name, oldestOf(name, Object.values(aliases).includes(name) ? 1 : 0) ?? range];
  });
  const forced = oldest.filter(([name]) => /^@?langchain/.test(name) && peers[name]);
  const overrides = { ...manifest.overrides, ...Object.fromEntries(forced) };
  writeFileSync("package.json", JSON.stringify({ ...manifest, devDependencies: Object.fromEntries(oldest), overrides }));
'
if ! npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error; then
  echo "The oldest peers cannot be installed together, or the registry cannot be reached." >&2
  exit 1
fi

printf 'With the oldest peers:'
for peer in @langchain/langgraph @langchain/core @langchain/langgraph-checkpoint langchain ai-6 ai pg-boss-10 pg-boss \
  hono @hono/node-server jose @modelcontextprotocol/server @opentelemetry/api @electric-sql/pglite; do
  printf ' %s %s' "$peer" "$(node -p "require('./node_modules/$peer/package.json').version")"
done
echo

echo '{ "extends": "./tsconfig.json", "include": ["src", "test/langgraph", "test/support"] }' >tsconfig.peers.json
npx tsc --noEmit --project tsconfig.peers.json
env -u DATABASE_URL npx vitest run "$@"
