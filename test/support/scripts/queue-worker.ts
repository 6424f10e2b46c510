/**
 * Works on queued jobs until it gets SIGTERM; its model takes a moment for each answer.
 *
 * argv: connection string, schema, schema of pg-boss, isolation ("rls" or ""), ms of the model, ms
 * of leases. Prints "at work", then "done N" as it goes, and "stopped N" at its end.
 */
import { setTimeout as pause } from "node:timers/promises";
import { OfflineChatModel } from "../../../src/testing/index.js";
import { dueJobsConfig, instantAnswers } from "../due-jobs.js";
import { silentLogger } from "../silent-logger.js";
import { createTestMemory } from "../test-memory.js";

const [
  database = "",
  schema = "",
  queueSchema = "",
  isolation = "",
  modelMs = "0",
  leaseMs = "3000",
] = process.argv.slice(2);

class SlowModel extends OfflineChatModel {
  protected override async respond(...args: Parameters<OfflineChatModel["respond"]>) {
    await pause(Number(modelMs));
    return super.respond(...args);
  }
}

const memory = createTestMemory({
  database,
  schema,
  model: new SlowModel({ structured: instantAnswers }),
  logger: silentLogger,
  ...(isolation === "rls" && { isolation }),
  jobs: { pgBoss: { schema: queueSchema } },
  config: {
    ...dueJobsConfig,
    upkeep: { leaseMs: Number(leaseMs) },
    jobs: { sweepIntervalMs: 1_000, pollIntervalMs: 100 },
  },
});
const worker = await memory.work();
console.log("at work");
let printed = -1;
const timer = setInterval(() => {
  const { done } = worker.status();
  if (done !== printed) console.log(`done ${done}`);
  printed = done;
}, 50);
await new Promise((resolve) => process.once("SIGTERM", resolve));
clearInterval(timer);
await worker.stop();
console.log(`stopped ${worker.status().done}`);
await memory.close();
