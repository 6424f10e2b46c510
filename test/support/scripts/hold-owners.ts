/**
 * Adds three memories for each of some users and recalls for them twice, so that they are held, and tells so in the table.
 *
 * argv: connection string, schema, users. Prints "held" when all are; closes its memory at the end of its input.
 */
import { createMemory } from "../../../src/index.js";
import { silentLogger } from "../silent-logger.js";

const [database = "", schema = "", users = "0"] = process.argv.slice(2);
const memory = createMemory({ database, schema, logger: silentLogger });
for (let user = 0; user < Number(users); user++) {
  const scope = { userId: `user ${process.pid} ${user}` };
  await memory.memories.add(
    ["Ana plays chess.", "Ana lives in Porto.", "Ana has two cats."].map((text) => ({ text })),
    { scope },
  );
  for (let recall = 0; recall < 2; recall++) await memory.recall({ scope, threadId: scope.userId });
}
await memory.idle();
console.log("held");
for await (const _ of process.stdin);
await memory.close();
console.log("closed");
