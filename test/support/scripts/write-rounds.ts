/**
 * Records turns in a thread until it is stopped or killed, and prints each seq once it is
 * acknowledged.
 *
 * argv: database (a connection string, or a folder), schema, threadId, writer. Prints "seq N".
 */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { createMemory } from "../../../src/create-memory.js";

const [database = "", schema = "", threadId = "", writer = ""] = process.argv.slice(2);
const memory = createMemory({
  database: /^postgresql:/.test(database) ? database : { dataDir: database },
  schema,
});
let stopped = false;
process.stdin.on("end", () => (stopped = true)).resume();

for (let round = 0; !stopped; round++) {
  const messages = [
    new HumanMessage({ id: `${writer}-${round}-q`, content: `question ${round} `.repeat(100) }),
    new AIMessage({ id: `${writer}-${round}-a`, content: `answer ${round} `.repeat(100) }),
  ];
  const { lastSeq } = await memory.record({ scope: { userId: "ana" }, threadId, messages });
  console.log(`seq ${lastSeq}`);
}
await memory.close();
