/**
 * Does work of a kind, and waits to be killed while its model answers.
 *
 * argv: connection string, schema, kind, ms of leases, tenant, user, app and thread. Prints "deep
 * enough".
 */
import { createTestMemory } from "../test-memory.js";
import { optionsOf, workCases } from "../work-cases.js";

const [
  database = "",
  schema = "",
  kind,
  leaseMs,
  tenantId = "",
  userId = "",
  appId = "",
  threadId = "",
] = process.argv.slice(2);
const work = workCases.find((each) => each.kind === kind);
if (!work) throw new Error(`there is no work of ${kind}`);
const { config, ...options } = optionsOf(work, () => {
  console.log("deep enough");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return "never";
});
const upkeep = { leaseMs: Number(leaseMs) };
const memory = createTestMemory({
  database,
  schema,
  ...options,
  config: { ...(config as object), upkeep },
});
await work.begin(memory, { scope: { tenantId, userId, appId }, threadId });
await memory.idle();
