/**
 * Ends turns of one thread, as an agent's process would, and waits for its background work.
 *
 * argv: connection string, schema, threadId, writer, rounds, "quick" or "hang" (the model).
 * Prints "summarizing" when its model is asked, and "done".
 */
import { createMemory } from "../../../src/create-memory.js";
import { ScriptedChatModel } from "../../../src/testing/index.js";
import { silentLogger } from "../silent-logger.js";
import { round } from "../spoken.js";
import { summariesOnly } from "../summary-memory.js";

const [database = "", schema = "", threadId = "", writer = "", rounds = "0", mode] =
  process.argv.slice(2);
const model = new ScriptedChatModel({
  latencyMs: 20,
  replies: (_, index) => {
    console.log("summarizing");
    return mode === "hang"
      ? "hang"
      : { structured: { reasoning: "…", summary: `${writer} ${index + 1}` } };
  },
});
const memory = createMemory({
  database,
  schema,
  model,
  config: summariesOnly,
  logger: silentLogger,
});
for (let number = 0; number < Number(rounds); number++) {
  await memory.remember({
    scope: { userId: "ana" },
    threadId,
    messages: round(`${writer}-${number}`),
  });
}
await memory.idle();
await memory.close();
console.log("done");
