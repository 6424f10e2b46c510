/**
 * Prunes a thread's checkpoints row by row, and waits to be killed after so many transactions.
 *
 * argv: connection string, schema, threadId, transactions. Prints "deep enough".
 */
import { createMemory } from "../../../src/create-memory.js";

const [database = "", schema = "", threadId = "", transactions = "0"] = process.argv.slice(2);
const memory = createMemory({ database, schema });
let count = 0;
await memory.checkpoints.prune({
  threadId,
  keepLast: 3,
  batchSize: 1,
  onProgress() {
    if (++count < Number(transactions)) return;
    console.log("deep enough");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
