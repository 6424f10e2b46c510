/**
 * Forgets a user row by row, and waits to be killed once so many rows are gone.
 *
 * argv: connection string, schema, user, rows. Prints "deep enough".
 */
import { createMemory } from "../../../src/create-memory.js";

const [database = "", schema = "", userId = "", rows = "0"] = process.argv.slice(2);
const memory = createMemory({ database, schema });
await memory.forget({
  scope: { userId },
  batchSize: 1,
  onProgress({ done }) {
    if (done < Number(rows)) return;
    console.log("deep enough");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
