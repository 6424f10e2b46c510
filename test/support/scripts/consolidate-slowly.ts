/**
 * Consolidates a user's memories by a judge that says "same" of every pair, and waits to be killed in its second call.
 *
 * argv: connection string, schema, user id. Prints "asked" at each call, and "deep enough".
 */
import { consolidateNow } from "../consolidate-now.js";
import { judgingModel } from "../pair-judge.js";
import { createTestMemory } from "../test-memory.js";

const [database = "", schema = "", userId = ""] = process.argv.slice(2);
const model = judgingModel((_, call) => {
  console.log("asked");
  if (call > 0) {
    console.log("deep enough");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  return "same";
});
const config = { upkeep: { leaseMs: 1_000 } };
const memory = createTestMemory({ database, schema, model, config });
await consolidateNow(memory, { scope: { userId } });
