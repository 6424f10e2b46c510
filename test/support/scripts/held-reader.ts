/**
 * Recalls a user over and over, several times at once, until so many recalls were served from what is held.
 *
 * argv: connection string, schema, user, name of the reader, recalls. Prints a line of JSON for each recall: when it
 * began and was done, and the texts it gave; at the end, what the recalls were served from.
 */
import { createMemory } from "../../../src/create-memory.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { textsOf } from "../held.js";
import { silentLogger } from "../silent-logger.js";

const [database = "", schema = "", userId = "", reader = "", recalls = "0"] = process.argv.slice(2);
const memory = createMemory({
  ...{ database, schema, jobs: "inline", logger: silentLogger },
  embeddings: new HashingEmbeddings({ dimensions: 16 }),
  config: { retrieval: { budgetTokens: 20_000, timeoutMs: 60_000 } },
});
const nowMs = () => Number(process.hrtime.bigint() / 1_000n) / 1_000;

async function read(hand: number): Promise<void> {
  for (let number = 0; memory.held().served.held < Number(recalls); number++) {
    const begunMs = nowMs();
    const recalled = await memory.recall({
      ...{ scope: { userId }, threadId: `${reader} ${hand}` },
      query: `Which crates stand in the second hall, and where is crate ${number}?`,
    });
    console.log(JSON.stringify({ begunMs, doneMs: nowMs(), texts: textsOf(recalled) }));
  }
}

await Promise.all([0, 1, 2].map(read));
console.log(`served ${JSON.stringify(memory.held().served)}`);
await memory.close();
console.log("done");
