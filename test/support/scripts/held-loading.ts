/**
 * Begins to take a user in, and waits to be killed while it is at it.
 *
 * argv: connection string, schema, user, name of its sessions. Prints "loading".
 */
import { createMemory } from "../../../src/create-memory.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { silentLogger } from "../silent-logger.js";

const [database = "", schema = "", userId = "", name = ""] = process.argv.slice(2);
const url = new URL(database);
url.searchParams.set("application_name", name);
const memory = createMemory({
  ...{ database: url.href, schema, logger: silentLogger },
  embeddings: new HashingEmbeddings({ dimensions: 16 }),
});
const recall = () => memory.recall({ scope: { userId }, threadId: "t", query: "What is in cellar 70?" });
await recall();
void recall().catch(() => {});
for (;;) {
  await new Promise(setImmediate);
  const { loading, owners } = memory.held();
  if (owners > 0) throw new Error("All was taken in before anybody looked.");
  if (loading === 0) continue;
  // Some pages on.
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  console.log("loading");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
