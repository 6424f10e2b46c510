/**
 * Opens an embedded database when told to by a line on standard input, and keeps it open until that
 * ends.
 *
 * argv: dataDir. Prints "ready", then "open" or the code of the error.
 */
import { createInterface } from "node:readline/promises";
import { createMemory } from "../../../src/create-memory.js";
import { MemoryError } from "../../../src/errors.js";

const memory = createMemory({ database: { dataDir: process.argv[2] ?? "" } });
console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  try {
    await memory.stats();
    console.log("open");
  } catch (error) {
    console.log(MemoryError.is(error) ? error.code : String(error));
  }
}
await memory.close();
