#!/usr/bin/env bash
# The tests of LangGraph on the oldest Node and with the oldest version of each peer that
# package.json allows; the lock file holds the newest. In a temporary copy, on the embedded database.
#
#   scripts/oldest-peers.sh [OPTIONS OF VITEST] [FILES]    default: how graphs stream, pause, go back and are typed, and
#                                                          what depends on other peers
#
# Fails when the oldest set cannot be installed: package.json would promise what nobody can have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What depends on LangGraph's inside. The rest of test/langgraph depends on the database.
tests=(
  with-memory-visible with-memory-state with-memory-messages with-memory-agents memory-middleware hand-built-states
  run-identity recalled-in-checkpoints create-memory-supervisor checkpointer/owners checkpointer/checkpointer
  checkpointer/delta-channels checkpointer/lost-connections checkpointer/crossed-reads ways
)
has_files=false
for argument in "$@"; do [[ $argument == -* ]] || has_files=true; done
# AI SDK 7 and pg-boss 12 need Node 22: their suites compare both versions, and run on Node 24.
others=(http/server http/callers mcp/streamable-http events/spans events/metrics)
$has_files || set -- "$@" "${tests[@]/#/test/langgraph/}" "${others[@]/#/test/}"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R src packages test scripts migrations examples graphs docs langgraph.json tsconfig*.json vitest.config.ts package.json "$copy"
cd "$copy"

# Without the lock file. Of the development tools only what these tests need.
node --input-type=module --eval '
  import { readFileSync, writeFileSync } from "node:fs";
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  const { devDependencies: tools, peerDependencies, engines, overrides } = manifest;
  const packages = ["server", "ai-sdk"].map((name) => `packages/${name}/package.json`);
  const oldestOf = (range) => /\d+(?:\.\d+)*/.exec(range)[0];
  const peers = Object.fromEntries(Object.entries(peerDependencies).map(([peer, range]) => [peer, oldestOf(range)]));
  for (const path of packages) {
    const { mnemograph: _, ...others } = JSON.parse(readFileSync(path, "utf8")).dependencies;
    const oldest = Object.entries(others).map(([name, range]) => [name, oldestOf(range)]);
    Object.assign(peers, Object.fromEntries(oldest));
  }
  const unneeded = /^(@arethetypeswrong|@biomejs|dependency-cruiser|axe-core|knip|publint|typedoc|@langchain\/langgraph-cli)/;
  const needed = Object.entries(tools).filter(([tool]) => !unneeded.test(tool));
  // The last versions that run on Node 20. Each SDK of OpenTelemetry takes a few releases of the API.
  const onNode20 = { vitest: "^4.1.12", "@langchain/openai": "1.5.8" };
  for (const part of ["context-async-hooks", "sdk-metrics", "sdk-trace"]) onNode20[`@opentelemetry/${part}`] = "^2.0.0";
  const langchain = Object.fromEntries(Object.entries(peers).filter(([peer]) => /^@?langchain/.test(peer)));
  writeFileSync("package.json", JSON.stringify({
    ...manifest,
    devDependencies: { ...Object.fromEntries(needed), ...peers, ...onNode20, node: `~${oldestOf(engines.node)}` },
    overrides: { ...overrides, ...langchain },
  }));
'
if ! npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error; then
  echo "The oldest peers cannot be installed together, or the registry cannot be reached." >&2
  exit 1
fi
npm rebuild node --ignore-scripts=false --loglevel=error

export PATH="$copy/node_modules/.bin:$PATH"
version=$(node -p process.version)
if [[ $version != v20.* ]]; then
  echo "These tests ran on Node $version and not on 20: the install script of the package \"node\" failed." >&2
  exit 1
fi
printf 'On Node %s with the oldest peers:' "$version"
for peer in @langchain/langgraph @langchain/core @langchain/langgraph-checkpoint langchain ai pg-boss hono \
  @hono/node-server jose @modelcontextprotocol/server @opentelemetry/api @electric-sql/pglite; do
  printf ' %s %s' "$peer" "$(node -p "require('./node_modules/$peer/package.json').version")"
done
echo

echo '{ "extends": "./tsconfig.json", "include": ["src", "test/langgraph", "test/support"] }' >tsconfig.peers.json
npx tsc --noEmit --project tsconfig.peers.json
env -u DATABASE_URL npx vitest run "$@"
