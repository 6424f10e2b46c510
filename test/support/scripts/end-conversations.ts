/**
 * Ends conversations of an app, several at the same time.
 *
 * argv: connection string, schema, app, name of this process, number of conversations. Prints
 * "ready" once each has a message; ends them all on the first line of its input; prints "done" when
 * their notes are made and compacted.
 */
import { createInterface } from "node:readline";
import { createMemory } from "../../../src/create-memory.js";
import { ScriptedChatModel } from "../../../src/testing/index.js";
import { toolName } from "../../../src/testing/scripted-reply.js";
import { silentLogger } from "../silent-logger.js";

const [database = "", schema = "", appId = "", name = "", count = "1"] = process.argv.slice(2);
let notes = 0;
const model = new ScriptedChatModel({
  replies: (_messages, _call, { tools = [] }) =>
    toolName(tools[0]!) === "app_note"
      ? {
          structured: {
            reasoning: "",
            note: `Note ${notes++} of ${name}.`,
            importance: 3,
            tags: [],
          },
        }
      : {
          structured: {
            reasoning: "",
            action: "delete",
            target: 2,
            with: null,
            text: null,
            reason: "The second.",
          },
        },
});
const config = { memories: { extract: false, episodes: false } };
const memory = createMemory({ database, schema, model, logger: silentLogger, config });
const talks = Array.from({ length: Number(count) }, (_, index) => ({
  scope: { userId: `${name}-${index}`, appId },
  threadId: `${appId}-${name}-${index}`,
}));

for (const talk of talks) {
  await memory.remember({
    ...talk,
    messages: [{ role: "user", content: `I like number ${talk.threadId}.` }],
  });
}
console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  await Promise.all(talks.map((talk) => memory.threads.end(talk)));
  await memory.idle();
  console.log("done");
  break;
}
await memory.close();
process.exit(0);
