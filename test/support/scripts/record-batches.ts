/**
 * Records batches in one thread, in competition with its like, with several connections.
 *
 * argv: connection string, schema, threadId, writer, batches. Prints "done".
 */
import { HumanMessage } from "@langchain/core/messages";
import { createMemory } from "../../../src/create-memory.js";

const [database = "", schema = "", threadId = "", writer = "", batches = "0"] =
  process.argv.slice(2);
const memory = createMemory({ database, schema });
const record = (batch: number) =>
  memory.record({
    scope: { userId: "ana" },
    threadId,
    messages: [0, 1, 2].map(
      (part) => new HumanMessage({ id: `${writer}/${batch}/${part}`, content: "x" }),
    ),
  });
await Promise.all(Array.from({ length: Number(batches) }, (_, batch) => record(batch)));
await memory.close();
console.log("done");
