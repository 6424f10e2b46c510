/**
 * Imports a file, and waits to be killed after the second batch.
 *
 * argv: connection string, schema, file. Prints "deep enough".
 */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createMemory } from "../../../src/create-memory.js";

const [database = "", schema = "", file = ""] = process.argv.slice(2);
const memory = createMemory({ database, schema });
let batches = 0;
await memory.import({
  lines: createInterface({ input: createReadStream(file) }),
  onProgress() {
    if (++batches < 2) return;
    console.log("deep enough");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
