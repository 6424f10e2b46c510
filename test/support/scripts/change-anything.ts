/**
 * Changes what may be held of two users in every way, over and over, until it is killed.
 *
 * argv: connection string, schema, seed. Prints "at work" once it has begun.
 */
import { createMemory } from "../../../src/create-memory.js";
import { MemoryError } from "../../../src/errors.js";
import { HashingEmbeddings, OfflineChatModel } from "../../../src/testing/index.js";
import { change, changeNames, scopesOf } from "../any-change.js";
import { silentLogger } from "../silent-logger.js";

const [database = "", schema = "", seed = ""] = process.argv.slice(2);
const url = new URL(database);
url.searchParams.set("application_name", `writer of ${schema}`);
const memory = createMemory({
  ...{ database: url.href, schema, jobs: "inline", logger: silentLogger, model: new OfflineChatModel() },
  embeddings: new HashingEmbeddings({ dimensions: 16 }),
  config: {
    upkeep: { leaseMs: 1_000 },
    lifecycle: { purgeAfterMs: 100 },
    memories: {
      extract: true,
      episodes: true,
      episodeEveryTurns: 2,
      episodeKeepTurns: 0,
      linkSimilarity: 0.3,
    },
  },
});
const scopes = ["first", "second"].flatMap(scopesOf);

// Numbers that look random and come again with the same seed.
let state = Number(seed);
const next = (below: number) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((state / 2_147_483_648) * below);
};

/** After them copies are read anew. */
const rare = new Set<string>(["deleteThread", "forgetApp", "forget", "merge"]);

console.log("at work");
for (;;) {
  const name = changeNames[next(changeNames.length)];
  const scope = scopes[next(scopes.length)];
  if (!name || !scope || (rare.has(name) && next(6) > 0)) continue;
  await change(memory, { name, scope, n: next(100) }).catch((error: unknown) => {
    // Connections are cut on purpose.
    const cut = MemoryError.is(error) && ["DATABASE_UNAVAILABLE", "DATABASE_TIMEOUT"].includes(error.code);
    if (!cut) console.log(`unexpected: ${name} ${error}`);
  });
}
