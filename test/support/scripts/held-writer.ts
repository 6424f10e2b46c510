/**
 * Adds, changes, removes and restores memories of a user, several at once, until its input ends.
 *
 * argv: connection string, schema, user, name of the writer. Prints a line of JSON for each change, once it is
 * committed: which memory, what it says from then on (null: nothing), and when the change began and was done.
 */
import { createMemory } from "../../../src/create-memory.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { silentLogger } from "../silent-logger.js";

const [database = "", schema = "", userId = "", writer = ""] = process.argv.slice(2);
const memory = createMemory({
  ...{ database, schema, jobs: "inline", logger: silentLogger },
  embeddings: new HashingEmbeddings({ dimensions: 16 }),
  config: { memories: { extract: false, episodes: false, mergeSimilarity: 1 } },
});
const scope = { userId };
let stopped = false;
process.stdin.on("end", () => {
  stopped = true;
});
process.stdin.resume();

/** The same clock in every process of the machine. */
const nowMs = () => Number(process.hrtime.bigint() / 1_000n) / 1_000;

async function change(item: string, text: string | null, work: () => Promise<unknown>): Promise<void> {
  const begunMs = nowMs();
  await work();
  console.log(JSON.stringify({ item, text, begunMs, doneMs: nowMs() }));
}

interface Kept {
  readonly item: string;
  readonly id: string;
}

/** One memory after another, each of them changed by nobody else. Some are there at any time. */
async function write(hand: number): Promise<void> {
  const kept: Kept[] = [];
  for (let number = 0; !stopped; number++) {
    const item = `${writer}-${hand}-${number}`;
    const text = (hall: string) => `Crate ${item} stands in the ${hall} hall.`;
    const id = await add(item, text("first"));
    await change(item, text("second"), () => memory.memories.update(id, { text: text("second") }, { scope }));
    await change(item, null, () => memory.memories.remove(id, { scope }));
    await change(item, text("second"), () => memory.memories.restore(id, { scope }));
    kept.push({ item, id });
    const oldest = kept.length > 4 ? kept.shift() : undefined;
    if (oldest) await change(oldest.item, null, () => memory.memories.remove(oldest.id, { scope }));
  }
}

async function add(item: string, text: string): Promise<string> {
  let id = "";
  await change(item, text, async () => {
    const [added] = await memory.memories.add({ text }, { scope });
    if (added?.outcome !== "created") throw new Error(`${item} was ${added?.outcome}: ${added?.problems}`);
    id = added.id as string;
  });
  return id;
}

await Promise.all([0, 1].map(write));
await memory.close();
console.log("done");
